"""Read Markdown and HTML in a sandboxed child process."""

"""Read PDF files in a sandboxed child process."""

"""Read DOCX, PPTX, ODT and EPUB, archives of XML, in a sandboxed child process."""

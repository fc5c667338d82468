"""The write side of documents: a file's bytes are checked, stored and read into pages."""

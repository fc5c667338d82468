"""Uploaded files: their bytes, pages and page images."""

"""Reads the words of pictures of pages: optical character recognition."""

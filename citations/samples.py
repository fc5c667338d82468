"""The sample library's documents and lecture."""

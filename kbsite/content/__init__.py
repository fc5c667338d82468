"""The content API under /api/content/: content types as browsable resources."""

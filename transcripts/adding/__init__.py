"""How recordings come in: from YouTube, feeds, files and callers."""

"""Pages: each view parses, makes one call and renders."""

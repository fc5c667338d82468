"""What the sections of a collection have in common, kept up to date a source at a time."""

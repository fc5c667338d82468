"""The pages of the citations app: each view parses, makes one call and renders."""

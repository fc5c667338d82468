"""The pages of the transcripts app: each view parses, makes one call and renders."""

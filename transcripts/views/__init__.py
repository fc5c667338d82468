"""The pages of the transcripts app."""

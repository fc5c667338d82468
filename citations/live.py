"""A window of speech becomes citations, stage by stage."""

"""Windows that were taken are cited, stage by stage."""

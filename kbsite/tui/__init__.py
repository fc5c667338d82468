"""The terminal interface: sources, conversation and citations side by side."""

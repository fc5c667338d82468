"""Quotes checked against what is stored: where they stand, and what differs where they do not."""

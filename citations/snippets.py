"""A piece of a passage to show: 100 to 200 characters of it, at the borders of words. Pure."""

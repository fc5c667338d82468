"""The guide to a source: what it is about, its terms, names and numbers, and what it answers."""

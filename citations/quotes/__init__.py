"""Check whether a quote stands in a source word for word, and where."""

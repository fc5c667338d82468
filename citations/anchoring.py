"""Where a quote stands in a text that has changed since it was quoted. Pure."""

"""Whether a quote stands in a source word for word. Pure, standard library only."""

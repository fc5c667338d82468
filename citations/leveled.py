"""Search over levels of detail: all at once, or from the whole downwards."""

"""A source in levels of detail: paragraphs, sections, the whole, each told in a few of its own sentences. Pure."""

"""Read what the library holds: sources, chunks, filters, facets."""

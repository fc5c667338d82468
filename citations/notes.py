"""Notes that people keep beside the sources of a collection."""

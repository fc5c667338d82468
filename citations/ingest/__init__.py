"""From a source to its chunks, vectors and contexts."""

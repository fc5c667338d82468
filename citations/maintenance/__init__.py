"""Move a library to another embedding model."""

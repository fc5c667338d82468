"""Exact BM25 over the whole library, in PostgreSQL."""

"""Embedding spaces, stored vectors, and their nearest neighbours in pgvector."""

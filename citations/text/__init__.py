"""Sentences, chunks, snippets and alignment. Pure."""

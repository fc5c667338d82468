"""The summary tree of each source, and the topics of a collection."""

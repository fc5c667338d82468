"""The admin of the knowledge base. Staff see every collection: scopes do not apply."""

from citations.admin import conversations, lectures, outlines, sources, spaces

__all__ = ["conversations", "lectures", "outlines", "sources", "spaces"]

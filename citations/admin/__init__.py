"""The admin of the knowledge base. Staff see every collection: scopes do not apply."""

from citations.admin import conversations, lectures, sources, spaces

__all__ = ["conversations", "lectures", "sources", "spaces"]

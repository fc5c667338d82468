"""The admin of the knowledge engine. Whoever gets in here is staff and sees every collection: scopes do not apply."""

from citations.admin import conversations, lectures, levels, sources, spaces

__all__ = ["conversations", "lectures", "levels", "sources", "spaces"]

"""What a caller may see and change. Every read takes a Scope, made once per request."""

from dataclasses import dataclass

from transcripts.core.errors import Forbidden


@dataclass(frozen=True, slots=True)
class Scope:
    """Ids of the collections that may be read, and of those that may be changed (a subset)."""

    readable: frozenset[int] = frozenset()
    writable: frozenset[int] = frozenset()

    def require_write(self, collection_id: int) -> None:
        """Raise ``Forbidden`` unless this collection may be changed."""
        if collection_id not in self.writable:
            raise Forbidden(
                "You may read this collection but not change it.",
                hint="Ask an owner of the collection to make you an editor.",
            )


NOTHING = Scope()

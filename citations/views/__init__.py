"""Pages: each view parses, makes one call and renders."""

from typing import Final

from citations.errors import SourceNotFound
from transcripts.core.errors import KnowledgeBaseError

SOURCE_NOTE: Final = "There is no such source."
SOURCE_HINT: Final = (
    "It was deleted, or you may not read it any more. Ask an owner of its collection."
)


def for_pages(error: KnowledgeBaseError) -> KnowledgeBaseError:
    """Return what pages say of an error, with its class and so its status: ids, commands and tools
    belong to the other doors.
    """
    if isinstance(error, SourceNotFound) and error.hint == error.default_hint:
        return SourceNotFound(SOURCE_NOTE, hint=SOURCE_HINT)
    return error

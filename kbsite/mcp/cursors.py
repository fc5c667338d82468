"""Opaque cursors: signed, bound to the question, and of no use for any other. A cursor says where to go on, never what may be read."""

from django.core import signing

from transcripts.errors import InvalidCursor

_SALT = "kbsite.mcp.cursor"
MAX_LENGTH = 500


def write(question: str, *, offset: int, of: str = "") -> str:
    """Return the cursor that goes on with ``question`` at ``offset``; ``of`` names the version of what is read."""
    return signing.dumps([question, offset, of], salt=_SALT)


def read(cursor: str, question: str) -> tuple[int, str]:
    """Return offset and version. Raises ``InvalidCursor`` for one that is made up, or was given for another question."""
    try:
        asked, offset, of = signing.loads(cursor, salt=_SALT)
    except (signing.BadSignature, ValueError, TypeError):
        raise InvalidCursor(
            "This cursor was not made by this server.",
            hint="Copy next_cursor as it is, or leave the cursor out to begin anew.",
        ) from None
    if asked != question:
        raise InvalidCursor(
            "This cursor belongs to another question.",
            hint="Repeat the call it came from with the same arguments, adding only the cursor.",
        )
    return offset, of

"""Opaque, signed cursors. A cursor belongs to one question and grants no access."""

from django.core import signing

from transcripts.errors import InvalidCursor

_SALT = "kbsite.mcp.cursor"
MAX_LENGTH = 500


def write(question: str, *, offset: int, of: str = "") -> str:
    """Return the cursor for ``question`` at ``offset``; ``of`` is the version of what is read."""
    return signing.dumps([question, offset, of], salt=_SALT)


def read(cursor: str, question: str) -> tuple[int, str]:
    """Return offset and version. Raises ``InvalidCursor`` if forged or of another question."""
    try:
        asked, offset, of = signing.loads(cursor, salt=_SALT)
    except (signing.BadSignature, ValueError, TypeError):
        raise InvalidCursor(
            "This cursor was not made by this server.",
            hint="Copy next_cursor unchanged, or leave the cursor out to start again.",
        ) from None
    if asked != question:
        raise InvalidCursor(
            "This cursor belongs to another question.",
            hint="Repeat the call that returned it with the same arguments and the cursor.",
        )
    return offset, of

"""Which sources somebody has opened in this session: what helps to begin is open once."""

from typing import Final

from django.contrib.sessions.backends.base import SessionBase

from citations.models import Source

MOST: Final = 500  # sources that a session remembers
_KEY: Final = "opened_sources"


def is_first(session: SessionBase, source: Source) -> bool:
    """Tell whether a source is opened for the first time, and remember that it was."""
    opened = session.get(_KEY, [])
    if source.pk in opened:
        return False
    session[_KEY] = [*opened, source.pk][-MOST:]
    return True

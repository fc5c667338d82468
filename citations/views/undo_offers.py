"""What was just renamed, moved or tagged, as the list that is shown next offers to undo it.

The list keeps the offer where it is loaded again; no other page is about it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from transcripts import clock
from transcripts.views.requests import PageRequest

RENAME: Final = "rename"
MOVE: Final = "move"
TAGS: Final = "tags"
TIMES: Final = {
    RENAME: timedelta(seconds=10),
    MOVE: timedelta(seconds=30),
    TAGS: timedelta(seconds=30),
}

Field = tuple[str, str]  # name and value


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoOffer:
    """What was done, and the form that undoes it within some seconds."""

    text: str
    address: str
    seconds: int
    made_at: datetime
    fields: Sequence[Field] = ()
    is_deletion: bool = False


def make(
    request: PageRequest, name: str, *, text: str, address: str, fields: Sequence[Field]
) -> None:
    """Offer to undo something for the time that such an offer has."""
    until = clock.now() + TIMES[name]
    offer = {"text": text, "address": address, "fields": fields, "until": until.isoformat()}
    request.session[_key(name)] = offer


def forget(request: PageRequest, name: str) -> None:
    request.session.pop(_key(name), None)


def current(request: PageRequest) -> list[UndoOffer]:
    """Return the offers of this page whose time is not over."""
    offers = (_current(request, name) for name in TIMES)
    return [offer for offer in offers if offer]


def _current(request: PageRequest, name: str) -> UndoOffer | None:
    stored = request.session.get(_key(name))
    if stored is None:
        return None
    seconds = (datetime.fromisoformat(stored["until"]) - clock.now()).total_seconds()
    if seconds <= 0:
        forget(request, name)
        return None
    here = request.get_full_path()
    if stored.setdefault("page", here) != here:
        return None
    request.session.modified = True
    return UndoOffer(
        text=stored["text"],
        address=stored["address"],
        seconds=round(seconds),
        made_at=datetime.fromisoformat(stored["until"]) - TIMES[name],
        fields=stored["fields"],
    )


def _key(name: str) -> str:
    return f"undo-{name}"

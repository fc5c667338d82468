"""What was just renamed or moved, as the list that is shown next offers to undo it.

The list keeps the offer where it is loaded again; no other page is about it.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from transcripts import clock
from transcripts.views.requests import PageRequest

RENAME: Final = "rename"
MOVE: Final = "move"
RENAME_TIME: Final = timedelta(seconds=10)
MOVE_TIME: Final = timedelta(seconds=30)


def make(request: PageRequest, name: str, details: Mapping[str, Any], *, time: timedelta) -> None:
    """Offer to undo something for a time; ``details`` are plain values for the template."""
    until = clock.now() + time
    request.session[f"undo-{name}"] = {**details, "until": until.isoformat()}


def forget(request: PageRequest, name: str) -> None:
    request.session.pop(f"undo-{name}", None)


def current(request: PageRequest, name: str) -> dict[str, Any]:
    """Return the details of an offer, with the seconds that are left; empty if there is none."""
    offer = request.session.get(f"undo-{name}")
    if offer is None:
        return {}
    seconds = (datetime.fromisoformat(offer["until"]) - clock.now()).total_seconds()
    if seconds <= 0:
        forget(request, name)
        return {}
    here = request.get_full_path()
    if offer.setdefault("page", here) != here:
        return {}
    request.session.modified = True
    return {**offer, "seconds": round(seconds)}

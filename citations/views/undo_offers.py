"""What was just changed or deleted, as the list that is shown next offers to undo it.

The list keeps the offer where it is loaded again; no other page is about it. A deletion is offered
to be undone by each list of what it hides.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.urls import reverse
from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from citations.ingest import selection
from citations.models import Deletion, LectureSession
from transcripts.core import clock
from transcripts.core.scope import Scope
from transcripts.core.views.requests import PageRequest

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
    page: str = ""  # shown when it is undone; "": the list again


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


def deletions(request: PageRequest, listed: Scope) -> Iterator[UndoOffer]:
    """Yield the offers to undo the user's deletions of items of the library."""
    for deletion in _waiting(request):
        if selection.concerns(deletion, listed):
            yield _of_deletion(deletion)


def lecture_deletions(request: PageRequest) -> Iterator[UndoOffer]:
    """Yield the offers to undo the user's deletions of lectures; that of one leads back to it."""
    for deletion in _waiting(request):
        hidden = LectureSession.objects.filter(
            deletion=deletion.uuid, collection__in=request.access.readable
        )
        if lecture := hidden.first():
            page = reverse("lecture", args=[lecture.uuid]) if deletion.total == 1 else ""
            yield _of_deletion(deletion, page)


def _waiting(request: PageRequest) -> Iterable[Deletion]:
    return Deletion.objects.filter(created_by=request.user, run_after__gt=clock.now())


def _of_deletion(deletion: Deletion, page: str = "") -> UndoOffer:
    return UndoOffer(
        text=_deletion_text(deletion),
        address=reverse("library-take-back", args=[deletion.uuid]),
        seconds=deletion.seconds_left,
        made_at=deletion.created_at,
        is_deletion=True,
        page=page,
    )


def _deletion_text(deletion: Deletion) -> str:
    if title := selection.title_of(deletion):
        text = _("“%(title)s” was deleted. You can undo this for half a minute.")
        return text % {"title": title}
    text = ngettext(
        "%(count)s item was deleted. You can undo this for half a minute.",
        "%(count)s items were deleted. You can undo this for half a minute.",
        deletion.total,
    )
    return text % {"count": number_format(deletion.total, force_grouping=True)}


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

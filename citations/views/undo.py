"""What was just changed or deleted, as the list that is shown next offers to undo it.

The list keeps the offer where it is loaded again; no other page is about it. A deletion is offered
to be undone by each list of what it hides. One address undoes all: what was before a change is kept
in the session of who changed it, and what is deleted stays hidden for a while.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, TypeAlias
from uuid import UUID, uuid4

from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse
from django.urls import reverse
from django.utils.formats import number_format
from django.utils.text import Truncator
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from citations.ingest import item_details, selection
from citations.ingest.selection import ChosenItems
from citations.models import Deletion, LectureSession
from transcripts.core import clock
from transcripts.core.scope import Scope
from transcripts.core.views.requests import PageRequest, back
from transcripts.library import reading as library

RENAME: Final = "rename"
MOVE: Final = "move"
TAGS: Final = "tags"
TIMES: Final = {
    RENAME: timedelta(seconds=10),
    MOVE: timedelta(seconds=30),
    TAGS: timedelta(seconds=30),
}
LATE: Final = 10  # seconds for which a form that is still shown is heard
MAX_TITLE: Final = 80  # characters of a title in a message

Former = Mapping[str, Any]  # what was before a change, as JSON


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoOffer:
    """What was done, and the address that undoes it within some seconds."""

    text: str
    address: str
    seconds: int
    made_at: datetime
    is_deletion: bool = False
    page: str = ""  # shown when it is undone; "": the list again


def offer(request: PageRequest, name: str, text: str, former: Former) -> None:
    """Offer to undo a change for the time that such an offer has, in place of one like it."""
    about = {"name": name, "text": text, "former": former, "made_at": clock.now().isoformat()}
    request.session["undo"] = {**_stored(request), str(uuid4()): about}


def offers(request: PageRequest, listed: Scope) -> list[UndoOffer]:
    """Return what can be undone in a list of the library, what was done last at the end."""
    deletions = (_of_deletion(row) for row in _waiting(request) if selection.concerns(row, listed))
    return sorted((*_changes(request), *deletions), key=lambda offer: offer.made_at)


def lecture_offers(request: PageRequest) -> Iterator[UndoOffer]:
    """Yield the offers to undo the user's deletions of lectures; that of one leads back to it."""
    for deletion in _waiting(request):
        hidden = LectureSession.objects.filter(
            deletion=deletion.uuid, collection__in=request.access.readable
        )
        if lecture := hidden.first():
            page = reverse("lecture", args=[lecture.uuid]) if deletion.total == 1 else ""
            yield _of_deletion(deletion, page)


@require_POST
def undo(request: PageRequest, undo_id: UUID) -> HttpResponse:
    """Undo a change or a deletion."""
    stored = _stored(request)
    if change := stored.get(str(undo_id)):
        _CHANGES[change["name"]](request, change["former"])
        others = {key: row for key, row in stored.items() if row["name"] != change["name"]}
        request.session["undo"] = others
    else:
        titles = selection.take_back(undo_id, by=request.user)
        text = ngettext("%(count)s item is back.", "%(count)s items are back.", len(titles))
        if len(titles) == 1:
            text = _("“%(title)s” is back.")
        title = Truncator("".join(titles[:1])).chars(MAX_TITLE)
        messages.success(request, counted(text, len(titles), title=title))
    return back(request, reverse("library"))


def _stored(request: PageRequest) -> dict[str, Any]:
    """Return the changes that can be undone by their ids, what was done last at the end."""
    rows: dict[str, Any] = request.session.get("undo", {})
    return {key: row for key, row in rows.items() if _seconds_left(row) > -LATE}


def _seconds_left(change: Mapping[str, Any]) -> float:
    until = datetime.fromisoformat(change["made_at"]) + TIMES[change["name"]]
    return (until - clock.now()).total_seconds()


def _changes(request: PageRequest) -> Iterator[UndoOffer]:
    """Yield the last change of each kind, on the page that was the first to say so."""
    stored = _stored(request)
    here = request.get_full_path()
    for key in {row["name"]: key for key, row in stored.items()}.values():
        change, seconds = stored[key], _seconds_left(stored[key])
        if seconds > 0 and change.setdefault("page", here) == here:
            request.session.modified = True
            yield UndoOffer(
                text=change["text"],
                address=reverse("undo", args=[key]),
                seconds=round(seconds),
                made_at=datetime.fromisoformat(change["made_at"]),
            )


def _waiting(request: PageRequest) -> Iterable[Deletion]:
    return Deletion.objects.filter(created_by=request.user, run_after__gt=clock.now())


def _of_deletion(deletion: Deletion, page: str = "") -> UndoOffer:
    text = ngettext(
        "%(count)s item was deleted. You can undo this for half a minute.",
        "%(count)s items were deleted. You can undo this for half a minute.",
        deletion.total,
    )
    title = selection.title_of(deletion)
    if title:
        text = _("“%(title)s” was deleted. You can undo this for half a minute.")
    return UndoOffer(
        text=counted(text, deletion.total, title=title),
        address=reverse("undo", args=[deletion.uuid]),
        seconds=deletion.seconds_left,
        made_at=deletion.created_at,
        is_deletion=True,
        page=page,
    )


def _rename_back(request: PageRequest, titles: Former) -> None:
    """Give items their former titles, by reference."""
    chosen = selection.select(request.access, [*titles])
    count = item_details.rename(chosen, titles)
    text = ngettext("%(count)s item renamed.", "%(count)s items renamed.", count)
    messages.success(request, counted(text, count))
    tell_missing(request, chosen)


def _move_back(request: PageRequest, former: Former) -> None:
    """Return items to their ``origins``, by reference, from where they were moved ``to``."""
    origins = former["origins"]
    target = library.find_collection(request.access, former["to"])
    count = selection.move_back(request.access, origins, target)
    text = ngettext("%(count)s item moved back.", "%(count)s items moved back.", count)
    left_out = ngettext(
        "%(count)s item was left out: it was changed meanwhile, or you may not move it.",
        "%(count)s items were left out: they were changed meanwhile, or you may not move them.",
        others := len(origins) - count,
    )
    level = messages.warning if others else messages.success
    level(request, joined((count, text), (others, left_out)))


def _tag_back(request: PageRequest, former: Former) -> None:
    """Take the tags away that were added, and add those taken away; each names its items."""
    named = {name for tags in former.values() for names in tags.values() for name in names}
    chosen = selection.select(request.access, sorted(named))
    present = item_details.by_reference(chosen)
    with transaction.atomic():
        for change, tags in (("remove", former["added"]), ("add", former["removed"])):
            for tag, names in tags.items():
                if names := [name for name in names if name in present]:
                    selection.tag(selection.select(request.access, names), **{change: [tag]})
    tell_missing(request, chosen)
    text = ngettext(
        "%(count)s item has its earlier tags again.",
        "%(count)s items have their earlier tags again.",
        chosen.count,
    )
    messages.success(request, counted(text, chosen.count))


_CHANGES: Final[Mapping[str, Callable[[PageRequest, Former], None]]] = {
    RENAME: _rename_back,
    MOVE: _move_back,
    TAGS: _tag_back,
}


Sentence: TypeAlias = tuple[int, str]  # what it counts, and the text


def counted(text: str, count: int, **values: object) -> str:
    """Fill in a number, and other values."""
    return text % {"count": number_format(count, force_grouping=True), **values}


def joined(*sentences: Sentence, **values: object) -> str:
    """Join the sentences that have something to count."""
    return " ".join(counted(text, count, **values) for count, text in sentences if count)


def tell_missing(request: PageRequest, chosen: ChosenItems) -> None:
    """Say how many items something could not be done with: another tab may have deleted some."""
    if chosen.missing:
        text = ngettext(
            "%(count)s item was not there any more.",
            "%(count)s items were not there any more.",
            chosen.missing,
        )
        messages.warning(request, counted(text, chosen.missing))

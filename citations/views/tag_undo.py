"""The undoing of a change of tags: what each item gained goes, and what it lost comes back."""

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse
from django.urls import reverse
from django.utils.formats import number_format
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from citations.ingest import item_details, selection
from citations.ingest.selection import ChosenItems
from citations.views import missing_items, undo_offers
from transcripts.core.errors import InvalidInput
from transcripts.core.views.requests import PageRequest, back

GAINED: Final = "gained"
LOST: Final = "lost"
Tags = Mapping[str, frozenset[str]]  # of items, by their references


def tags_of(chosen: ChosenItems) -> Tags:
    """Return the tags that items have now; lectures have none."""
    rows = item_details.by_reference(chosen)
    return {reference: frozenset(getattr(row, "tags", ())) for reference, row in rows.items()}


def offer(request: PageRequest, before: Tags, after: Tags, text: str) -> bool:
    """Offer to undo a change of tags; return whether there was any."""
    gained = {reference: tags - before[reference] for reference, tags in after.items()}
    lost = {reference: tags - after[reference] for reference, tags in before.items()}
    fields = [*_fields(GAINED, gained), *_fields(LOST, lost)]
    if fields:
        address = reverse("library-tag-back")
        undo_offers.make(request, undo_offers.TAGS, text=text, address=address, fields=fields)
    return bool(fields)


@require_POST
def tag_back(request: PageRequest) -> HttpResponse:
    """Undo a change of tags; its form names each tag and the items that gained or lost it."""
    gained, lost = (_read(request.POST.getlist(name)) for name in (GAINED, LOST))
    references = {reference for _, *names in (*gained, *lost) for reference in names}
    chosen = selection.select(request.access, sorted(references))  # raises for nothing at all
    rows_by_reference = item_details.by_reference(chosen)
    with transaction.atomic():
        for rows, change in ((gained, "remove"), (lost, "add")):
            for tag, *names in rows:
                if names := [name for name in names if name in rows_by_reference]:
                    selection.tag(selection.select(request.access, names), **{change: [tag]})
    undo_offers.forget(request, undo_offers.TAGS)
    missing_items.tell(request, chosen)
    count = chosen.count
    text = ngettext(
        "%(count)s item has its earlier tags again.",
        "%(count)s items have their earlier tags again.",
        count,
    )
    messages.success(request, text % {"count": number_format(count, force_grouping=True)})
    return back(request, reverse("library"))


def _fields(name: str, changes: Tags) -> list[tuple[str, str]]:
    by_tag: dict[str, list[str]] = {}
    for reference, tags in changes.items():
        for tag in tags:
            by_tag.setdefault(tag, []).append(reference)
    return [(name, json.dumps([tag, *names])) for tag, names in sorted(by_tag.items())]


def _read(fields: Iterable[str]) -> list[list[str]]:
    """Read what ``_fields`` wrote. Raises ``InvalidInput``."""
    try:
        rows: list[Any] = [json.loads(field) for field in fields]
    except ValueError:
        rows = [None]
    for row in rows:
        if not (isinstance(row, list) and row[1:] and all(isinstance(text, str) for text in row)):
            raise InvalidInput("The tags to restore are not known.", hint="Reload the library.")
    return rows

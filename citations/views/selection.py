"""What is done with the selected items of the library, and how a deletion is taken back."""

from collections.abc import Callable
from typing import Final
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_POST

from citations.ingest import selection
from citations.ingest.selection import ChosenItems
from citations.tasks import send as send_source
from transcripts import library
from transcripts.errors import InvalidInput
from transcripts.tasks import send as send_job
from transcripts.views.requests import PageRequest, back


@require_POST
def change(request: PageRequest) -> HttpResponse:
    """Do one thing with all selected items, and return to the list."""
    request.caller.require_write()
    action = ACTIONS.get(request.POST.get("action", ""))
    if action is None:
        raise InvalidInput("What is to be done is not known.", hint="Reload the library.")
    chosen = selection.select(request.access, request.POST.getlist("item"))
    if message := action(request, chosen):
        messages.success(request, message)
    return back(request, reverse("library"))


@require_POST
def take_back(request: PageRequest, deletion_id: UUID) -> HttpResponse:
    count = selection.take_back(deletion_id, by=request.user)
    messages.success(request, f"{_items(count)} stay{'s' if count == 1 else ''} in the library.")
    return back(request, reverse("library"))


def _tag(request: PageRequest, chosen: ChosenItems) -> str:
    count = selection.tag(chosen, add=_tags(request))
    return f"{_items(count)} tagged."


def _untag(request: PageRequest, chosen: ChosenItems) -> str:
    count = selection.tag(chosen, remove=_tags(request))
    return f"The tags of {_items(count)} were changed."


def _move(request: PageRequest, chosen: ChosenItems) -> str:
    target = library.find_collection(request.access, request.POST.get("collection", ""))
    count = selection.move(request.access, chosen, target)
    return f"{_items(count)} moved to “{target}”."


def _index(request: PageRequest, chosen: ChosenItems) -> str:
    sources = selection.index_again(chosen)
    for source in sources:
        send_source(source)
    return f"{_items(chosen.count)} will be indexed again."


def _fetch(request: PageRequest, chosen: ChosenItems) -> str:
    jobs = selection.fetch_again(chosen, by=request.user)
    for job in jobs:
        send_job(job)
    return f"{_items(len(jobs))} will be fetched again."


def _delete(request: PageRequest, chosen: ChosenItems) -> str:
    selection.delete(chosen, by=request.user)
    return ""  # the library says so, beside the way back


def _tags(request: PageRequest) -> list[str]:
    return request.POST.get("tags", "")[:500].split(",")


def _items(count: int) -> str:
    return f"{count:,} item{'' if count == 1 else 's'}"


ACTIONS: Final[dict[str, Callable[[PageRequest, ChosenItems], str]]] = {
    "tag": _tag,
    "untag": _untag,
    "move": _move,
    "index": _index,
    "fetch": _fetch,
    "delete": _delete,
}

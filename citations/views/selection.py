"""Actions on the selected items of the library, and the undoing of a deletion."""

from collections.abc import Callable, Mapping
from typing import Final
from uuid import UUID

from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.formats import number_format
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from citations.ingest import item_details, selection
from citations.ingest.selection import ChosenItems
from citations.models.deletions import TAKEN_BACK_WITHIN
from citations.notebook import archives
from citations.tasks import send as send_source
from citations.tasks import send_archive
from transcripts import clock, collections, library
from transcripts.errors import InvalidInput
from transcripts.scope import Scope
from transcripts.tasks import send as send_job
from transcripts.translation import translated
from transcripts.views.requests import PageRequest, back


@require_POST
def change(request: PageRequest) -> HttpResponse:
    """Do one thing with all selected items, and return to the list; an export has a page."""
    request.caller.require_write()
    if request.POST.get("action") == "rename":
        chosen = selection.select(request.access, request.POST.getlist("item"))
        return _titles(request, item_details.by_reference(chosen))
    name = request.POST.get("action", "")
    action = ACTIONS.get(name)
    if action is None:
        raise InvalidInput("What is to be done is not known.", hint="Reload the library.")
    chosen = selection.select(request.access, request.POST.getlist("item"))
    try:
        if message := action(request, chosen):
            messages.success(request, message)
    except InvalidInput as error:  # shown on the list, where another action can be chosen
        text = f"{translated(error.message)} {translated(error.hint)}".rstrip()
        messages.error(request, text)
        return back(request, reverse("library"))
    return redirect("archive") if name == "export" else back(request, reverse("library"))


@require_POST
def rename(request: PageRequest) -> HttpResponse:
    """Save the titles of several items, or show them again with the fault of one."""
    request.caller.require_write()
    chosen = selection.select(request.access, request.POST.getlist("item"))
    rows = item_details.by_reference(chosen)
    fields = {reference: f"title-{reference}" for reference in rows}
    form = request.POST
    titles = {reference: form[name] for reference, name in fields.items() if name in form}
    before = {reference: str(row) for reference, row in rows.items()}
    try:
        count = item_details.rename(chosen, titles)
    except InvalidInput as error:
        return _titles(request, {**rows, **titles}, error=error)
    changed = {name: title for name, title in before.items() if str(rows[name]) != title}
    if "undo" in request.POST or not changed:
        request.session.pop("renamed", None)
        text = ngettext("%(count)s item renamed.", "%(count)s items renamed.", count)
        messages.success(request, _counted(text, count))
    else:
        until = clock.now() + TAKEN_BACK_WITHIN
        request.session["renamed"] = {"titles": changed, "until": until.isoformat()}
    return back(request, reverse("library"))


def _titles(
    request: PageRequest, titles: Mapping[str, object], *, error: InvalidInput | None = None
) -> HttpResponse:
    """Show the titles in an editable list, in the order in which the items stood."""
    order = dict.fromkeys(request.POST.getlist("item"))
    rows = [(reference, str(titles[reference])) for reference in order]
    context = {"rows": rows, "next": request.POST.get("next", ""), "error": error}
    return render(request, "citations/rename.html", context, status=422 if error else 200)


@require_POST
def take_back(request: PageRequest, deletion_id: UUID) -> HttpResponse:
    count = selection.take_back(deletion_id, by=request.user)
    text = ngettext(
        "%(count)s item stays in the library.", "%(count)s items stay in the library.", count
    )
    messages.success(request, _counted(text, count))
    return back(request, reverse("library"))


def _tag(request: PageRequest, chosen: ChosenItems) -> str:
    count = selection.tag(chosen, add=_tags(request))
    return _counted(ngettext("%(count)s item tagged.", "%(count)s items tagged.", count), count)


def _untag(request: PageRequest, chosen: ChosenItems) -> str:
    count = selection.tag(chosen, remove=_tags(request))
    text = ngettext(
        "The tags of %(count)s item were changed.",
        "The tags of %(count)s items were changed.",
        count,
    )
    return _counted(text, count)


def _move(request: PageRequest, chosen: ChosenItems) -> str:
    access = request.access
    with transaction.atomic():
        if name := request.POST.get("new", "").strip():
            target = collections.create(name, owner=request.user)
            own = frozenset({target.pk})
            access = Scope(readable=access.readable | own, writable=access.writable | own)
        else:
            target = library.find_collection(access, request.POST.get("collection", ""))
        count = selection.move(access, chosen, target)
    text = ngettext(
        "%(count)s item moved to “%(name)s”.", "%(count)s items moved to “%(name)s”.", count
    )
    return _counted(text, count, name=target)


def _index(request: PageRequest, chosen: ChosenItems) -> str:
    sources = selection.index_again(chosen)
    for source in sources:
        send_source(source)
    text = ngettext(
        "%(count)s item will be indexed again.",
        "%(count)s items will be indexed again.",
        chosen.count,
    )
    return _counted(text, chosen.count)


def _fetch(request: PageRequest, chosen: ChosenItems) -> str:
    jobs = selection.fetch_again(chosen, by=request.user)
    for job in jobs:
        send_job(job)
    text = ngettext(
        "%(count)s item will be fetched again.", "%(count)s items will be fetched again.", len(jobs)
    )
    return _counted(text, len(jobs))


def _export(request: PageRequest, chosen: ChosenItems) -> str:
    sources = chosen.sources
    if not sources:
        raise InvalidInput("None of these has a text yet.", hint="Choose recordings or documents.")
    archive = archives.request(request.access, request.user, sources=sources)
    if archive.sent_at is None:
        send_archive(archive)
    return ""  # the page of the archive says how far it is


def _delete(request: PageRequest, chosen: ChosenItems) -> str:
    selection.delete(chosen, by=request.user)
    return ""  # the library says so, beside the way back


def _tags(request: PageRequest) -> list[str]:
    return request.POST.get("tags", "")[:500].split(",")


def _counted(text: str, count: int, **values: object) -> str:
    return text % {"count": number_format(count, force_grouping=True), **values}


ACTIONS: Final[dict[str, Callable[[PageRequest, ChosenItems], str]]] = {
    "tag": _tag,
    "untag": _untag,
    "move": _move,
    "index": _index,
    "fetch": _fetch,
    "export": _export,
    "delete": _delete,
}

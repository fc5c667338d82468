"""The Library page."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST, require_safe

from transcripts import acquisition, library, storage
from transcripts.errors import KnowledgeBaseError
from transcripts.forms import AddForm, LibraryForm, SharedForm
from transcripts.models import Collection, Job, Video
from transcripts.tasks import send
from transcripts.views.requests import PageRequest, fragment


@dataclass(frozen=True, slots=True)
class AddResult:
    """The result of adding one item: a job, a video, or an error."""

    name: str
    job: Job | None = None
    video: Video | None = None
    warning: KnowledgeBaseError | None = None
    error: KnowledgeBaseError | None = None


@require_safe
def show_library(request: PageRequest) -> HttpResponse:
    wanted, offset = LibraryForm(request.GET).filter()
    page = library.list_videos(request.access, wanted, offset=offset)
    context: dict[str, Any] = {"wanted": wanted, "page": page, "offset": offset}
    if request.htmx:
        name = "_video_cards" if offset else "_results"
        return fragment(request, f"transcripts/{name}.html", context)
    visible = library.collections(request.access)
    context |= {
        "collections": visible,
        "writable": [row for row in visible if row.pk in request.access.writable],
        "tags": library.tags(request.access),
    }
    return render(request, "transcripts/library.html", context)


@require_safe
def show_add(request: PageRequest) -> HttpResponse:
    """Show the form with what a bookmark or a phone shares. Nothing is added by opening it."""
    address, title = SharedForm(request.GET).read()
    visible = library.collections(request.access)
    context = {
        "address": address,
        "title": title,
        "video": _existing(request, address),
        "writable": [row for row in visible if row.pk in request.access.writable],
    }
    return render(request, "transcripts/add.html", context)


def _existing(request: PageRequest, address: str) -> Video | None:
    try:
        return library.find_video(request.access, address) if address else None
    except KnowledgeBaseError:  # another address, or not in the library
        return None


@require_POST
def add(request: PageRequest) -> HttpResponse:
    """Add addresses, files or pasted text, and show the jobs."""
    request.caller.require_write()
    form = AddForm(request.POST, request.FILES)
    form.checked(request.access)
    outcomes = add_all(request, form)
    if request.htmx:
        return fragment(request, "transcripts/_add_outcomes.html", {"outcomes": outcomes})
    tell(request, outcomes)
    return redirect("activity")


@require_GET
def find(request: PageRequest) -> HttpResponse:
    """Open a video by its id or address."""
    return redirect("video", pk=library.find_video(request.access, request.GET.get("id", "")).pk)


def add_all(request: PageRequest, form: AddForm) -> list[AddResult]:
    """Add everything in a checked form. An item that fails does not stop the others."""
    values = form.cleaned_data
    collection: Collection = values["collection"]
    about = {name: values[name] for name in ("language", "tags")}
    options = {name: values[name] for name in ("newest", "every_hours", "translated")}
    outcomes = [
        _queue(
            address[:100],
            partial(acquisition.request, collection, address, by=request.user, **about, **options),
        )
        for address in form.addresses()
    ]
    if values["files"]:
        files = list(form.uploads())
        name = files[0][0] if len(files) == 1 else f"{len(files)} files"
        request_files = partial(acquisition.request_files, collection, files, by=request.user)
        outcomes.append(_queue(name, partial(request_files, **about)))
    if values["text"].strip():
        title = values["title"] or "Pasted transcript"
        try:
            stored = storage.add_text(
                collection, values["text"], title=title, by=request.user, **about
            )
        except KnowledgeBaseError as error:
            outcomes.append(AddResult(name=title, error=error))
        else:
            outcomes.append(AddResult(title, video=stored.video, warning=stored.warning))
    return outcomes


def _queue(name: str, request_job: Callable[[], Job]) -> AddResult:
    try:
        job = request_job()
    except KnowledgeBaseError as error:
        return AddResult(name=name, error=error)
    send(job)
    return AddResult(name=name, job=job)


def tell(request: PageRequest, outcomes: Iterable[AddResult]) -> None:
    """Show the results on the next page."""
    for outcome in outcomes:
        if outcome.error:
            messages.error(request, f"{outcome.name}: {outcome.error.message} {outcome.error.hint}")
        else:
            state = "in the library" if outcome.video else "queued"
            messages.success(request, f"“{outcome.name}” is {state}.")
        if outcome.warning:
            messages.warning(request, f"{outcome.warning.message} {outcome.warning.hint}")

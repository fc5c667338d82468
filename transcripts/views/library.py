"""The Library page."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST, require_safe

from transcripts import acquisition, library, storage
from transcripts.errors import KnowledgeBaseError
from transcripts.forms import AddForm, LibraryForm
from transcripts.models import Collection, Job, Video
from transcripts.tasks import send
from transcripts.views.requests import PageRequest, fragment


@dataclass(frozen=True, slots=True)
class AddResult:
    """The result of adding one item: a job, a video, or an error."""

    name: str
    job: Job | None = None
    video: Video | None = None
    error: KnowledgeBaseError | None = None


@require_safe
def show_library(request: PageRequest) -> HttpResponse:
    wanted, offset = LibraryForm(request.GET).filter()
    context = {
        "wanted": wanted,
        "page": library.list_videos(request.access, wanted, offset=offset),
        "offset": offset,
    }
    if request.htmx:
        return fragment(
            request,
            "transcripts/_video_cards.html" if offset else "transcripts/_results.html",
            context,
        )
    return render(request, "transcripts/library.html", {**context, **_choices(request)})


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
    outcomes = [_add_address(request, form, address) for address in form.addresses()]
    if values["files"]:
        outcomes.append(_add_files(request, form, list(form.uploads())))
    if values["text"].strip():
        outcomes.append(_add_text(form))
    return outcomes


def _add_address(request: PageRequest, form: AddForm, address: str) -> AddResult:
    values = form.cleaned_data
    collection: Collection = values["collection"]
    try:
        job = acquisition.request(
            collection,
            address,
            language=values["language"],
            tags=values["tags"],
            newest=values["newest"],
            every_hours=values["every_hours"],
            by=request.user,
        )
    except KnowledgeBaseError as error:
        return AddResult(name=address[:100], error=error)
    send(job)
    return AddResult(name=address[:100], job=job)


def _add_files(request: PageRequest, form: AddForm, uploads: list[tuple[str, bytes]]) -> AddResult:
    values = form.cleaned_data
    name = uploads[0][0] if len(uploads) == 1 else f"{len(uploads)} files"
    try:
        job = acquisition.request_files(
            values["collection"],
            uploads,
            language=values["language"],
            tags=values["tags"],
            by=request.user,
        )
    except KnowledgeBaseError as error:
        return AddResult(name=name, error=error)
    send(job)
    return AddResult(name=name, job=job)


def _add_text(form: AddForm) -> AddResult:
    values = form.cleaned_data
    title = values["title"] or "Pasted transcript"
    try:
        stored = storage.add_text(
            values["collection"],
            values["text"],
            title=title,
            language=values["language"],
            tags=values["tags"],
        )
    except KnowledgeBaseError as error:
        return AddResult(name=title, error=error)
    return AddResult(name=title, video=stored.video)


def tell(request: PageRequest, outcomes: Iterable[AddResult]) -> None:
    """Show the results on the next page."""
    for outcome in outcomes:
        if outcome.error:
            messages.error(request, f"{outcome.name}: {outcome.error.message} {outcome.error.hint}")
        else:
            messages.success(
                request,
                f"“{outcome.name}” is in the library."
                if outcome.video
                else f"“{outcome.name}” is queued.",
            )


def _choices(request: PageRequest) -> dict[str, object]:
    visible = library.collections(request.access)
    return {
        "collections": visible,
        "writable": [row for row in visible if row.pk in request.access.writable],
        "tags": library.tags(request.access),
    }

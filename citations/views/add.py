"""The add box: addresses and caption files become jobs, documents and pasted texts are stored."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import User
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from citations import samples
from citations.documents import storage as document_storage
from citations.documents.storage import AddedDocument
from citations.formats import BY_SUFFIX, PICTURES
from citations.ingest import discovery
from citations.library.filters import find_source, languages_of
from citations.listening import recognition, uploads
from citations.readers.ocr import engine as ocr_engine
from citations.tasks import send as send_source
from transcripts.adding import acquisition, storage
from transcripts.adding import files as caption_files
from transcripts.adding.transcript_rows import StorageChange
from transcripts.core import languages
from transcripts.core.errors import KnowledgeBaseError
from transcripts.core.translation import translated_error
from transcripts.core.views.requests import PageRequest, fragment, redirect_with_message
from transcripts.forms import AddForm, SharedForm, too_large
from transcripts.library import reading as library
from transcripts.media import files as media
from transcripts.models import Collection, Job, Video
from transcripts.models.jobs import read_row
from transcripts.tasks import send as send_job


@dataclass(frozen=True, slots=True, kw_only=True)
class AddResult:
    """The result of adding one item: a job, a video, a document, or an error."""

    name: str
    job: Job | None = None
    video: Video | None = None
    media: str = ""  # the file that plays there now
    document: AddedDocument | None = None
    warnings: Sequence[KnowledgeBaseError] = ()
    same_as: Video | None = None  # another with the same text
    error: KnowledgeBaseError | None = None

    @property
    def message(self) -> str:
        """What happened, in a sentence."""
        if self.error:
            return f"{self.name}: {translated_error(self.error)}"
        if self.job and self.job.is_finished:
            return self.job.error or self.job.state_text
        text = _("“%(title)s” is in the library.") if self.video else _("“%(title)s” is queued.")
        if self.media:
            text = _("“%(title)s” now plays with its recording.")
        elif self.document and self.document.is_new:
            text = _("“%(title)s” is being read.")
        elif self.document:
            text = _("“%(title)s” already exists as a document.")
        return text % {"title": self.document.source if self.document else self.name}

    @property
    def row(self) -> dict[str, Any]:
        """What the job of its upload keeps of it."""
        if self.document:
            change = "" if self.document.is_new else StorageChange.UNCHANGED
            return read_row(self.name, document=str(self.document.source.uuid), change=change)
        return read_row(self.name, video=self.video, change="", media=self.media)


@require_http_methods(["GET", "HEAD", "POST"])
def add(request: PageRequest) -> HttpResponse:
    """Show the add box, filled with what a bookmark or a phone shares; or add what was sent.

    The content of a file decides what it is. HTMX gets a fragment that shows progress, other
    browsers a redirect.
    """
    if request.method != "POST":
        return _show(request)
    form = AddForm(request.POST, request.FILES)
    outcomes = _add_all(request, form.checked(request.access), form)
    if request.htmx:
        context = {
            "outcomes": outcomes,
            "counts": _counts(request, outcomes),
            # What becomes of files is told with them.
            "arrives": not (request.FILES or all(outcome.error for outcome in outcomes)),
        }
        return fragment(request, "citations/_add_outcomes.html", context)
    for outcome in outcomes:  # on the next page
        level = messages.ERROR if outcome.error else messages.SUCCESS
        messages.add_message(request, level, outcome.message)
        for warning in outcome.warnings:
            messages.warning(request, translated_error(warning))
    return redirect("activity" if any(outcome.job for outcome in outcomes) else "library")


@require_POST
def add_sample(request: PageRequest) -> HttpResponse:
    """Store the sample library in a collection of the user's own, and show it being indexed."""
    collection = samples.collection_of(request.user)
    loaded = samples.load(collection, owner=request.user)
    for source in [loaded.textbook, *discovery.adopt()]:
        send_source(source)
    message = _(
        "“%(name)s” has three talks, a textbook and a lecture. You can read them at once; they "
        "are being indexed now. Delete the collection to remove them."
    )
    return redirect_with_message(
        request, message % {"name": collection}, "collection", pk=collection.pk
    )


@require_safe
def show_state(request: PageRequest, source_id: UUID) -> HttpResponse:
    """Show a document's progress: a fragment that polls until it is done."""
    source = find_source(request.access, str(source_id))
    if not request.htmx:
        return redirect("source", source_id=source_id)
    context = {"source": source, "is_new": True, "writable": request.access.writable}
    return fragment(request, "citations/_document.html", context)


def _show(request: PageRequest) -> HttpResponse:
    address, title = SharedForm(request.GET).read()
    video = None
    with suppress(KnowledgeBaseError):  # another address, or not in the library
        video = library.find_video(request.access, address) if address else None
    visible = library.collections(request.access)
    documents = (suffix for suffix, format in BY_SUFFIX.items() if not format.is_picture)
    pictures = (format.media_type for format in PICTURES)  # folders are searched by endings alone
    context = {
        "address": address,
        "title": title,
        "video": video,
        "chosen": request.GET.get("collection") or "library",
        "collections": [row for row in visible if row.pk in request.access.writable],
        "endings": ",".join(dict.fromkeys((*caption_files.FORMATS, *documents, *pictures))),
        "most_megabytes": max(1, settings.MAX_DOCUMENT_BYTES // 1_000_000),
        "languages": languages.choices(languages_of(request.access)),
        "has_ocr": ocr_engine.is_installed(),
        "can_listen": recognition.is_available(),
    }
    if request.htmx:
        return fragment(request, "citations/_add_box.html", context)
    return render(request, "citations/add.html", context)


def _add_all(request: PageRequest, values: dict[str, Any], form: AddForm) -> list[AddResult]:
    """Add everything in a checked form. An item that fails does not stop the others.

    Several files are told of in one job: those that it reads, and those settled before.
    """
    playable = [file for file in values["files"] if media.is_media(file)]
    others = [file for file in values["files"] if file not in playable]
    documents = [file for file in others if document_storage.is_document(file, file.name or "")]
    captions = [file for file in others if file not in documents]
    is_single = len(values["files"]) == 1  # which refuses the request if it is too large
    refused: list[AddResult] = []
    values["files"] = []
    for file in captions:
        error: KnowledgeBaseError | None = None if is_single else too_large(file)
        if not caption_files.is_candidate(file.name or ""):
            error = caption_files.no_transcript()
        if error:
            refused.append(AddResult(name=_name(file), error=error))
        else:
            values["files"].append(file)
    names = (file.name or "" for file in values["files"])
    with_captions, alone = media.beside(names, playable)
    is_alone = len(documents) == 1 and not values["text"]
    uploads = form.uploads() if values["files"] else iter(())  # may refuse the request: first
    outcomes = _add_addresses(request, form)
    if values["text"].strip():
        outcomes.append(_add_text(values, by=request.user))
    others = [
        *refused,
        *(_add_media(values, file, by=request.user) for file in alone),
        *(_add(values, file, by=request.user, alone=is_alone) for file in documents),
    ]
    if not (values["files"] or len(others) > 1 and not all(other.error for other in others)):
        return outcomes + others
    return outcomes + _add_files(request, form, list(uploads), with_captions, others)


def _counts(request: PageRequest, outcomes: Sequence[AddResult]) -> list[tuple[str, int]]:
    """Return how many of several files are of each kind."""
    files = request.FILES.getlist("files")
    if len(files) < 2:
        return []
    of_files = [outcome.job for outcome in outcomes if outcome.job and outcome.job.total]
    refused = {outcome.name for outcome in outcomes if outcome.error}
    refused |= {problem["name"] for job in of_files for problem in job.problems}
    names = {_name(file): file for file in files}
    playing = [name for name, file in names.items() if media.is_media(file)]
    documents = [row["name"] for job in of_files for row in job.read if "document" in row]
    others = names.keys() - refused - {*playing, *documents}
    counts = (
        (_("Transcripts"), len(caption_files.select(others))),
        (_("Documents"), len(documents)),
        (_("Audio and video"), len({*playing} - refused)),
    )
    return [(label, count) for label, count in counts if count]


def _add_addresses(request: PageRequest, form: AddForm) -> list[AddResult]:
    values = form.cleaned_data
    names = ("language", "tags", "newest", "every_hours", "translated")
    about = {"by": request.user, **{name: values[name] for name in names}}
    about["listens"] = values["listen"]
    collection: Collection = values["collection"]
    return [
        _queue(address[:100], partial(acquisition.request, collection, address, **about))
        for address in form.addresses()
    ]


def _add_files(
    request: PageRequest,
    form: AddForm,
    files: list[tuple[str, bytes]],
    beside: "list[UploadedFile[Any]]",
    others: list[AddResult],
) -> list[AddResult]:
    """Queue captions in a job that tells of the others, too; if they are refused, by themselves."""
    values = form.cleaned_data
    name = files[0][0] if len(files) == 1 else acquisition.FILES_NOTE.format(len(files))
    about = {"by": request.user, "language": values["language"], "tags": values["tags"]}
    about |= {
        "beside": beside,
        "refused": [(other.name, other.error) for other in others if other.error],
        "read": [other.row for other in others if not (other.error or other.job)],
    }
    result = _queue(name, partial(acquisition.request_files, values["collection"], files, **about))
    if result.job:  # which tells of the others, but for those that have jobs of their own
        return [result, *(other for other in others if other.job)]
    return [result, *others]


def _queue(name: str, request_job: Callable[[], Job]) -> AddResult:
    try:
        job = request_job()
    except KnowledgeBaseError as error:
        return AddResult(name=name, error=error)
    if not job.is_finished:
        send_job(job)
    return AddResult(name=name, job=job)


def _name(file: "UploadedFile[Any]") -> str:
    return document_storage.clean_name(file.name or "")


def _add_text(values: dict[str, Any], *, by: User | None) -> AddResult:
    title = values["title"] or "Pasted transcript"
    about = {"by": by, "title": title, "language": values["language"], "tags": values["tags"]}
    try:
        stored = storage.add_text(values["collection"], values["text"], **about)
    except KnowledgeBaseError as error:
        return AddResult(name=title, error=error)
    return AddResult(
        name=title, video=stored.video, warnings=stored.warnings, same_as=stored.same_as
    )


def _add_media(values: dict[str, Any], file: "UploadedFile[Any]", *, by: User | None) -> AddResult:
    name = _name(file)
    about = {"by": by, **{key: values[key] for key in ("tags", "language")}}
    try:
        added = uploads.add(
            values["collection"], file, name=name, listens=values["listen"], offers=True, **about
        )
    except KnowledgeBaseError as error:
        return AddResult(name=name, error=error)
    if isinstance(added, Video):
        return AddResult(name=name, video=added, media=name)
    if not added.is_finished:
        send_job(added)
    return AddResult(name=name, job=added)


def _add(
    values: dict[str, Any], file: "UploadedFile[Any]", *, by: User | None, alone: bool
) -> AddResult:
    name = _name(file)
    about = {"by": by, **{key: values[key] for key in ("tags", "language")}}
    about |= {"title": values["title"] if alone else "", "by_ocr": values["ocr"]}
    try:
        added = document_storage.add(values["collection"], file, name=name, **about)
    except KnowledgeBaseError as error:
        return AddResult(name=name, error=error)
    send_source(added.source)
    return AddResult(name=name, document=added)

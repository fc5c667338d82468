"""The operations that add sources of any kind and delete documents."""

from collections.abc import Sequence
from typing import Any, Literal

from django.contrib.auth.models import User
from ninja import Field, File, Form, Query, Router, Status
from ninja.errors import ValidationError
from ninja.files import UploadedFile

from citations.api.search import SourceId
from citations.documents import ocr
from citations.documents import storage as document_storage
from citations.documents.storage import AddedDocument
from citations.formats import NAMES
from citations.guide import storage as guide_storage
from citations.guide.items import KINDS
from citations.ingest import pipeline as ingest_pipeline
from citations.library import sources
from citations.library.filters import Filter, find_source
from citations.library.sources import SourcePage
from citations.listening import uploads
from citations.schemas.filters import MAX_VALUES, Reference
from citations.schemas.outlines import GuideOut
from citations.schemas.requests import CollectionNames
from citations.schemas.search import FilesOut, SourceOut, SourcesOut
from citations.tasks import send
from transcripts.adding import acquisition
from transcripts.adding import files as caption_files
from transcripts.api.endpoints import Request, add_video_or_text, contents, queued
from transcripts.api.shapes import FilesIn, PageIn, SourceIn, Words, responses
from transcripts.core.access import AccessLevel, needs
from transcripts.core.errors import Conflict, InvalidInput, KnowledgeBaseError
from transcripts.core.headers import located
from transcripts.library import reading as library
from transcripts.media import files as media
from transcripts.models import Collection, Job
from transcripts.schemas import JobOut, JobProblem, StoredOut, Title
from transcripts.tasks import send as send_job

router = Router(tags=["sources"])

MAX_FILES = 100  # in one request


class UploadIn(FilesIn):
    """What applies to all files of a request; ``title`` only to a single one."""

    title: Title = Field("", description="The title of a single document; empty: the file's own.")
    ocr: bool = Field(False, description="Read pages without a text layer by OCR.")
    listen: bool = Field(False, description="Listen to recordings that have no captions.")


class SourcesIn(PageIn):
    """Filters and a page of sources."""

    sources: tuple[Reference, ...] = Field(
        (),
        alias="source_id",
        max_length=MAX_VALUES,
        description="Only these: ids of sources or of videos.",
    )
    words: Words = Field("", description="Words of the title, author or video id.")
    state: Literal["", "pending", "words", "ready", "failed"] = ""
    collections: CollectionNames = Field((), alias="collection")


@router.get("sources", response=responses({200: SourcesOut}, 404), summary="List sources")
@needs(AccessLevel.READ)
def list_sources(request: Request, query: Query[SourcesIn]) -> SourcePage:
    """List what can be searched, newest first, and how far it is indexed."""
    options = query.model_dump(include={"words", "state", "offset", "limit"})
    return sources.list_sources(request.access, Filter.of(query), **options)


@router.post(
    "sources",
    response=responses({201: StoredOut, 202: JobOut}, 404, 409, 413),
    openapi_extra=located(201, 202),
    summary="Add a video, playlist, channel or text",
)
@needs(AccessLevel.WRITE)
def add_source(request: Request, body: SourceIn) -> Status[Any]:
    """Queue a YouTube address (202), or store a text (201).

    An address returns its job; if one for the same address is unfinished, that one.
    """
    return add_video_or_text(request, body)


@router.post(
    "sources/files",
    response=responses({202: FilesOut}, 404, 409, 413),
    openapi_extra=located(202, is_always=False),
    summary="Add files",
    description="Add documents, and queue the import of captions and yt-dlp's .info.json files"
    f" beside them.\n\nThe content of a file decides what it is: documents are {NAMES}. Audio and"
    " video files play beside the transcript of captions with the same name, sent with them or"
    " already in the library; with `listen`,"
    " one that has none is listened to.",
)
@needs(AccessLevel.WRITE)
def add_files(
    request: Request, files: File[list[UploadedFile]], about: Form[UploadIn]
) -> Status[FilesOut]:
    unknown = request.POST.keys() - UploadIn.model_fields.keys() - {"csrfmiddlewaretoken"}
    if unknown:
        complaint = {"type": "extra_forbidden", "msg": "there is no such field here"}
        raise ValidationError([{**complaint, "loc": ("form", name)} for name in sorted(unknown)])
    if len(files) > MAX_FILES:
        raise InvalidInput(f"files: at most {MAX_FILES} files are expected.")
    collection = library.target_collection(request.access, about.collection)
    playable = [file for file in files if media.is_media(file)]
    others = [file for file in files if file not in playable]
    documents = [file for file in others if document_storage.is_document(file, file.name or "")]
    captions = [file for file in others if file not in documents]
    unread = [file for file in captions if not caption_files.is_candidate(file.name or "")]
    names = (file.name or "" for file in captions if file not in unread)
    with_captions, alone = media.beside(names, playable)
    job = None
    if captions:  # first: a refused request must store nothing
        job = acquisition.request_files(
            collection,
            contents(captions),
            beside=with_captions,
            language=about.language,
            tags=about.tags,
            by=request.caller.user,
        )
        queued(request, job)
    is_alone = len(files) == 1
    added, problems = _add_documents(
        collection, documents, about, by=request.caller.user, is_alone=is_alone
    )
    heard, refused = _add_media(collection, alone, about, by=request.caller.user, is_alone=is_alone)
    problems += refused
    problems += [_problem(file, caption_files.no_transcript()) for file in unread]
    if job is None and added:
        request.answer["Location"] = f"/api/content/sources/{added[0].source.uuid}/"
    outcome = {"documents": added, "job": job, "listening": heard, "problems": problems}
    return Status(202, FilesOut.model_validate(outcome))


@router.get(
    "sources/{source_id}/guide",
    response=responses({200: GuideOut}, 404),
    summary="Get the guide to a source",
)
@needs(AccessLevel.READ)
def get_guide(request: Request, source_id: SourceId) -> GuideOut:
    """Return what a source is about, its terms, names and numbers, and questions that it answers.

    All are its own sentences, each with its place; what is not certain is left out. The guide is
    made after the source is indexed.
    """
    source = find_source(request.access, str(source_id))
    guide = guide_storage.of(source)
    items = {kind: getattr(guide, kind) for kind in KINDS} if guide else {}
    return GuideOut.model_validate(
        {"source_id": source.uuid, "is_ready": guide is not None, **items}
    )


@router.post(
    "sources/{source_id}/ocr",
    response=responses({202: SourceOut}, 404, 409, 503),
    summary="Read pages by OCR",
)
@needs(AccessLevel.WRITE)
def read_by_ocr(request: Request, source_id: SourceId) -> Status[SourceOut]:
    """Read the pages of a document that have no text layer or a broken one."""
    source = find_source(request.access, str(source_id), write=True)
    ocr.request(source)
    send(source)
    return Status(202, SourceOut.model_validate(source))


@router.delete("sources/{source_id}/ocr", response=responses({204: None}, 404), summary="Stop OCR")
@needs(AccessLevel.WRITE)
def stop_ocr(request: Request, source_id: SourceId) -> Status[Any]:
    """Stop after the page that is being read; what was read is kept."""
    ocr.cancel(find_source(request.access, str(source_id), write=True))
    return Status(204, None)


@router.delete(
    "sources/{source_id}", response=responses({204: None}, 404, 409), summary="Delete a document"
)
@needs(AccessLevel.WRITE)
def delete_source(request: Request, source_id: SourceId) -> Status[Any]:
    """Delete a document with its pages and all that was made from it.

    Recordings are deleted with their videos, at /api/content/videos/.
    """
    source = find_source(request.access, str(source_id), write=True)
    if source.video_id:
        raise Conflict(
            "This source is a recording and is deleted with its video.",
            hint="Delete the recording at /api/content/videos/.",
        )
    ingest_pipeline.remove(source)
    return Status(204, None)


def _add_media(
    collection: Collection,
    files: Sequence[UploadedFile],
    about: UploadIn,
    *,
    by: User | None,
    is_alone: bool,
) -> tuple[list[Job], list[JobProblem]]:
    """Store media files with their recordings; return the jobs that listen to others, and the
    refused files. Raises if the only file is refused.
    """
    jobs: list[Job] = []
    problems: list[JobProblem] = []
    how: dict[str, Any] = {"listens": about.listen, "language": about.language, "tags": about.tags}
    for file in files:
        try:
            added = uploads.add(collection, file, name=file.name or "", by=by, **how)
        except KnowledgeBaseError as error:
            if is_alone:
                raise
            problems.append(_problem(file, error))
        else:
            if isinstance(added, Job):
                send_job(added)
                jobs.append(added)
    return jobs, problems


def _problem(file: UploadedFile, error: KnowledgeBaseError) -> JobProblem:
    return JobProblem.of(document_storage.clean_name(file.name or ""), error)


def _add_documents(
    collection: Collection,
    files: Sequence[UploadedFile],
    about: UploadIn,
    *,
    by: User | None,
    is_alone: bool,
) -> tuple[list[AddedDocument], list[JobProblem]]:
    """Store documents; return them and the refused files. Raises if the only file is refused."""
    added: list[AddedDocument] = []
    problems: list[JobProblem] = []
    for file in files:
        try:
            document = document_storage.add(
                collection,
                file,
                name=file.name or "",
                title=about.title if len(files) == 1 else "",
                tags=about.tags,
                language=about.language,
                by=by,
                by_ocr=about.ocr,
            )
        except KnowledgeBaseError as error:
            if is_alone:
                raise
            problems.append(_problem(file, error))
        else:
            send(document.source)
            added.append(document)
    return added, problems

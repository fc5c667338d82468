"""Adding whatever it is, and deleting documents: each parses, makes one call, renders."""

import json
from collections.abc import Sequence
from typing import Annotated, Any, TypeVar

from django.core.files.uploadedfile import UploadedFile
from ninja import Field, Router, Schema, Status
from ninja.errors import HttpError, ValidationError
from pydantic import ConfigDict, StringConstraints
from pydantic import ValidationError as Invalid

from citations.api.search_in import SourceId
from citations.api.search_out import SourceOut
from citations.documents import storage as document_storage
from citations.documents.storage import AddedDocument
from citations.ingest import pipeline as ingest_pipeline
from citations.library.filters import find_source
from citations.tasks import send
from transcripts import acquisition, library
from transcripts.api.endpoints import Request, add_one, contents
from transcripts.api.in_ import FilesIn, SourceIn, Text
from transcripts.api.out import JobOut, JobProblem, StoredOut, answers
from transcripts.errors import Conflict, InvalidInput, KnowledgeBaseError
from transcripts.tasks import send as send_job

router = Router()

MOST_FILES = 100  # in one request
Sent = TypeVar("Sent", bound=Schema)


class UploadIn(FilesIn):
    """What goes for all of the files sent; ``title`` is for a single one."""

    model_config = ConfigDict(extra="forbid")

    title: Annotated[Text, StringConstraints(max_length=300)] = Field(
        "", description="The title of a single document; empty: what the file says itself."
    )


class DocumentOut(Schema):
    """A document that was added, or was there; it is read and indexed next."""

    source: SourceOut
    is_new: bool


class FilesOut(Schema):
    """What became of the files: documents, a job for those that are captions, and what was not taken."""

    documents: list[DocumentOut]
    job: JobOut | None
    problems: list[JobProblem]


_FORM = {
    "type": "object",
    "required": ["files"],
    "properties": {
        "files": {
            "type": "array",
            "minItems": 1,
            "maxItems": MOST_FILES,
            "items": {"type": "string", "format": "binary"},
        },
        **UploadIn.model_json_schema()["properties"],
    },
}
_BODY = {
    "required": True,
    "content": {
        "application/json": {"schema": SourceIn.model_json_schema()},
        "multipart/form-data": {"schema": _FORM},
    },
}


@router.post(
    "sources",
    response=answers({201: StoredOut, 202: JobOut | FilesOut}, 404, 409, 413),
    openapi_extra={"requestBody": _BODY},
    summary="Add a video, playlist, channel, text, or files",
)
def add_source(request: Request) -> Status[Any]:
    """Queue an address of YouTube (202, with the job; an unfinished job for the same is answered as it is), or store a text at once (201).

    Files are sent as a form: PDF, Markdown, text and HTML become documents, captions a job (202). What a file is, its content decides.
    """
    if request.content_type == "multipart/form-data":
        return _add_files(request)
    return add_one(request, _checked(SourceIn, _json(request), "body"))


@router.delete(
    "sources/{source_id}", response=answers({204: None}, 404, 409), summary="Delete a document"
)
def delete_source(request: Request, source_id: SourceId) -> Status[Any]:
    """Delete a document with its pages and all that was made from it. A recording goes with its video: /api/content/videos/."""
    request.caller.require_write()
    source = find_source(request.reach, str(source_id))
    request.reach.require_write(source.collection_id)
    if source.video_id:
        raise Conflict(
            "This source is a recording: it goes with its video.",
            hint="Delete the video at /api/content/videos/.",
        )
    ingest_pipeline.remove(source)
    return Status(204, None)


def _add_files(request: Request) -> Status[Any]:
    request.caller.require_write()
    files = [file for file in request.FILES.getlist("files") if isinstance(file, UploadedFile)]
    form = {
        name: request.POST.getlist(name) if name == "tags" else request.POST[name]
        for name in request.POST
        if name != "csrfmiddlewaretoken"
    }
    about = _checked(UploadIn, form, "form")
    if not 0 < len(files) <= MOST_FILES:
        raise InvalidInput(
            f"files: 1 to {MOST_FILES} files are expected.",
            hint="The parameters are described at /api/v1/docs.",
        )
    shelf = library.target_collection(request.reach, about.collection)
    papers = [file for file in files if document_storage.is_document(file, file.name or "")]
    captions: Any = [file for file in files if file not in papers]
    job = None
    if captions:  # first: what refuses the whole request must leave nothing behind
        job = acquisition.request_files(
            shelf,
            contents(captions),
            language=about.language,
            tags=about.tags,
            by=request.caller.user,
        )
        send_job(job)
    added, problems = _add_documents(shelf, papers, about, alone=len(files) == 1)
    return Status(202, {"documents": added, "job": job, "problems": problems})


def _add_documents(
    shelf: Any, files: "Sequence[UploadedFile[Any]]", about: UploadIn, *, alone: bool
) -> tuple[list[AddedDocument], list[dict[str, str]]]:
    """Store documents; returns what is there now and what was not taken. Raises what kept the only file that was sent (``alone``) out."""
    added: list[AddedDocument] = []
    problems: list[dict[str, str]] = []
    for file in files:
        try:
            one = document_storage.add(
                shelf,
                file,
                name=file.name or "",
                title=about.title if len(files) == 1 else "",
                tags=about.tags,
                language=about.language,
            )
        except KnowledgeBaseError as error:
            if alone:
                raise
            problems.append(
                {
                    "name": document_storage.clean_name(file.name or ""),
                    "code": error.code,
                    "message": error.message,
                    "hint": error.hint,
                }
            )
        else:
            send(one.source)
            added.append(one)
    return added, problems


def _json(request: Request) -> Any:
    body = request.body
    try:
        return json.loads(body) if body else {}
    except (ValueError, RecursionError):
        raise HttpError(400, "Cannot parse request body") from None


def _checked(form: type[Sent], sent: Any, where: str) -> Sent:
    """Check what was sent for its form, as the library does for operations that take one kind of body."""
    try:
        return form.model_validate(sent)
    except Invalid as error:
        raise ValidationError(
            [
                {**one, "loc": (where, *one["loc"])}
                for one in error.errors(include_url=False, include_context=False)
            ]
        ) from None

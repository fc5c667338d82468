"""The operations on archives."""

from typing import Annotated, Any, Final
from uuid import UUID

from django.http import StreamingHttpResponse
from ninja import Field, Path, Router, Status
from pydantic import StringConstraints

from citations.library.filters import find_source
from citations.models import Archive
from citations.notebook import archives
from citations.schemas.filters import MAX_VALUES
from citations.schemas.notebook import ArchiveOut
from citations.tasks import send_archive
from transcripts.api.endpoints import Request
from transcripts.api.shapes import BodyIn, responses
from transcripts.core.access import AccessLevel, needs
from transcripts.core.headers import FILE_NAME, located
from transcripts.schemas import CollectionName, Text

ArchiveId = Annotated[UUID, Path(description="The archive's id.")]
_FILE: Final = {
    200: {
        "description": "The ZIP.",
        "headers": FILE_NAME,
        "content": {"application/zip": {"schema": {"type": "string", "format": "binary"}}},
    }
}


class ArchiveIn(BodyIn):
    """What to put into a ZIP."""

    collection: CollectionName = Field("", description="Slug or name; empty: all that you read.")
    source_id: list[Annotated[Text, StringConstraints(max_length=500)]] = Field(
        [],
        max_length=MAX_VALUES,
        description="Only these, with what was made of them: ids of sources or of videos.",
    )
    with_media: bool = Field(
        default=False, description="With the audio and video files of recordings."
    )


router = Router(tags=["notebook"])


@router.post(
    "archives",
    response=responses({202: ArchiveOut}, 404, 409),
    openapi_extra=located(202),
    summary="Put everything into one ZIP",
)
@needs(AccessLevel.WRITE)
def add_archive(request: Request, body: ArchiveIn) -> Status[Archive]:
    """Begin a ZIP of all that you may read, or of some sources; while the same is being made, that
    is returned.
    """
    chosen = [find_source(request.access, reference) for reference in body.source_id]
    archive = archives.request(
        request.access,
        request.caller.user,
        collection=body.collection,
        sources=chosen,
        with_media=body.with_media,
    )
    if archive.sent_at is None:
        send_archive(archive)
    request.answer["Location"] = f"/api/v1/archives/{archive.uuid}"
    return Status(202, archive)


@router.get(
    "archives/{archive_id}", response=responses({200: ArchiveOut}, 404), summary="Watch a ZIP"
)
@needs(AccessLevel.READ)
def get_archive(request: Request, archive_id: ArchiveId) -> Archive:
    """Return how far a ZIP is."""
    return archives.find(request.access, request.caller.user, archive_id)


@router.get(
    "archives/{archive_id}/file",
    response=responses({200: None}, 404),
    openapi_extra={"responses": _FILE},
    summary="Download a ZIP",
)
@needs(AccessLevel.READ)
def get_archive_file(request: Request, archive_id: ArchiveId) -> StreamingHttpResponse:
    """Return a ZIP that is done."""
    user = request.caller.user
    archive = archives.find(request.access, user, archive_id, ready=True)
    headers = {
        "Content-Disposition": f'attachment; filename="{archive.file_name}"',
        "ETag": f'"{archive.uuid}"',  # what is done does not change
    }
    parts = archives.pieces(archive)
    return StreamingHttpResponse(parts, content_type="application/zip", headers=headers)


@router.delete(
    "archives/{archive_id}", response=responses({204: None}, 404), summary="Delete a ZIP"
)
@needs(AccessLevel.WRITE)
def delete_archive(request: Request, archive_id: ArchiveId) -> Status[Any]:
    """Delete a ZIP before its day is over."""
    archives.delete(archives.find(request.access, request.caller.user, archive_id))
    return Status(204, None)

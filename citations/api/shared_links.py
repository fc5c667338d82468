"""The operations on links for people without an account."""

from typing import Annotated, Any, Literal
from uuid import UUID

from ninja import Field, Path, Router, Status

from citations.models import SharedLink
from citations.notebook import shared_links
from citations.notebook.shared_links import LIFETIME, ShareTarget
from citations.schemas.notebook import SharedLinkOut, SharedLinksOut
from transcripts.api.endpoints import Request
from transcripts.api.shapes import BodyIn, Whole, responses
from transcripts.core.access import AccessLevel, needs
from transcripts.core.headers import located
from transcripts.schemas import Id
from transcripts.text.timecodes import MAX_SECONDS, milliseconds

LinkId = Annotated[UUID, Path(description="The link's id.")]
router = Router(tags=["notebook"])


class SharedLinkIn(BodyIn):
    """What a link shows, and for how long.

    One of: a highlight, an answer, a page of a document, a clip of a recording.
    """

    highlight_id: Id | None = None
    answer_id: Id | None = None
    source_id: Id | None = Field(None, description="With a page, or with start and end.")
    page: int | None = Field(None, ge=1, le=1_000_000, description="Of a document, from 1.")
    start: float | None = Field(None, ge=0, le=MAX_SECONDS, description="Seconds.")
    end: float | None = Field(None, ge=0, le=MAX_SECONDS, description="Seconds.")
    days: Annotated[Literal[1, 7, 30, 90], Whole] = Field(
        LIFETIME, description="Until it leads nowhere."
    )
    plays_file: bool = Field(
        default=False, description="Plays what it shows, cut out of the recording's own file."
    )


@router.get("shared-links", response=responses({200: SharedLinksOut}), summary="List shared links")
@needs(AccessLevel.MANAGE)
def list_shared_links(request: Request) -> dict[str, Any]:
    """List your links that have not expired."""
    return {"links": shared_links.list_links(request.access, request.caller.user)}


@router.post(
    "shared-links",
    response=responses({201: SharedLinkOut}, 404, 409),
    openapi_extra=located(201),
    summary="Share by a link",
)
@needs(AccessLevel.MANAGE)
def add_shared_link(request: Request, body: SharedLinkIn) -> Status[SharedLink]:
    """Make a link to a highlight, an answer, a page or a clip, where owners allow links."""
    target = ShareTarget(
        highlight=body.highlight_id or "",
        answer=body.answer_id or "",
        source=body.source_id or "",
        page=body.page,
        start=milliseconds(body.start),
        end=milliseconds(body.end),
    )
    terms: dict[str, Any] = {"days": body.days, "plays_file": body.plays_file}
    link = shared_links.share(request.access, request.caller.user, target, **terms)
    request.answer["Location"] = "/api/v1/shared-links"
    return Status(201, link)


@router.delete(
    "shared-links/{link_id}", response=responses({204: None}, 404), summary="Revoke a shared link"
)
@needs(AccessLevel.MANAGE)
def revoke_shared_link(request: Request, link_id: LinkId) -> Status[None]:
    """End a link of yours, or of others to a collection that you own, at once."""
    shared_links.revoke(request.access, request.caller.user, link_id)
    return Status(204, None)

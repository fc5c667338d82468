"""The operations on links for people without an account."""

from datetime import datetime
from typing import Annotated, Any, Literal, Self
from uuid import UUID

from ninja import Field, Path, Router, Schema, Status
from pydantic import AliasPath, ConfigDict, model_validator

from citations.models import SharedLink
from citations.notebook import answers, highlights, shared_links
from citations.notebook.shared_links import LIFETIME
from transcripts.api.endpoints import Request
from transcripts.api.shapes import responses
from transcripts.schemas import Shape

LinkId = Annotated[UUID, Path(description="The link's id.")]
router = Router(tags=["conversations"])


class SharedLinkIn(Schema):
    """What a link shows: a highlight or an answer; and for how long."""

    model_config = ConfigDict(extra="forbid")

    highlight_id: UUID | None = None
    answer_id: UUID | None = None
    days: Literal[1, 7, 30, 90] = Field(LIFETIME, description="Until it leads nowhere.")

    @model_validator(mode="after")
    def shows_one_thing(self) -> Self:
        if (self.highlight_id is None) == (self.answer_id is None):
            raise ValueError("either a highlight or an answer is shared")
        return self


class SharedLinkOut(Shape):
    """A link. Whoever has it reads what it shows, without an account."""

    id: UUID = Field(validation_alias="uuid")
    highlight_id: UUID | None = Field(None, validation_alias=AliasPath("highlight", "uuid"))
    answer_id: UUID | None = Field(None, validation_alias=AliasPath("answer", "uuid"))
    path: str = Field(description="On this server.")
    created_at: datetime
    expires_at: datetime


class SharedLinksOut(Shape):
    """Your links that have not expired, latest first."""

    links: list[SharedLinkOut]


@router.get("shared-links", response=responses({200: SharedLinksOut}), summary="List shared links")
def list_shared_links(request: Request) -> dict[str, Any]:
    """List your links that have not expired."""
    return {"links": shared_links.list_links(request.access, request.caller.user)}


@router.post(
    "shared-links", response=responses({201: SharedLinkOut}, 404, 409), summary="Share by a link"
)
def add_shared_link(request: Request, sent: SharedLinkIn) -> Status[SharedLink]:
    """Make a link to a highlight or an answer, in collections whose owners allow links."""
    request.caller.require_write()
    scope, user = request.access, request.caller.user
    if sent.highlight_id is not None:
        placed = highlights.find(scope, user, sent.highlight_id)
        link = shared_links.share_highlight(scope, user, placed, days=sent.days)
    else:
        answer = answers.find_answer(scope, user, str(sent.answer_id))
        link = shared_links.share_answer(scope, user, answer, days=sent.days)
    request.answer["Location"] = "/api/v1/shared-links"
    return Status(201, link)


@router.delete(
    "shared-links/{link_id}", response=responses({204: None}, 404), summary="Revoke a shared link"
)
def revoke_shared_link(request: Request, link_id: LinkId) -> Status[None]:
    """End a link of yours at once."""
    request.caller.require_write()
    shared_links.revoke(request.access, request.caller.user, link_id)
    return Status(204, None)

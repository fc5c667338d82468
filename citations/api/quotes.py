"""Quotes checked over REST: what is sent, what is answered, the operation."""

from typing import Annotated, Any, Literal
from uuid import UUID

from ninja import Field, Router, Schema
from pydantic import ConfigDict, StringConstraints

from citations.library.filters import MAX_VALUES, Filter
from citations.passages import seconds
from citations.quotes import verification
from citations.quotes.verification import MAX_QUOTE, VerifiedQuote
from transcripts.api.endpoints import Request
from transcripts.api.in_ import Text
from transcripts.api.out import answers
from transcripts.conf import absolute

router = Router()


class VerifyIn(Schema):
    """A quote, where it is said to be from, and where else to look."""

    model_config = ConfigDict(extra="forbid")

    quote: Annotated[Text, StringConstraints(min_length=1, max_length=MAX_QUOTE)]
    source: Annotated[Text, StringConstraints(max_length=500)] = Field(
        "", description="Id of the source or video that it is said to be from."
    )
    collection: list[Annotated[Text, StringConstraints(max_length=120)]] = Field(
        [], max_length=MAX_VALUES, description="Look only in these: slugs or names."
    )


class DifferenceOut(Schema):
    """Words that the quote leaves out, adds or replaces."""

    kind: Literal["missing", "added", "changed"]
    quoted: str
    actual: str


class VerifiedOut(Schema):
    """Whether a quote stands in the library word for word, and where; of an altered one the nearest place and what differs."""

    verdict: Literal["verbatim", "misattributed", "altered", "not_found"]
    is_enough: bool = Field(description="False: the quote is too short to prove anything.")
    source_id: UUID | None
    title: str | None
    kind: str | None
    video: str | None
    text: str = Field(description="As it stands there.")
    prefix: str
    suffix: str
    heading: str
    start: float | None = Field(description="Seconds.")
    end: float | None = Field(description="Seconds.")
    page: int | None
    last_page: int | None
    span: tuple[int, int] | None = Field(description="Characters of the source's text.")
    link: str | None = Field(description="Opens the page here, exactly there.")
    timestamp_link: str | None
    differences: list[DifferenceOut]
    likeness: float = Field(
        description="Share of the quote's words that stand there in their order, 0 to 1."
    )
    ms: float

    @staticmethod
    def of(found: VerifiedQuote) -> dict[str, Any]:
        """Lay it out flat."""
        origin, at = found.origin, found.locator
        same = (
            "verdict",
            "is_enough",
            "text",
            "prefix",
            "suffix",
            "heading",
            "differences",
            "likeness",
        )
        return {name: getattr(found, name) for name in same} | {
            "verdict": found.verdict.value,
            "source_id": origin.id if origin else None,
            "title": origin.title if origin else None,
            "kind": origin.kind if origin else None,
            "video": origin.key or None if origin else None,
            "start": seconds(at.start) if at else None,
            "end": seconds(at.end) if at else None,
            "page": at.page if at else None,
            "last_page": at.last_page if at else None,
            "span": at.span if at else None,
            "link": absolute(found.link) if found.link else None,
            "timestamp_link": found.timestamp_link or None,
            "differences": [one._asdict() for one in found.differences],
            "ms": round(found.milliseconds, 2),
        }


@router.post("verify", response=answers({200: VerifiedOut}, 404), summary="Check a quote")
def verify_quote(request: Request, sent: VerifyIn) -> dict[str, Any]:
    """Say whether a quote stands in a source word for word, and where: to the second or the page. Nothing is changed by it."""
    filter = Filter(collections=tuple(sent.collection))
    return VerifiedOut.of(
        verification.verify(request.reach, sent.quote, source=sent.source, filter=filter)
    )

"""Quotes and answers as every door shows them."""

from collections.abc import Iterable
from datetime import datetime
from typing import Annotated, Any, Literal, Self
from uuid import UUID

from pydantic import AfterValidator, AliasChoices, AliasPath, BeforeValidator, Field, computed_field

from citations.formats import KindName
from citations.passages import Stage
from citations.schemas.search import (
    Channel,
    Kind,
    Link,
    LocatedOut,
    Milliseconds,
    Score,
    Share,
    SourceId,
    Title,
    VideoId,
)
from citations.sureness import Sureness, level_of
from transcripts.conf import absolute
from transcripts.schemas import Shape

EXCERPT = 300  # characters of a passage that an answer was made from

Prefix = Annotated[str, Field(description="The 100 characters before the quote, at most.")]
Suffix = Annotated[str, Field(description="The 100 characters after the quote, at most.")]


# Quotes


class DifferenceOut(Shape):
    """Words that the quote leaves out, adds or replaces."""

    kind: Literal["missing", "added", "changed"]
    quoted: str
    actual: str


class QuoteCheckOut(LocatedOut):
    """Whether a quote is in the library word for word, and where; if altered, what differs."""

    verdict: Literal["verbatim", "misattributed", "altered", "not_found"]
    is_enough: bool = Field(description="False: the quote is too short to prove anything.")
    negation: str = Field(
        description="The word right before the quote that reverses what it says, such as “not”."
    )
    quote: str
    source_id: UUID | None = Field(None, validation_alias=AliasPath("origin", "id"))
    title: str | None = Field(None, validation_alias=AliasPath("origin", "title"))
    kind: KindName | None = Field(None, validation_alias=AliasPath("origin", "kind"))
    video_id: VideoId = None
    text: str = Field(description="The words of the source.")
    prefix: Prefix
    suffix: Suffix
    heading: str
    span: tuple[int, int] | None = Field(
        None,
        validation_alias=AliasPath("locator", "span"),
        description="Characters of the source's text.",
    )
    link: Annotated[str | None, BeforeValidator(lambda path: absolute(path) or None)] = Field(
        description="Opens this site's page at the quote."
    )
    timestamp_link: Annotated[str | None, BeforeValidator(lambda path: absolute(path) or None)]
    differences: list[DifferenceOut]
    likeness: Share = Field(
        description="Share of the quote's words that the source has in this order, 0 to 1."
    )
    milliseconds: Milliseconds


# Answers


class ClaimOut(Shape):
    """One or two sentences of an answer, and the numbers of the citations that support them."""

    label: str = Field(
        description="In an overview, the heading or title; empty: that of the claim before."
    )
    text: str
    citations: list[int]
    is_supported: bool
    is_more: bool = Field(
        description="Another place of the sources, beside those that are shown at once."
    )
    heading: str = Field(
        description="Of several questions the one that it answers; empty: not known, or only one."
    )
    answer: str = Field("", description="The sentence of it that answers; empty: all of it does.")


class AnswerPartOut(Shape):
    """One of several questions that were answered one by one."""

    heading: str = Field(description="The question, as its claims name it.")
    is_answered: bool = Field(description="False: the sources do not answer it.")
    confidence: Share | None = Field(
        None, description="Calibrated probability that its first citation is right, 0 to 1."
    )

    @computed_field(description="The word for its confidence.")
    def sureness(self) -> Sureness | None:
        return None if self.confidence is None else level_of(self.confidence).sureness


class UnreadySourceOut(Shape):
    """A source that was not ready when the answer was given."""

    source_id: UUID | None = Field(description="Null: it was not stored yet.")
    title: str = Field(description="Of what is being fetched, its address or file.")
    state: Literal["fetching", "reading", "indexing", "embedding"]


class QuotationOut(LocatedOut):
    """A quote of an answer that was found word for word in its source, and where."""

    id: UUID | None = Field(description="Of its permanent address; null: the answer is not kept.")
    number: int
    quote: str = Field(validation_alias="text")
    prefix: Prefix
    suffix: Suffix
    source_id: SourceId
    title: Title
    kind: Kind
    channel: Channel
    url: str = Field(validation_alias=AliasPath("origin", "url"))
    heading: str
    speaker: str = Field(description="Who says it, where captions name speakers; else empty.")
    link: Link = Field(description="Opens this site's page at the quote.")


class NearestOut(LocatedOut):
    """A passage that is near a question that was refused; ``text`` is its beginning."""

    source_id: SourceId
    title: Title
    heading: str
    text: Annotated[str, AfterValidator(lambda text: text[:EXCERPT])]
    score: Score
    link: Link


class EvidenceOut(NearestOut):
    """A passage that an answer could be made from."""

    number: int
    level: int = Field(description="0 a chunk, 1 paragraphs, 2 a section, 3 a document.")
    part: int = Field(description="The question it was found for, among the trace's parts.")


class QuestionPartOut(Shape):
    """A question that was looked up by itself."""

    text: str
    breadth: Literal["specific", "broad"]


class CheckedQuoteOut(Shape):
    """What became of a quote that an answer wanted to cite; number 0: it is not cited."""

    quote: str
    verdict: str
    evidence: int = Field(description="The number of the passage that was named; 0: none.")
    number: int


class TraceOut(Shape):
    """How an answer was made."""

    parts: list[QuestionPartOut] = Field(
        [], validation_alias=AliasChoices(AliasPath("route", "parts"), "parts")
    )
    by: str = Field("", validation_alias=AliasChoices(AliasPath("route", "by"), "by"))
    evidence: list[EvidenceOut] = []
    checks: list[CheckedQuoteOut] = []
    stages: list[Stage] = []
    tokens: dict[str, int] = {}
    notes: list[str] = []
    signs: list[dict[str, Score]] = []


class ReplyOut(Shape):
    """An answer. Claims of sources that you may not read any more are ``withheld``."""

    id: UUID | None = Field(None, description="Null: it is not kept.")
    conversation_id: UUID | None = Field(None, validation_alias="conversation")
    question: str
    full_question: str = Field(description="The question by itself, if it follows on another.")
    state: Literal["running", "answered", "partial", "refused", "help", "failed"] = Field(
        validation_alias=AliasChoices("state", "outcome")
    )
    claims: list[ClaimOut]
    parts: list[AnswerPartOut] = Field(
        description="The questions, if there are several and each is answered by itself."
    )
    citations: list[QuotationOut] = Field(validation_alias="quotes")
    gone: list[int] = Field(
        [], description="Numbers of citations whose sources were deleted; they are not listed."
    )
    nearest: list[NearestOut] = Field(description="Of a refusal: the nearest passages.")
    note: str
    unready: list[UnreadySourceOut] = Field(
        description="Sources in reach that were not searched, or only by words; at most 100."
    )
    error: str = ""
    hint: str = ""
    confidence: Share | None = Field(
        description="Calibrated probability that the first citation is right, 0 to 1; null where"
        " each of the parts has its own."
    )
    model: str = Field(description="The language model; empty: made of the sources' sentences.")
    feedback: int | None = None
    withheld: int = 0
    milliseconds: Milliseconds | None
    created_at: datetime | None = None

    @computed_field(description="The word for the confidence.")
    def sureness(self) -> Sureness | None:
        return None if self.confidence is None else level_of(self.confidence).sureness


class TracedReplyOut(ReplyOut):
    """An answer, and how it was made."""

    trace: TraceOut


# Steps of an answer


class AskedEventOut(Shape):
    """What the answer will be found by; null: it is not kept."""

    answer_id: UUID | None
    conversation_id: UUID | None


class ClaimEventOut(ClaimOut):
    """A claim that was checked, with the quotes that support it."""

    quotes: list[QuotationOut]

    @classmethod
    def of(cls, claim: Any, quotes: Iterable[Any]) -> Self:
        """Return the shape of a claim and its quotes, which are values."""
        shown = [QuotationOut.model_validate(quote) for quote in quotes]
        return cls(**dict(ClaimOut.model_validate(claim)), quotes=shown)

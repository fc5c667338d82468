"""Searches and sources as every door shows them."""

from datetime import datetime
from typing import Annotated, Literal, Self
from uuid import UUID

from pydantic import AfterValidator, AliasChoices, AliasPath, Field, computed_field, model_validator

from citations import passages
from citations.formats import KindName
from citations.passages import DropRule, Explanation, Locator, Stage
from citations.sureness import HITS, Sureness, level_of
from transcripts.conf import absolute
from transcripts.schemas import (
    CollectionSlug,
    Count,
    JobOut,
    JobProblem,
    Percent,
    Seconds,
    Shape,
    VideoKey,
)
from transcripts.text.timecodes import milliseconds

Link = Annotated[str, AfterValidator(absolute)]
Score = Annotated[float, AfterValidator(lambda score: round(score, 4))]
Share = Annotated[Score, Field(json_schema_extra={"minimum": 0, "maximum": 1})]
Milliseconds = Annotated[float, AfterValidator(lambda duration: round(duration, 2))]
OriginId = AliasChoices(AliasPath("origin", "id"), "source")
SourceId = Annotated[UUID, Field(validation_alias=OriginId)]
Title = Annotated[str, Field(validation_alias=AliasChoices(AliasPath("origin", "title"), "title"))]
Kind = Annotated[KindName, Field(validation_alias=AliasPath("origin", "kind"))]
Channel = Annotated[
    str, Field(validation_alias=AliasPath("origin", "author"), description="Channel or author.")
]
VideoId = Annotated[
    str | None,
    AfterValidator(lambda key: key or None),
    Field(validation_alias=AliasPath("origin", "key"), description="Null: it has no video."),
]


PageNumber = Annotated[int, Field(ge=1)]


def _located(name: str) -> AliasChoices:
    return AliasChoices(AliasPath("locator", name), name)


class LocatedOut(Shape):
    """Where something is: seconds in a recording, or pages in a document."""

    start: Seconds | None = Field(None, validation_alias=_located("start"), description="Seconds.")
    end: Seconds | None = Field(None, validation_alias=_located("end"), description="Seconds.")
    page: PageNumber | None = Field(None, validation_alias=_located("page"), description="From 1.")
    last_page: PageNumber | None = Field(None, validation_alias=_located("last_page"))
    is_slide: bool = Field(
        False, validation_alias=_located("is_slide"), description="The pages are slides."
    )
    place: str = Field("", description="The same for people: “3:28–3:40”, “pages 3–4”.")

    @model_validator(mode="after")
    def write_place(self) -> Self:
        start, end = milliseconds(self.start), milliseconds(self.end)
        pages = {name: getattr(self, name) for name in ("page", "last_page", "is_slide")}
        self.place = passages.place(Locator(span=(0, 0), start=start, end=end, **pages))
        return self


# Search


class DuplicateOut(LocatedOut):
    """A passage that says almost the same as a better one, and was left out for it."""

    source_id: SourceId
    title: Title
    link: Link
    similarity: Share = Field(description="Jaccard similarity of the words, 0 to 1.")


class ExtentOut(LocatedOut):
    """Where a passage and its parts are together."""


class OpeningOut(LocatedOut):
    """From the sentence with the query's words, where links open it, to the end of its parts."""


class PartOut(LocatedOut):
    """A neighbouring passage that was found, too, and is not listed by itself."""

    chunk: int
    text: str
    timestamp_link: Link
    link: Link
    opening: OpeningOut


class PassageOut(LocatedOut):
    """A passage that answers a query; ``spans`` are the characters of the query's words."""

    source_id: SourceId
    title: Title
    kind: Kind
    channel: Channel
    collection: str = Field(validation_alias=AliasPath("origin", "collection"))
    language: str = Field(validation_alias=AliasPath("origin", "language"))
    video_id: VideoId
    text: str
    score: Share = Field(description="0 to 1, for comparing the passages of one search.")
    relevance: Share | None = Field(
        None, description="How likely it is on the subject, 0 to 1; null: not known."
    )
    is_likely: bool = Field(True, description="False: probably not on the subject.")
    folded: DropRule | None = Field(
        None, description="Why the page folds it away; null: it is in sight."
    )
    timestamp_link: Link = Field(description="Opens the recording at that second.")
    link: Link = Field(description="Opens this site's page at that second or page.")
    context: str
    heading: str
    speaker: str = Field("", description="Who alone says it, where captions name speakers.")
    spans: list[tuple[int, int]]
    duplicates: list[DuplicateOut]
    parts: list[PartOut] = Field([], description="Neighbouring passages, in order.")
    extent: ExtentOut | None = Field(None, description="With its parts; null: it has none.")
    opening: OpeningOut | None = Field(None, description="Where it is opened; null: at its start.")
    chunk: int = Field(description="Its id for marking; indexing the source again changes it.")
    mark: bool | None = Field(description="Your mark of it for this query.")

    @computed_field(description="The word for its score; null: its meaning was not compared.")
    def sureness(self) -> Sureness | None:
        return None if self.relevance is None else level_of(self.score, HITS).sureness

    explanation: Explanation | None

    @property
    def shown_place(self) -> str:
        """Where a list says that it is."""
        opening = self.opening or self.extent or self
        return passages.place_in(opening.place, self.extent.place if self.extent else "")


class TracedOut(LocatedOut):
    """What became of a passage in a search. Ranks count from 1; null: it was not found so."""

    source_id: SourceId
    title: Title
    link: Link
    chunk: int
    text: str = Field(description="How it begins.")
    rule: DropRule | None = Field(
        description="Why it is not listed or folded away; null: it is in sight."
    )
    number: int | None = Field(description="Its place in the list; null: it is not listed.")
    kept: int | None = Field(description="The chunk of the passage that is listed in its place.")
    similarity: Share | None = Field(description="With that passage: Jaccard, 0 to 1.")
    lexical_rank: int | None
    bm25: float | None
    vector_rank: int | None
    cosine: float | None
    fused_rank: int | None = Field(description="In both lists together.")
    rank: int | None = Field(description="By the judge, or by the cross-encoder if it ran.")


class SearchOut(Shape):
    """The best passages, best first; ``notes`` say what was left out and why."""

    query: str
    mode: Literal["both", "words", "meaning"]
    passages: list[PassageOut]
    dropped: list[TracedOut] = Field(
        [], description="With explain: the hits that are not listed, best first, and why."
    )
    traced: TracedOut | None = Field(None, description="With find: what became of that passage.")
    stages: list[Stage]
    notes: list[str]
    reranked: bool
    nothing_relevant: bool = Field(
        False, description="None of the passages is likely on the subject."
    )
    suggestion: str = Field(
        "", description="The query with words corrected that occur in no source; else empty."
    )
    hypothesis: str = Field(
        description="The hypothetical answer that was searched for too, if there is one."
    )
    milliseconds: Milliseconds


class SourceOut(Shape):
    """A source, and how far it is indexed."""

    id: UUID = Field(validation_alias="uuid")
    kind: KindName
    title: str
    channel: str = Field(validation_alias="author", description="Channel or author.")
    video_id: VideoKey = None
    language: str
    collection: CollectionSlug
    url: str
    tags: list[str]
    published_at: datetime | None
    state: Literal["pending", "words", "ready", "failed"]
    step: str
    percent: Percent
    chunks: Count = Field(validation_alias="chunk_count")
    pages: Annotated[int | None, AfterValidator(lambda count: count or None)] = Field(
        None, validation_alias=AliasPath("document", "page_count"), description="Of a document."
    )
    has_slides: bool = Field(False, description="Its pages are slides.")
    characters: Count
    note: str = Field(
        "", description="What is to be known of how it was read and embedded, such as by OCR."
    )
    unread_pages: list[int] = Field(
        [],
        validation_alias=AliasPath("document", "unread_pages"),
        description="Pages of a document that have no text, or a broken one; OCR can read them.",
    )
    error_code: str
    error: str
    hint: str
    updated_at: datetime


class StateCountsOut(Shape):
    """The number of sources in each state."""

    pending: Count
    words: Count
    ready: Count
    failed: Count


class SourcesOut(Shape):
    """A page of sources, newest first; ``counts`` are of all that match, whatever their state."""

    sources: list[SourceOut]
    total: Count
    counts: StateCountsOut
    next: Count | None = Field(description="The offset of the next page; null: this is the last.")


class DocumentOut(Shape):
    """A document that was added or existed already; it is read and indexed next."""

    source: SourceOut
    is_new: bool


class FilesOut(Shape):
    """Documents, a job for the caption files, one for each recording that is listened to, and the
    files that were refused.
    """

    documents: list[DocumentOut]
    job: JobOut | None
    listening: list[JobOut]
    problems: list[JobProblem]


class StoredMarkOut(Shape):
    """A mark in a list; ``start`` and ``end`` are seconds."""

    query: str
    right: bool
    chunk: int | None = Field(description="The chunk of the passage now; null: it is gone.")
    source_id: UUID = Field(validation_alias=AliasPath("source", "uuid"))
    source_title: str = Field(validation_alias=AliasPath("source", "title"))
    collection: str = Field(validation_alias=AliasPath("source", "collection", "slug"))
    start: Seconds | None
    end: Seconds | None
    page: int | None
    updated_at: datetime


class MarksOut(Shape):
    """A page of marks, latest first; ``next`` is the offset of the next page."""

    marks: list[StoredMarkOut]
    total: Count
    next: Count | None

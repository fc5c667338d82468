"""Places of the index become passages that can be shown: the chunks there, their sources, and the links that open them."""

from collections.abc import Iterable
from typing import NamedTuple
from urllib.parse import quote
from uuid import UUID

from citations.models import Chunk, Source
from citations.passages import Locator, Origin
from transcripts import conf
from transcripts.scope import Scope
from transcripts.timecodes import watch_url


class Candidate(NamedTuple):
    """A chunk that a search found, with what is known of its source: one row of one query."""

    place: int
    chunk: int
    ordinal: int
    text: str
    context: str
    heading: str
    span_start: int
    span_end: int
    start: int | None
    end: int | None
    page: int | None
    last_page: int | None
    source: int
    chunks: int  # of the source
    uuid: UUID
    kind: str
    title: str
    author: str
    url: str
    language: str
    tags: list[str]
    collection: str
    video: int | None
    key: str | None
    youtube_id: str | None

    @property
    def indexed_text(self) -> str:
        """What was embedded and indexed: “context, empty line, text”, as ``Chunk.indexed_text``."""
        return f"{self.context}\n\n{self.text}" if self.context else self.text

    @property
    def locator(self) -> Locator:
        """Where it is said or printed."""
        return Locator(span=(self.span_start, self.span_end), start=self.start, end=self.end, page=self.page, last_page=self.last_page)

    @property
    def origin(self) -> Origin:
        """Its source."""
        return Origin(
            id=self.uuid,
            kind=self.kind,
            title=self.title,
            author=self.author,
            url=self.url,
            language=self.language,
            collection=self.collection,
            tags=tuple(self.tags),
            key=self.key or "",
            video_pk=self.video,
        )

    @property
    def link(self) -> str:
        """The path of this site's page that opens at its second or page."""
        if self.video is None:
            return f"/sources/{self.uuid}/" + (f"?page={self.page}" if self.page else "")
        language = f"&lang={quote(self.language)}" if self.language else ""
        return f"/videos/{self.video}/?t={self._second}s{language}"

    @property
    def timestamp_link(self) -> str:
        """YouTube at that second; for anything else the address of the page here."""
        if self.youtube_id:
            return watch_url(self.youtube_id, at_ms=self.start or 0)
        return conf.public_url() + self.link

    @property
    def _second(self) -> int:
        return (self.start or 0) // 1000


_OF_CHUNK = ("place", "pk", "ordinal", "text", "context", "heading", "span_start", "span_end", "start", "end", "page", "last_page", "source_id")
_OF_SOURCE = ("chunk_count", "uuid", "kind", "title", "author", "url", "language", "tags", "collection__slug", "video_id", "video__key", "video__youtube_id")
_COLUMNS = (*_OF_CHUNK, *(f"source__{name}" for name in _OF_SOURCE))


def fetch(scope: Scope, places: Iterable[int]) -> dict[int, Candidate]:
    """Return the chunks at these places, in one query. Those outside the scope, or gone, are missing."""
    rows = Chunk.objects.filter(place__in=list(places), source__in=Source.objects.visible(scope)).order_by().values_list(*_COLUMNS)
    return {row[0]: Candidate(*row) for row in rows}


def texts(places: Iterable[int]) -> dict[int, str]:
    """Return what is indexed at these places."""
    rows = Chunk.objects.filter(place__in=list(places)).order_by().values_list("place", "context", "text")
    return {place: f"{context}\n\n{text}" if context else text for place, context, text in rows}

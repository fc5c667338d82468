"""Chunks with their sources, as a search fetches them."""

import json
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import Final, NamedTuple
from uuid import UUID

from django.db import connection

from citations.models import indexed_text, path_to, visible_sources_sql
from citations.passages import DropRule, Locator, PassageSource
from citations.providers.languages import empty_words
from citations.text.passage_text import PassageText, read
from citations.text.sentences import Span
from transcripts.core.player import player_of
from transcripts.core.scope import Scope
from transcripts.text.timecodes import watch_url


class Candidate(NamedTuple):
    """A chunk with its source: one row of one query."""

    position: int
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
    digest: str  # of the source's text that the span counts in
    state: str  # of the source
    uuid: UUID
    kind: str
    has_slides: bool
    title: str
    author: str
    url: str
    language: str
    tags: list[str]
    collection: str
    video: int | None
    key: str | None
    youtube_id: str | None
    has_file: bool
    speaker: str  # who alone says it
    sentence_starts: Sequence[tuple[int, int]]  # character in the text, ms

    @property
    def read(self) -> PassageText:
        """Its text, read."""
        return read(self.text, self.language)

    @property
    def indexed_text(self) -> str:
        """The text that was embedded and indexed, as ``Chunk.indexed_text``."""
        return indexed_text(self.context, self.text)

    @property
    def locator(self) -> Locator:
        return Locator(
            span=(self.span_start, self.span_end),
            start=self.start,
            end=self.end,
            page=self.page,
            last_page=self.last_page,
            is_slide=self.has_slides,
        )

    @property
    def origin(self) -> PassageSource:
        return PassageSource(
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
            player=player_of(has_file=self.has_file, youtube_id=self.youtube_id),
        )

    def within(self, place: Locator) -> "Candidate":
        """Return the part of it at a place."""
        if place == self.locator:
            return self
        first, last = (character - self.span_start for character in place.span)
        starts = [(n - first, ms) for n, ms in self.sentence_starts if first <= n < last]
        return self._replace(
            text=self.text[first:last].strip(),
            span_start=place.span[0],
            span_end=place.span[1],
            start=place.start,
            end=place.end,
            sentence_starts=starts,
        )

    def opens_at(self, query: str) -> int | None:
        """Return when (ms) the sentence of a recording that has the words of a query is said.

        None without such words: the sentence that is nearest in meaning is known once it is opened.
        """
        if not self.sentence_starts:
            return None
        span = sentence_with_words(self.text, query, self.language)
        if span is None:
            return None
        number = bisect_right(self.sentence_starts, span[0], key=itemgetter(0))
        return self.sentence_starts[max(0, number - 1)][1]

    def link(self, opens_at: int | None = None) -> str:
        """Return the path of the page here that opens there, or else at the start."""
        start = self._start(opens_at) // 1000 * 1000
        locator = Locator(span=(self.span_start, self.span_end), start=start, page=self.page)
        return path_to(self.uuid, self.video, locator, language=self.language)

    def timestamp_link(self, opens_at: int | None = None) -> str:
        """Return the address on YouTube at that second; for other sources the page here."""
        if self.youtube_id:
            return watch_url(self.youtube_id, at_ms=self._start(opens_at))
        return self.link(opens_at)

    def _start(self, opens_at: int | None) -> int:
        return self.start or 0 if opens_at is None else opens_at


class DroppedRow(NamedTuple):
    """A chunk that is not listed by itself, and the chunk that is in its place, if any."""

    row: Candidate
    rule: DropRule
    kept: int | None = None
    similarity: float | None = None


def sentence_with_words(text: str, query: str, language: str) -> Span | None:
    """Return the characters of the sentence with most of a query's words; None if it has none."""
    passage = read(text, language)
    if not passage.marked(query):
        return None
    return passage.nearest_sentence(query, stops=empty_words(language))


# Raw SQL, because every search runs it and the ORM would take longer than the database. The chunks
# are materialized first: the planner would otherwise scan every visible source.
_FETCH = """
    WITH chunk AS MATERIALIZED (SELECT * FROM citations_chunk WHERE position = ANY(%(positions)s))
    SELECT chunk.position, chunk.id, chunk.ordinal, chunk.text, chunk.context, chunk.heading,
        chunk.span_start, chunk.span_end, chunk.start, chunk.end, chunk.page, chunk.last_page,
        source.id, source.chunk_count, source.digest, source.state, source.uuid, source.kind,
        source.has_slides, source.title, source.author, source.url, source.language, source.tags,
        collection.slug, video.id, video.key, video.youtube_id, media.id IS NOT NULL, chunk.speaker,
        chunk.sentence_starts
    FROM chunk
    JOIN citations_source source ON source.id = chunk.source_id
    JOIN transcripts_collection collection ON collection.id = source.collection_id
    LEFT JOIN transcripts_video video ON video.id = source.video_id
    LEFT JOIN transcripts_mediafile media ON media.video_id = video.id
    WHERE source.id IN ({visible})
"""


def fetch(scope: Scope, positions: Iterable[int]) -> dict[int, Candidate]:
    """Return the chunks at these positions, in one query, without those outside the scope."""
    visible, values = visible_sources_sql(scope)
    with connection.cursor() as cursor:
        cursor.execute(_FETCH.format(visible=visible), {"positions": list(positions), **values})
        rows = cursor.fetchall()
    # All at once, as each call of the decoder costs more than what it decodes.
    tags, starts = (json.loads(f"[{','.join(map(itemgetter(n), rows))}]") for n in (_TAGS, -1))
    return {
        row[0]: Candidate._make((*row[:_TAGS], own, *row[_TAGS + 1 : -1], sentence_starts))
        for row, own, sentence_starts in zip(rows, tags, starts, strict=True)
    }


_TAGS: Final = Candidate._fields.index("tags")

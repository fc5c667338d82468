"""Places of the index become passages that can be shown: the chunks there, their sources, and the links that open them."""

import json
from collections.abc import Iterable
from typing import NamedTuple
from urllib.parse import quote
from uuid import UUID

from django.db import connection

from citations.models import Chunk, visible_sources_sql
from citations.passages import Locator, PassageSource
from transcripts import conf
from transcripts.scope import Scope
from transcripts.timecodes import watch_url


class Candidate(NamedTuple):
    """A chunk that a search found, with what is known of its source: one row of one query."""

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
        return Locator(
            span=(self.span_start, self.span_end),
            start=self.start,
            end=self.end,
            page=self.page,
            last_page=self.last_page,
        )

    @property
    def origin(self) -> PassageSource:
        """Its source."""
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
        )

    @property
    def link(self) -> str:
        """The path of this site's page that opens at its second or page."""
        if self.video is None:
            return f"/sources/{self.uuid}/" + (
                f"pages/{self.page}/?from={self.span_start}&to={self.span_end}" if self.page else ""
            )
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


# Written out, because every search asks it, and putting it together would take longer than answering it. The chunks are found first, by their places: left
# to itself, the planner looks through all of every visible source.
_FETCH = """
    WITH chunk AS MATERIALIZED (SELECT * FROM citations_chunk WHERE position = ANY(%(places)s))
    SELECT chunk.position, chunk.id, chunk.ordinal, chunk.text, chunk.context, chunk.heading, chunk.span_start, chunk.span_end, chunk.start, chunk.end,
        chunk.page, chunk.last_page, source.id, source.chunk_count, source.digest, source.uuid, source.kind, source.title, source.author, source.url,
        source.language, source.tags, shelf.slug, video.id, video.key, video.youtube_id
    FROM chunk
    JOIN citations_source source ON source.id = chunk.source_id
    JOIN transcripts_collection shelf ON shelf.id = source.collection_id
    LEFT JOIN transcripts_video video ON video.id = source.video_id
    WHERE source.id IN ({visible})
"""


def fetch(scope: Scope, places: Iterable[int]) -> dict[int, Candidate]:
    """Return the chunks at these places, in one query. Those outside the scope, or gone, are missing."""
    visible, values = visible_sources_sql(scope)
    with connection.cursor() as cursor:
        cursor.execute(_FETCH.format(visible=visible), {"places": list(places), **values})
        return {
            row[0]: Candidate._make((*row[:_TAGS], json.loads(row[_TAGS]), *row[_TAGS + 1 :]))
            for row in cursor.fetchall()
        }


def texts(places: Iterable[int]) -> dict[int, str]:
    """Return the texts at these places, without their contexts: what phrases are looked for in."""
    return dict(
        Chunk.objects.filter(position__in=list(places)).order_by().values_list("position", "text")
    )


_TAGS = Candidate._fields.index("tags")

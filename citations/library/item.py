"""An item of the library: a recording, a document or a lecture, with what lists show of it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any, Final

from django.contrib.auth.models import User
from django.db.models import Model, Prefetch
from django.utils.translation import gettext_lazy as _

from citations.formats import VIDEO, kind_choices
from citations.library import reading_progress
from citations.models import LectureSession, ReadingProgress, Source, State
from citations.models.sources import TRANSCRIPT, shown_kind
from transcripts.core.player import Player
from transcripts.core.site_path import site_path
from transcripts.models import Transcript, Video

LECTURE: Final = "lecture"
COVER_WIDTH: Final = 320  # pixels
KINDS: Final = (*kind_choices(), (TRANSCRIPT, _("transcript")), (LECTURE, _("lecture")))
TABLES: Final[dict[type[Model], str]] = {
    Video: "video",
    Source: "document",
    LectureSession: "lecture",
}

ChosenRow = tuple[str, int, str | None, Any, str | None]  # table, key, group and sort keys


@dataclass(frozen=True, kw_only=True)
class Item:
    """A recording, a document or a lecture. ``row`` is a Video, a Source or a LectureSession."""

    row: Any
    group: str | None = None  # the heading above it, where it is the first below that
    sources: Sequence[Source] = field(default_factory=tuple)
    progress: ReadingProgress | None = None  # of the user who looks at it

    @property
    def kind(self) -> str:
        kinds = {Video: VIDEO, LectureSession: LECTURE}
        return str(kinds.get(type(self.row)) or self.row.kind)

    @property
    def shown_kind(self) -> str:
        """The kind that lists show."""
        player = self.row.player if isinstance(self.row, Video) else Player.NONE
        return shown_kind(self.kind, player)

    @property
    def reference(self) -> str:
        """Its id among all items, such as ``video-12``."""
        return f"{TABLES[type(self.row)]}-{self.row.pk}"

    @property
    def title(self) -> str:
        return str(self.row)

    @property
    def address(self) -> str:
        """The path of its page."""
        if isinstance(self.row, Video):
            return self.row.path
        folder = "lectures" if isinstance(self.row, LectureSession) else "sources"
        return site_path(f"/{folder}/{self.row.uuid}/")

    @property
    def author(self) -> str:
        return str(getattr(self.row, "channel", "") or getattr(self.row, "author", ""))

    @property
    def tags(self) -> list[str]:
        return list(getattr(self.row, "tags", ()))

    @property
    def published_at(self) -> datetime | None:
        return getattr(self.row, "published_at", None)

    @cached_property
    def languages(self) -> list[str]:
        if isinstance(self.row, Video):
            return sorted({transcript.language or "?" for transcript in self.row.transcripts.all()})
        return [self.row.language] if self.row.language else []

    @property
    def duration(self) -> int:
        """Milliseconds of a recording or lecture, 0 if they are unknown."""
        return int(getattr(self.row, "duration", 0) or getattr(self.row, "position", 0))

    @property
    def pages(self) -> int:
        """The pages of a document, 0 before it is read."""
        document = getattr(self.row, "document", None) if isinstance(self.row, Source) else None
        return document.page_count if document else 0

    @property
    def cover(self) -> str:
        """The path of a small image of its first page; empty if its pages have no images."""
        if not self.pages or not self.row.document.format.is_laid_out:
            return ""
        version = self.row.document.digest[:8]
        image = f"/sources/{self.row.uuid}/pages/1/image/"
        return site_path(f"{image}?width={COVER_WIDTH}&v={version}")

    @property
    def actions(self) -> list[str]:
        """What the list offers to do with it beside changing it, of what may be left out."""
        possible = {
            "index": bool(self.sources),
            "first": any(source.is_unfinished for source in self.sources),
            "fetch": bool(getattr(self.row, "youtube_id", None)),
        }
        return [name for name, is_possible in possible.items() if is_possible]

    @property
    def percent_read(self) -> int:
        """How far its reader is, 0 to 100."""
        length = self.duration or self.pages
        return min(100, 100 * self.progress.position // length) if self.progress and length else 0

    @property
    def problem(self) -> Source | None:
        """The source whose indexing failed or has not ended, the worst first."""
        states = [State.FAILED, State.PENDING, State.WORDS]
        late = [source for source in self.sources if source.state in states]
        return min(late, key=lambda source: states.index(State(source.state)), default=None)


def load_items(
    chosen: "Sequence[ChosenRow]", *, after: int, is_grouped: bool, reader: User | None
) -> Iterator[Item]:
    """Yield the items of the rows from ``after`` on, and the heading where a group begins."""
    keys: dict[str, list[int]] = {name: [] for name in TABLES.values()}
    for table, key, *_rest in chosen[after:]:
        keys[table].append(key)
    rows: dict[str, dict[int, Any]] = {
        "video": _video_rows(keys["video"]),
        "document": _document_rows(keys["document"]),
        "lecture": LectureSession.objects.select_related("collection").in_bulk(keys["lecture"]),
    }
    progress = (
        reading_progress.of_items(reader, videos=keys["video"], documents=keys["document"])
        if reader
        else {}
    )
    for place, (table, key, group, *_rest) in enumerate(chosen[after:], start=after):
        if row := rows[table].get(key):  # else it was deleted meanwhile
            is_first = is_grouped and (place == 0 or chosen[place - 1][2] != group)
            own = (row,) if isinstance(row, Source) else ()
            sources = tuple(row.sources.all()) if isinstance(row, Video) else own
            yield Item(
                row=row,
                group=(group or "") if is_first else None,
                sources=sources,
                progress=progress.get((table, key)),
            )


def item_of(row: Any, *, reader: User) -> Item:
    """Return a row of one of the tables as an item of the library, read again."""
    chosen: ChosenRow = (TABLES[type(row)], row.pk, None, None, None)
    return next(load_items([chosen], after=0, is_grouped=False, reader=reader))


def _video_rows(keys: list[int]) -> dict[int, Video]:
    rows = Video.objects.select_related("collection", "media")
    rows = rows.defer("description", "chapters", "languages")
    parts = Prefetch("transcripts", queryset=Transcript.objects.light()), "sources"
    return rows.prefetch_related(*parts).in_bulk(keys)


def _document_rows(keys: list[int]) -> dict[int, Source]:
    rows = Source.objects.select_related("collection", "document")
    return rows.defer("document__outline", "document__note").in_bulk(keys)

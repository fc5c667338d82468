"""What a shared link shows, and what of it plays."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias
from uuid import UUID

from citations.documents.page_images import PageImage
from citations.models import SharedClip, SharedLink, Source
from citations.notebook.answers import AnswerRecord
from citations.notebook.highlights import PlacedHighlight
from citations.passages import Locator
from transcripts.core.player import Player, player_of
from transcripts.models import Video

Extent: TypeAlias = tuple[UUID, int, int]  # the id of a source, from when until when (ms)


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedPassage:
    """A page of a document (``image`` has its size), the speech of a clip, or words of either.

    ``speaker`` is who alone says them, where captions name speakers.
    """

    source: Source
    locator: Locator
    text: str
    speaker: str = ""
    image: PageImage | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedItem:
    """What a link shows: a highlight, an answer or a passage.

    ``recordings`` are those that it quotes, by the ids of their sources, ``clips`` what was cut out
    of their files.
    """

    link: SharedLink
    highlight: PlacedHighlight | None = None
    answer: AnswerRecord | None = None
    passage: SharedPassage | None = None
    recordings: Mapping[UUID, Video] = field(default_factory=dict)
    clips: Mapping[Extent, SharedClip] = field(default_factory=dict)

    @property
    def places(self) -> tuple[tuple[UUID, Locator | None], ...]:
        """Where its words stand: the ids of their sources, and where there."""
        if self.passage is not None:
            return ((self.passage.source.uuid, self.passage.locator),)
        if self.highlight is not None:
            return ((self.highlight.row.source.uuid, self.highlight.locator),)
        quotes = self.answer.quotes if self.answer else ()
        return tuple((quote.origin.id, quote.locator) for quote in quotes)

    def clip_of(self, source: UUID, locator: Locator | None) -> SharedClip | None:
        """Return what was cut out of a recording's file for a place; None for nothing yet."""
        extent = extent_of(source, locator)
        return self.clips.get(extent) if extent else None

    def player_of(self, source: UUID, locator: Locator | None) -> Player:
        """Return what plays a place: a clip of the file, where there is one, before YouTube."""
        video = self.recordings.get(source)
        clip = self.clip_of(source, locator)
        has_file = clip is not None and bool(clip.media_type)
        return player_of(has_file=has_file, youtube_id=video.youtube_id if video else None)

    @property
    def has_youtube(self) -> bool:
        """Whether YouTube's player plays any of it."""
        return any(self.player_of(*place) == Player.YOUTUBE for place in self.places)


def extent_of(source: UUID, locator: Locator | None) -> Extent | None:
    """Return what a place would play; None for words of documents."""
    if locator is None or locator.start is None or locator.end is None:
        return None
    return (source, locator.start, locator.end) if locator.end > locator.start else None

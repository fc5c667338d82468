"""What a shared link shows, and the clips that it plays of the files of recordings.

A clip is cut once, when its link is made, and anew when its words have moved or its file was
replaced. It is deleted with its link and its file, and when the link expires; if that is renewed,
it is cut anew.
"""

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeAlias
from uuid import UUID

from django.db import transaction

from citations import conf
from citations.documents.page_images import PageImage
from citations.errors import CannotBeCut
from citations.models import SharedClip, SharedLink, Source
from citations.notebook.answers import AnswerRecord
from citations.notebook.highlights import PlacedHighlight
from citations.passages import Locator
from citations.readers.clips import cutter
from citations.reading import transcript as reading_transcript
from transcripts.core.errors import InvalidInput
from transcripts.core.player import Player, player_of
from transcripts.core.work.disk import make_private_folder
from transcripts.media import files as media
from transcripts.models import MediaFile, Video
from transcripts.text.timecodes import clock

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


MAX_CLIP: Final = 600_000  # ms


def moment_of(source: Source, shown: int | None, *, is_end: bool = False) -> int | None:
    """Return when the sentence, else the line begins, or the sentence ends, that a page shows under
    a whole second (ms): there, times are cut to seconds. Other times stay as they are.
    """
    if shown is None or shown % 1000 or source.transcript is None:
        return shown
    sentences = reading_transcript.read(source.transcript).sentences
    borders = [sentence.end if is_end else sentence.start for sentence in sentences]
    borders += [first for first, _, _ in source.transcript.cues]
    return next((border for border in borders if shown <= border < shown + 1000), shown)


def require_order(start: int, end: int) -> None:
    """Raise ``InvalidInput`` for a clip that ends before it begins, or is too long."""
    if end <= start:
        raise _wrong_end("The clip ends before it begins.", hint="Choose a later end.")
    if end - start > MAX_CLIP:
        raise _wrong_end(f"A clip lasts at most {MAX_CLIP // 60_000} minutes.")


def require_length(source: Source, end: int | None) -> None:
    """Raise ``InvalidInput`` for an end beyond that of a recording. Times are shown cut to seconds,
    so that the second in which it ends is none.
    """
    if end is None or source.transcript is None or source.video is None:
        return
    length = max(source.transcript.duration, source.video.duration)
    if end >= length + 1000:
        raise _wrong_end(f"The recording ends at {clock(length)}, before the clip does.")


def _wrong_end(message: str, *, hint: str = "Choose an earlier end.") -> InvalidInput:
    error = InvalidInput(message, hint=hint)
    error.complaints = (("end", error.message),)
    return error


def find_clips(item: SharedItem) -> dict[Extent, SharedClip]:
    """Return what was cut of what an item shows now."""
    clips = {(clip.media_id, clip.start, clip.end): clip for clip in item.link.clips.all()}
    keys = {extent: (file.pk, *extent[1:]) for extent, file in _played(item).items()}
    return {extent: clips[key] for extent, key in keys.items() if key in clips}


def cut_clips(item: SharedItem) -> None:
    """Cut what a link plays, if it is not there yet. Raises what ``cutter.cut`` raises."""
    _cut(item, keeps_failures=False)


def recut_clips(item: SharedItem) -> bool:
    """Cut what a link plays now, and delete what it played before; remember what cannot be cut.

    Return whether there was anything to do. Raises ``CutterBusy`` and ``CutterMissing``.
    """
    if is_missing := len(item.clips) < len(_played(item)):
        _cut(item, keeps_failures=True)
    return is_missing


def _played(item: SharedItem) -> dict[Extent, MediaFile]:
    """Return what a link plays, and of which files."""
    if not item.link.plays_file:
        return {}
    files: dict[Extent, MediaFile] = {}
    for source, locator in item.places:
        file = getattr(item.recordings.get(source), "media", None)
        if file is not None and (extent := extent_of(source, locator)):
            files[extent] = file
    return files


@transaction.atomic
def _cut(item: SharedItem, *, keeps_failures: bool) -> None:
    link = SharedLink.objects.select_for_update().filter(pk=item.link.pk).first()
    if link is None:
        return  # it was revoked meanwhile
    current = find_clips(item)
    link.clips.exclude(pk__in=[clip.pk for clip in current.values()]).delete()
    extents_of_files: dict[MediaFile, list[Extent]] = {}
    for extent, file in _played(item).items():
        if extent not in current:
            extents_of_files.setdefault(file, []).append(extent)
    for file, extents in extents_of_files.items():
        folder = conf.cache_dir()
        make_private_folder(folder)
        # The file, where a child process can read it.
        with tempfile.TemporaryDirectory(dir=folder, prefix="clip-") as name:
            path = Path(name) / "file"
            with path.open("wb") as target:
                target.writelines(media.pieces(file))
            for _, start, end in extents:
                clip = SharedClip(link=link, media=file, start=start, end=end, size=0)
                _fill(clip, path, keeps_failures=keeps_failures)


def _fill(clip: SharedClip, path: Path, *, keeps_failures: bool) -> None:
    """Store a clip; one that cannot be cut, without a type and bytes, if failures are kept."""
    start, end, target = clip.start, clip.end, path.with_name("clip")
    try:
        if end - start > MAX_CLIP:
            raise CannotBeCut(f"A link plays at most {MAX_CLIP // 60_000} minutes.")
        made = cutter.cut(path, clip.media.media_type, target, start=start, end=end)
    except CannotBeCut:
        if not keeps_failures:
            raise
        clip.save()
        return
    clip.name, clip.media_type, clip.lead = made.name, made.media_type, made.lead
    clip.save()
    with target.open("rb") as file:
        media.store_parts(clip, file, most=2 * cutter.MAX_BYTES)
    target.unlink()

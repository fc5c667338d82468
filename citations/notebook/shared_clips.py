"""What links play of the files of recordings: clips, kept beside their links.

A clip is cut once, when its link is made, and anew when its words have moved or its file was
replaced. It is deleted with its link and its file, and when the link expires; if that is renewed,
it is cut anew.
"""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.db import transaction

from citations import conf
from citations.errors import CannotBeCut
from citations.models import SharedClip, SharedLink
from citations.notebook import clip_times
from citations.notebook.shared_items import Extent, SharedItem, extent_of
from citations.readers.clips import cutter
from transcripts.core.work.disk import make_private_folder
from transcripts.media import files as media
from transcripts.models import MediaFile


def find(item: SharedItem) -> dict[Extent, SharedClip]:
    """Return what was cut of what an item shows now."""
    clips = {(clip.media_id, clip.start, clip.end): clip for clip in item.link.clips.all()}
    keys = {extent: (file.pk, *extent[1:]) for extent, file in _played(item).items()}
    return {extent: clips[key] for extent, key in keys.items() if key in clips}


def cut(item: SharedItem) -> None:
    """Cut what a link plays, if it is not there yet. Raises what ``cutter.cut`` raises."""
    _cut(item, keeps_failures=False)


def recut(item: SharedItem) -> bool:
    """Cut what a link plays now, and delete what it played before; remember what cannot be cut.

    Return whether there was anything to do. Raises ``CutterBusy`` and ``CutterMissing``.
    """
    is_missing = len(item.clips) < len(_played(item))
    if is_missing:
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
    current = find(item)
    link.clips.exclude(pk__in=[clip.pk for clip in current.values()]).delete()
    extents_of_files: dict[MediaFile, list[Extent]] = {}
    for extent, file in _played(item).items():
        if extent not in current:
            extents_of_files.setdefault(file, []).append(extent)
    for file, extents in extents_of_files.items():
        with _file_on_disk(file) as path:
            for _, start, end in extents:
                clip = SharedClip(link=link, media=file, start=start, end=end, size=0)
                _fill(clip, path, keeps_failures=keeps_failures)


def _fill(clip: SharedClip, path: Path, *, keeps_failures: bool) -> None:
    """Store a clip; one that cannot be cut, without a type and bytes, if failures are kept."""
    start, end, target = clip.start, clip.end, path.with_name("clip")
    try:
        if end - start > clip_times.MAX_CLIP:
            raise CannotBeCut(f"A link plays at most {clip_times.MAX_CLIP // 60_000} minutes.")
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


@contextmanager
def _file_on_disk(file: MediaFile) -> Iterator[Path]:
    """Write a file where a child process can read it, in a folder of its own."""
    folder = conf.cache_dir()
    make_private_folder(folder)
    with tempfile.TemporaryDirectory(dir=folder, prefix="clip-") as name:
        path = Path(name) / "file"
        with path.open("wb") as target:
            for piece in media.pieces(file):
                target.write(piece)
        yield path

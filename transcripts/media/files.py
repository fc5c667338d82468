"""Audio and video files beside transcripts: stored in parts, read in ranges."""

import re
from collections.abc import Iterable, Iterator
from pathlib import PurePath
from typing import IO, Any, Final, TypeVar

from django.db import transaction
from django.db.models import Q, Sum

from transcripts import captions, conf
from transcripts.core import audit
from transcripts.core.audit import Action
from transcripts.core.errors import InvalidInput, MediaNotFound, MediaTooLarge, MediaWithoutCaptions
from transcripts.core.sanitize import clean
from transcripts.core.scope import Scope
from transcripts.models import Collection, Job, MediaFile, PlayableFile, Video
from transcripts.models.videos import clean_key

PART: Final = 1 << 20  # bytes
MAX_READ: Final = 2 * PART  # bytes of one answer; players ask for more as they play
HEAD: Final = 65_536  # bytes that tell what a file is

_ENDING: Final = re.compile(
    r"(?<=.)\.(?:aac|flac|m4[abv]|mov|mp[34]|og[agv]|opus|wav|webm)$", re.IGNORECASE
)  # of a file's name
_PICTURES: Final = (b"heic", b"heix", b"mif1", b"avif", b"avis")  # still ones, in the same boxes
_SOUND: Final = (b"M4A ", b"M4B ")
_MP3: Final = re.compile(rb"ID3|\xff[\xe2\xe3\xf2\xf3\xfa\xfb]")  # not UTF-16, which begins so, too
_ADTS: Final = re.compile(rb"\xff[\xf0\xf1\xf8\xf9]")
_SEEN: Final = re.compile(rb"V_VP8|V_VP9|V_AV1")  # codecs of pictures in WebM

File = TypeVar("File", bound=IO[bytes])


def type_of(head: bytes) -> str:
    """Return the media type of a file with these first ``HEAD`` bytes, as far as browsers can play
    it; empty for any other file.
    """
    if head[4:8] == b"ftyp":
        brand = head[8:12]
        return "" if brand in _PICTURES else "audio/mp4" if brand in _SOUND else "video/mp4"
    if head.startswith(b"\x1aE\xdf\xa3") and b"webm" in head[:64]:
        return "video/webm" if _SEEN.search(head) else "audio/webm"
    if head.startswith(b"OggS"):
        return "video/ogg" if b"\x80theora" in head else "audio/ogg"
    if head.startswith(b"RIFF") and head[8:12] == b"WAVE":
        return "audio/wav"
    if head.startswith(b"fLaC"):
        return "audio/flac"
    if _MP3.match(head):
        return "audio/mpeg"
    return "audio/aac" if _ADTS.match(head) else ""


def is_media(file: IO[bytes]) -> bool:
    """Whether a file's content is sound or a video that browsers play; rewinds it."""
    return bool(_type_of(file))


def recording_name(name: str) -> str:
    """Return what a file and the captions of the same recording have in common in their names,
    whatever their case: cameras write .MP4, and recognisers talk.MP4.vtt.
    """
    return key_of(name).casefold()


def beside(names: Iterable[str], media: Iterable[File]) -> tuple[list[File], list[File]]:
    """Return the media files that belong to captions of these names, and the others."""
    recordings = {recording_name(name) for name in names}
    parts: tuple[list[File], list[File]] = ([], [])
    for file in media:
        parts[recording_name(str(file.name)) not in recordings].append(file)
    return parts


def add(collection: Collection, file: IO[bytes], *, name: str) -> Video:
    """Store a file with the recording of the same name, and return that: of several, the one with
    its very name.

    Raises ``MediaWithoutCaptions`` if there is none, and what ``replace`` raises.
    """
    base = key_of(name)
    similar = Video.objects.filter(
        Q(key__iexact=base) | Q(key__istartswith=f"{base}."), collection=collection, deletion=None
    )
    own = [
        video
        for video in similar.select_related("collection")
        if recording_name(f"{video.key}.vtt") == base.casefold()
    ]
    if not own:
        raise MediaWithoutCaptions(f"“{clean(name, 300)}” has no captions.")
    video = min(own, key=lambda video: (_difference(name, video.key), video.pk))
    replace(video, file, name=name)
    return video


def _difference(name: str, key: str) -> int:
    """Rate how a file is named beside a recording: 0 as it is, 1 but for its endings, 2 alike."""
    return [clean_key(_last(name)), key_of(name), key].index(key)


def key_of(name: str) -> str:
    """Return the id of a recording whose file has this name, without endings and language."""
    last = _last(name)
    stem = captions.split_name(f"{PurePath(last).stem or last}.vtt")[0]
    return clean_key(_ENDING.sub("", stem) or stem)


def _last(name: str) -> str:
    return PurePath(name.replace("\\", "/")).name


def replace(video: Video, file: IO[bytes], *, name: str) -> None:
    """Make a file the one that plays beside a recording.

    Raises ``MediaTooLarge``, and ``InvalidInput`` if browsers cannot play it.
    """
    with transaction.atomic():
        Video.objects.select_for_update().get(pk=video.pk)
        MediaFile.objects.filter(video=video).delete()
        _store(file, name=name, video=video)
        _record(video)


def remove(video: Video) -> None:
    with transaction.atomic():
        MediaFile.objects.filter(video=video).delete()
        _record(video)


def keep_for(job: Job, file: IO[bytes], *, name: str) -> None:
    """Store a file until the job has read the captions beside it. Raises as ``replace``."""
    with transaction.atomic():
        _store(file, name=name, job=job)


def hand_over(job: Job, captions_name: str, video: Video) -> str:
    """Give a recording the file that was sent beside its captions; return its name, "" for none."""
    expected, key = recording_name(captions_name), captions.split_name(_last(captions_name))[0]
    files = MediaFile.objects.filter(job=job).order_by("pk")
    own = [media for media in files if recording_name(media.name) == expected]
    media = min(own, key=lambda media: _difference(media.name, clean_key(key)), default=None)
    if media is None:
        return ""
    give(media, video)
    return media.name


def give(media: MediaFile, video: Video) -> None:
    """Make a file that a job kept the one that plays beside a recording."""
    MediaFile.objects.filter(video=video).delete()
    media.video, media.job = video, None
    media.save(update_fields=["video", "job"])


def drop(job: Job) -> None:
    """Delete the files whose captions could not be read, and say so with the job."""
    remaining = MediaFile.objects.filter(job=job)
    problems = {
        media.name: MediaWithoutCaptions(f"The captions of “{media.name}” could not be read.")
        for media in remaining
    }
    if problems:
        job.add_problems(problems)
        remaining.delete()


def find(video: Video) -> MediaFile:
    """Return the file that plays beside a recording. Raises ``MediaNotFound``."""
    media = MediaFile.objects.filter(video=video).first()
    if media is None:
        raise MediaNotFound(f"“{video}” has no audio or video file.")
    return media


def read(media: PlayableFile, first: int, last: int) -> bytes:
    """Return the bytes from ``first`` to ``last``, or up to ``MAX_READ`` of them."""
    stop = min(last + 1, first + MAX_READ)
    ordinals = range(first // PART, (stop - 1) // PART + 1)
    parts = media.parts.filter(ordinal__in=ordinals).order_by("ordinal")
    data = b"".join(bytes(part) for part in parts.values_list("data", flat=True))
    offset = ordinals.start * PART
    return data[first - offset : stop - offset]


def pieces(media: PlayableFile) -> Iterator[bytes]:
    """Yield a file, two megabytes at a time."""
    for first in range(0, media.size, MAX_READ):
        yield read(media, first, media.size - 1)


def store_parts(media: PlayableFile, file: IO[bytes], *, most: int) -> None:
    """Store the bytes of a file. Raises ``MediaTooLarge``."""
    for ordinal in range(most // PART + 1):
        if not (data := file.read(PART)):
            break
        media.size += len(data)
        if media.size > most:
            raise MediaTooLarge(f"“{media.name}” has more than {most:,} bytes.")
        media.parts.create(ordinal=ordinal, data=data)
    media.save(update_fields=["size"])


def total_size(scope: Scope) -> int:
    """Return how many bytes the files have that play beside the recordings of a scope."""
    files = MediaFile.objects.filter(video__in=Video.objects.visible(scope))
    return int(files.aggregate(total=Sum("size"))["total"] or 0)


def _store(file: IO[bytes], *, name: str, **owner: Any) -> None:
    media_type = _type_of(file)
    if not media_type:
        raise InvalidInput(
            "This is no audio or video file that browsers play.",
            hint="Convert it to MP3, M4A, Ogg, WAV, FLAC, MP4 or WebM.",
        )
    media = MediaFile.objects.create(
        name=clean(_last(name), 300), media_type=media_type, size=0, **owner
    )
    store_parts(media, file, most=conf.max_media_bytes())


def _type_of(file: IO[bytes]) -> str:
    file.seek(0)
    head = file.read(HEAD)
    file.seek(0)
    return type_of(head)


def _record(video: Video) -> None:
    audit.record(Action.CHANGE, "video", video.key, collection=video.collection, fields=("media",))

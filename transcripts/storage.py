"""How one recording's captions become rows: video, transcript, search index and original, in one transaction."""

import hashlib
import json
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePosixPath
from typing import Any

from django.db import transaction
from django.utils import timezone

from transcripts import bm25, captions, conf, files
from transcripts.cues import Cue, group_by_time
from transcripts.errors import BadJson, CaptionsTooLarge, Conflict, EmptyCaptions
from transcripts.models import (
    KEY_LENGTH,
    CaptionOrigin,
    Collection,
    RawCaptions,
    Transcript,
    TranscriptIndex,
    Video,
)
from transcripts.sanitize import clean
from transcripts.youtube import FetchedTranscript, VideoInfo, info_from_json

ALIKE = 0.5  # share of common words above which two texts are versions of one recording
MAX_TAGS = 50


class StorageChange(StrEnum):
    """What storing did."""

    ADDED = "added"
    UPDATED = "updated"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True)
class StoredTranscript:
    """A transcript in the library, and what storing it changed."""

    video: Video
    transcript: Transcript
    change: StorageChange


@dataclass(frozen=True, slots=True)
class Metadata:
    """What is known of a recording beside its text; empty values change nothing that is stored already."""

    key: str
    title: str = ""
    info: VideoInfo | None = None
    youtube_id: str = ""
    tags: tuple[str, ...] = ()
    partial: bool = False


def add_captions(
    collection: Collection,
    data: bytes,
    *,
    name: str,
    info: bytes | None = None,
    language: str = "",
    tags: Sequence[str] = (),
    title: str = "",
    key: str = "",
    settled: Container[int] = (),
) -> StoredTranscript:
    """Parse one caption file and store it; ``info`` is yt-dlp's metadata file. Raises ``CaptionError`` kinds, ``Conflict``.

    Transcripts whose primary keys are in ``settled`` stay as they are: an import passes those that it has written already, so that of several
    files of one recording the first counts, and doing the same import again changes nothing.
    """
    name = clean(name, 300)
    check_size(name, data)
    parsed = captions.parse(data, name=name)
    if not parsed.cues:
        raise EmptyCaptions(
            f"Nothing is said in “{name}”.", hint="Check that the file is the right one."
        )
    known = _info(info)
    stem, name_language = captions.split_name(PurePosixPath(name).name)
    found = Metadata(
        key=clean_key(key or parsed.id or (known.id if known else "") or stem),
        title=title or parsed.title or (known.title if known else ""),
        info=known,
        youtube_id=(known.id if known else "") or parsed.youtube_id,
        tags=tuple(tags),
    )
    origin = CaptionOrigin.AUTO if files.is_auto(name) else CaptionOrigin.UPLOAD
    language = language or name_language or parsed.language
    return _store(
        collection,
        found,
        cues=parsed.cues,
        language=language,
        origin=origin,
        raw_name=name,
        raw=data,
        settled=settled,
    )


def add_text(
    collection: Collection,
    text: str,
    *,
    title: str,
    language: str = "",
    tags: Sequence[str] = (),
    key: str = "",
) -> StoredTranscript:
    """Store a pasted transcript panel or plain text. Raises ``CaptionError`` kinds."""
    name = f"{clean_key(key or title or 'pasted')}.txt"
    return add_captions(
        collection,
        text.encode(errors="replace"),
        name=name,
        title=title,
        language=language,
        tags=tags,
        key=key,
    )


def reparse(transcript: Transcript) -> StorageChange:
    """Read the kept original again, with today's parser. Raises ``Conflict`` where none was kept."""
    raw = RawCaptions.objects.filter(transcript=transcript).first()
    if raw is None:
        raise Conflict(
            f"The original of “{transcript.video}” was not kept.", hint="Fetch or add it again."
        )
    parsed = captions.parse(bytes(raw.data), name=raw.name)
    with transaction.atomic():
        return _write(
            transcript.video,
            parsed.cues,
            language=transcript.language,
            origin=transcript.origin,
            old=transcript,
        )[1]


def store_fetched(
    collection: Collection, fetched: FetchedTranscript, *, tags: Sequence[str] = ()
) -> StoredTranscript:
    """Store what YouTube gave."""
    info = fetched.info
    found = Metadata(
        key=info.id,
        info=info,
        title=info.title,
        youtube_id=info.id,
        tags=tuple(tags),
        partial=fetched.partial,
    )
    return _store(
        collection,
        found,
        cues=fetched.cues,
        language=fetched.language,
        origin=fetched.origin,
        raw_name=fetched.raw_name,
        raw=fetched.raw,
    )


def clean_tags(tags: Iterable[str]) -> list[str]:
    """Return tags as they are stored: trimmed, each once, at most 50 of 100 characters."""
    return [tag for tag in dict.fromkeys(clean(tag, 100) for tag in tags) if tag][:MAX_TAGS]


def clean_key(text: str) -> str:
    """Return an id as it is stored and looked up: trimmed, of printable characters, slashes as hyphens, at most 200 long."""
    printable = "".join(character if character.isprintable() else " " for character in text)
    return (
        " ".join(printable.replace("/", "-").replace("\\", "-").split())[:KEY_LENGTH] or "untitled"
    )


def _store(
    collection: Collection,
    found: Metadata,
    *,
    cues: Sequence[Cue],
    language: str,
    origin: str,
    raw_name: str,
    raw: bytes,
    settled: Container[int] = (),
) -> StoredTranscript:
    language = clean(language, 35)
    with transaction.atomic():
        video = _store_video(collection, found, duration=cues[-1].end)
        old = (
            Transcript.objects.light()
            .filter(video=video, language=language, origin=origin)
            .select_related("raw")
            .first()
        )
        if old is not None:
            _refuse_other_recording(video, old, cues, raw_name=raw_name)
            if old.pk in settled:
                return StoredTranscript(video=video, transcript=old, change=StorageChange.UNCHANGED)
        transcript, change = _write(video, cues, language=language, origin=origin, old=old)
        if raw:
            _keep_original(transcript, old, name=clean(raw_name, 300), data=raw)
    return StoredTranscript(video=video, transcript=transcript, change=change)


def _store_video(collection: Collection, found: Metadata, *, duration: int) -> Video:
    values = _video_values(found)
    defaults = {
        **values,
        "title": values.get("title") or found.key,
        "duration": max(duration, values.get("duration", 0)),
    }
    # Locked, so that nothing of what others change or delete meanwhile is written back.
    video, created = Video.objects.select_for_update().get_or_create(
        collection=collection, key=found.key, defaults=defaults
    )
    values["duration"] = max(duration, values.get("duration", 0), video.duration)
    if not created and (
        new := {name: value for name, value in values.items() if getattr(video, name) != value}
    ):
        for name, value in new.items():
            setattr(video, name, value)
        video.save(update_fields=[*new, "updated_at"])
    return video


def _video_values(found: Metadata) -> dict[str, Any]:
    values: dict[str, Any] = {
        "title": clean(found.title, 300),
        "youtube_id": found.youtube_id,
        "tags": clean_tags(found.tags),
    }
    if info := found.info:
        values |= {
            "channel": info.channel[:200],
            "channel_id": info.channel_id[:64],
            "description": info.description,
            "duration": info.duration,
            "published_at": info.published_at,
            "chapters": [[chapter.start, chapter.title] for chapter in info.chapters],
            "languages": list(info.languages),
        }
    return {name: value for name, value in values.items() if value} | {"partial": found.partial}


def _refuse_other_recording(
    video: Video, old: Transcript, cues: Sequence[Cue], *, raw_name: str
) -> None:
    """Keep a second file of the same name from overwriting another recording; a new version of the same one may."""
    if (
        old.origin not in (CaptionOrigin.UPLOAD, CaptionOrigin.AUTO)
        or not hasattr(old, "raw")
        or old.raw.name == raw_name
    ):
        return
    before, now = _vocabulary(captions.from_json(old.cues)), _vocabulary(cues)
    if len(before & now) < ALIKE * min(len(before), len(now)):
        raise Conflict(
            f"“{video.key}” already names another recording ({old.raw.name}).",
            hint="Rename the file, or add it to another collection.",
        )


def _vocabulary(cues: Iterable[Cue]) -> set[str]:
    return {token for cue in cues for token in bm25.tokenize(cue.text)}


def _write(
    video: Video, cues: Sequence[Cue], *, language: str, origin: str, old: Transcript | None
) -> tuple[Transcript, StorageChange]:
    rows = captions.to_json(cues)
    digest = hashlib.sha256(
        json.dumps(rows, ensure_ascii=False, separators=(",", ":")).encode()
    ).hexdigest()
    word_times = captions.word_times_to_json(cues)
    if old is not None and old.digest == digest and not (word_times and _lacks_word_times(old)):
        return old, StorageChange.UNCHANGED
    values = {
        "cues": rows,
        "word_times": word_times,
        "digest": digest,
        "cue_count": len(rows),
        "characters": sum(len(cue.text) + 1 for cue in cues) - 1,
        "duration": cues[-1].end,
        "updated_at": timezone.now(),
    }
    # One statement each: a second worker with the same captions changes nothing, and thousands of files cost a third of the time.
    written = Transcript(video=video, language=language, origin=origin, **values)
    Transcript.objects.bulk_create(
        [written],
        update_conflicts=True,
        unique_fields=["video", "language", "origin"],
        update_fields=[*values],
    )
    _index(written, cues)
    return written, StorageChange.ADDED if old is None else StorageChange.UPDATED


def _lacks_word_times(transcript: Transcript) -> bool:
    return not Transcript.objects.values_list("word_times", flat=True).get(pk=transcript.pk)


def _keep_original(
    transcript: Transcript, old: Transcript | None, *, name: str, data: bytes
) -> None:
    if (
        old is not None
        and hasattr(old, "raw")
        and (old.raw.name, bytes(old.raw.data)) == (name, data)
    ):
        return
    original = RawCaptions(transcript=transcript, name=name, data=data)
    RawCaptions.objects.bulk_create(
        [original],
        update_conflicts=True,
        unique_fields=["transcript"],
        update_fields=["name", "data"],
    )


def _index(transcript: Transcript, cues: Sequence[Cue]) -> None:
    seconds = conf.limits().search_segment_seconds
    index = bm25.Index.build([group.text for group in group_by_time(cues, seconds)])
    values = {
        "segment_seconds": seconds,
        "tokenizer_version": bm25.TOKENIZER_VERSION,
        "digest": transcript.digest,
        "data": index.to_bytes(),
    }
    index_row = TranscriptIndex(transcript=transcript, **values)
    TranscriptIndex.objects.bulk_create(
        [index_row], update_conflicts=True, unique_fields=["transcript"], update_fields=[*values]
    )


def _info(data: bytes | None) -> VideoInfo | None:
    if data is None:
        return None
    try:
        return info_from_json(json.loads(data))
    except (ValueError, RecursionError) as error:
        raise BadJson(
            "The .info.json beside the captions cannot be read.",
            hint="Leave it out, or download it again.",
        ) from error


def check_size(name: str, data: bytes) -> None:
    """Raise ``CaptionsTooLarge`` for a file beyond the limit."""
    if len(data) > conf.max_upload_bytes():
        raise CaptionsTooLarge(
            f"“{name}” has {len(data):,} bytes; the limit is {conf.max_upload_bytes():,}.",
            hint="Captions are small: is it the right file?",
        )

"""Store the captions of a recording: video, transcript, search index and original."""

import json
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from transcripts import captions, conf
from transcripts.adding import files, transcript_rows
from transcripts.adding.transcript_rows import StorageChange
from transcripts.captions.caption_errors import (
    BadJson,
    CaptionsTooLarge,
    CaptionWarning,
    EmptyCaptions,
    SameText,
    UnknownFormat,
)
from transcripts.core import audit
from transcripts.core.audit import Action
from transcripts.core.errors import Conflict, InvalidInput
from transcripts.core.sanitize import clean
from transcripts.models import CaptionOrigin, Collection, Transcript, Video
from transcripts.models.videos import clean_key
from transcripts.text import tokenizer
from transcripts.text.cues import Cue
from transcripts.text.timecodes import is_video_id, parse_target
from transcripts.youtube import FetchedTranscript, VideoInfo, info_from_json

SIMILAR = 0.5  # share of common words from which two texts are versions of one recording
MAX_TAGS = 50


@dataclass(frozen=True, slots=True)
class StoredTranscript:
    video: Video
    transcript: Transcript
    change: StorageChange
    warnings: tuple[CaptionWarning, ...] = ()
    same_as: Video | None = None  # another of the collection with the same text

    @property
    def warning(self) -> str | None:
        """All warnings as one text, or None."""
        return " ".join(warning.message for warning in self.warnings) or None


@dataclass(frozen=True, slots=True)
class Metadata:
    """The metadata of a recording. An empty value keeps the stored one."""

    key: str
    title: str = ""
    file_title: str = ""  # of a file's name, for a new recording without another title
    info: VideoInfo | None = None
    youtube_id: str = ""
    sound: str = ""
    tags: Sequence[str] = ()
    partial: bool = False
    by: User | None = None

    @property
    def columns(self) -> dict[str, Any]:
        values: dict[str, Any] = {
            "title": clean(self.title, 300),
            "youtube_id": self.youtube_id,
            "sound": self.sound,
            "tags": clean_tags(self.tags),
        }
        if info := self.info:
            values |= {
                "channel": info.channel[:200],
                "channel_id": info.channel_id[:64],
                "description": info.description,
                "duration": info.duration,
                "published_at": info.published_at,
                "chapters": [[chapter.start, chapter.title] for chapter in info.chapters],
                "languages": list(info.languages),
            }
        filled = {name: value for name, value in values.items() if value}
        return {**filled, "partial": self.partial}


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
    is_recorded: bool = False,
    by: User | None = None,
) -> StoredTranscript:
    """Parse and store a caption file that the user ``by`` adds; ``info`` is the content of yt-dlp's
    metadata file. ``is_recorded`` says that the audit trail tells already that it is added.

    Transcripts whose keys are in ``settled`` stay unchanged: an import passes those that it has
    written, so that the first of several files of one recording counts.
    Raises ``CaptionError`` and ``Conflict``.
    """
    name = clean(name, 300)
    check_size(name, data)
    parsed = captions.parse(data, name=name)
    if not parsed.cues:
        raise EmptyCaptions(f"“{name}” contains no text.", hint="Check that it is the right file.")
    video_info = None if info is None else _read_info(info)
    stem, name_language = captions.split_name(PurePosixPath(name).name)
    known_id, known_title = (video_info.id, video_info.title) if video_info else ("", "")
    file_title, id_of_name = ("", "") if key else captions.split_video_id(name)
    metadata = Metadata(
        key=clean_key(key or parsed.id or known_id or stem),
        title=title or parsed.title or known_title,
        info=video_info,
        file_title=file_title if id_of_name else "",
        youtube_id=known_id or parsed.youtube_id or id_of_name,
        tags=tags,
        by=by,
    )
    with transaction.atomic():
        stored = _store(
            collection,
            metadata,
            cues=parsed.cues,
            language=language or name_language or parsed.language,
            origin=CaptionOrigin.AUTO if files.is_auto(name) else CaptionOrigin.UPLOAD,
            raw_name=name,
            raw=data,
            settled=settled,
        )
        if not is_recorded:
            _record(stored)
        same = _with_same_text(stored) if stored.change is StorageChange.ADDED else None
    copies = (SameText(str(same), same.key),) if same else ()
    return replace(stored, warnings=copies + parsed.warnings, same_as=same)


def add_text(
    collection: Collection, text: str, *, title: str, key: str = "", **about: Any
) -> StoredTranscript:
    """Store a pasted transcript panel or plain text; ``about`` it as of ``add_captions``.

    Raises ``CaptionError``.
    """
    name = f"{clean_key(key or title or 'pasted')}.txt"
    data = text.encode(errors="replace")
    return add_captions(collection, data, name=name, title=title, key=key, **about)


def add_sent(
    collection: Collection,
    address: str,
    text: str,
    *,
    automatic: bool = False,
    language: str = "",
    title: str = "",
    channel: str = "",
    tags: Sequence[str] = (),
    by: User | None = None,
) -> StoredTranscript:
    """Store the captions of a YouTube video, with times, that a program sends: somebody's browser
    had them. They replace only an earlier version of themselves.

    Raises ``InvalidUrl``, ``InvalidInput`` for an address that is no video's, ``CaptionError`` and
    ``Conflict``.
    """
    target = parse_target(address)
    if target.kind != "video":
        raise InvalidInput("This is not the address of one video.", hint="Open the video itself.")
    data = text.encode(errors="replace")
    check_size(target.id, data)
    parsed = captions.parse(data)
    if parsed.format == "txt":
        raise UnknownFormat(
            "These captions have no times.", hint="Send a caption file, such as json3 or WebVTT."
        )
    fetched = FetchedTranscript(
        info=VideoInfo(id=target.id, title=clean(title, 300), channel=clean(channel, 200)),
        language=language,
        origin="auto" if automatic else "manual",
        cues=parsed.cues,
        raw_name=f"{target.id}.{parsed.format}",
        raw=data,
    )
    with transaction.atomic():
        stored = store_fetched(collection, fetched, tags=tags, by=by, is_trusted=False)
        _record(stored)
    return replace(stored, warnings=parsed.warnings)


def store_fetched(
    collection: Collection,
    fetched: FetchedTranscript,
    *,
    tags: Sequence[str] = (),
    by: User | None = None,
    is_trusted: bool = True,
) -> StoredTranscript:
    """Store what YouTube sent. ``is_trusted`` says that it was sent to this server; else it only
    replaces an earlier version of itself. Raises ``Conflict``.
    """
    info = fetched.info
    about: Any = {"title": info.title, "partial": fetched.partial, "tags": tags, "by": by}
    return _store(
        collection,
        Metadata(key=info.id, youtube_id=info.id, info=info, **about),
        cues=fetched.cues,
        language=fetched.language,
        origin=fetched.origin,
        raw_name=fetched.raw_name,
        raw=fetched.raw,
        is_trusted=is_trusted,
    )


def store_about(
    collection: Collection,
    info: VideoInfo,
    *,
    tags: Sequence[str],
    by: User | None,
    sound: str = "",
) -> Video:
    """Store what is known about a recording, without captions; ``sound`` is the address of its
    sound, if it is not on YouTube.
    """
    about: Any = {"title": info.title, "tags": tags, "by": by}
    metadata = Metadata(
        key=info.id, youtube_id="" if sound else info.id, sound=sound, info=info, **about
    )
    with transaction.atomic():
        return _store_video(collection, metadata, duration=info.duration)[0]


def change_since(video: Video, moment: datetime) -> StorageChange:
    """Return what happened to the transcripts of a video since a moment."""
    times = list(video.transcripts.values_list("created_at", "updated_at"))
    if any(created >= moment for created, _ in times):
        return StorageChange.ADDED
    is_updated = any(updated >= moment for _, updated in times)
    return StorageChange.UPDATED if is_updated else StorageChange.UNCHANGED


def clean_tags(tags: Iterable[str]) -> list[str]:
    """Return distinct, trimmed tags: at most 50 of at most 100 characters."""
    return [tag for tag in dict.fromkeys(clean(tag, 100) for tag in tags) if tag][:MAX_TAGS]


def check_size(name: str, data: bytes) -> None:
    """Raise ``CaptionsTooLarge`` for a file beyond the limit."""
    if len(data) > (limit := conf.max_upload_bytes()):
        raise CaptionsTooLarge.of(name, len(data), limit=limit)


def _record(stored: StoredTranscript) -> None:
    """Tell the audit trail, if anything changed."""
    if stored.change is not StorageChange.UNCHANGED:
        action = Action.ADD if stored.change is StorageChange.ADDED else Action.CHANGE
        audit.record(action, "video", stored.video.key, collection=stored.video.collection)


def _with_same_text(stored: StoredTranscript) -> Video | None:
    """Return the first other recording of the collection that has these cues."""
    same = Transcript.objects.with_text(stored.transcript.digest)
    same = same.filter(video__collection=stored.video.collection_id, video__deletion=None)
    first = same.exclude(video=stored.video).order_by("pk").values_list("video", flat=True).first()
    return Video.objects.filter(pk=first).first() if first else None


def _store(
    collection: Collection,
    metadata: Metadata,
    *,
    cues: Sequence[Cue],
    language: str,
    origin: str,
    raw_name: str,
    raw: bytes,
    settled: Container[int] = (),
    is_trusted: bool = True,
) -> StoredTranscript:
    language = clean(language, 35)
    with transaction.atomic(savepoint=False):
        video, is_new = _store_video(collection, metadata, duration=cues[-1].end)
        if not language and "language" in video.edited:
            corrected = video.transcripts.filter(origin=origin).values_list("language", flat=True)
            language = corrected.first() or ""
        light = Transcript.objects.light().select_related("raw")
        same = light.filter(video=video, language=language, origin=origin)
        old = None if is_new else same.first()
        if old is not None:
            is_file = old.origin in (CaptionOrigin.UPLOAD, CaptionOrigin.AUTO)
            is_other = is_file and hasattr(old, "raw") and old.raw.name != raw_name
            if not is_trusted or is_other:
                _refuse_other_recording(video, old, cues)
            if old.pk in settled:
                return StoredTranscript(video=video, transcript=old, change=StorageChange.UNCHANGED)
        kind = {"language": language, "origin": origin}
        transcript, change = transcript_rows.write(video, cues, **kind, old=old)
        if raw:
            transcript_rows.store_original(transcript, old, name=clean(raw_name, 300), data=raw)
    return StoredTranscript(video=video, transcript=transcript, change=change)


def _store_video(
    collection: Collection, metadata: Metadata, *, duration: int
) -> tuple[Video, bool]:
    """Store the recording; return whether it is new, too. What a person wrote is kept; tags that it
    is added with join theirs.
    """
    values = metadata.columns
    values["duration"] = max(duration, values.get("duration", 0))
    # A file may be called by the id of its video, whose hyphens are part of it.
    named = metadata.file_title or metadata.key
    title = named if is_video_id(named) else files.readable(named)
    about_new = {"title": title, "added_by": metadata.by, **values}
    # The lock keeps concurrent changes from being overwritten.
    video, is_new = Video.objects.select_for_update().get_or_create(
        collection=collection, key=metadata.key, defaults=about_new
    )
    if is_new:
        return video, True
    values["duration"] = max(values["duration"], video.duration)
    if "tags" in values and "tags" in video.edited:
        values["tags"] = clean_tags([*video.tags, *values["tags"]])
    new = {
        name: value
        for name, value in values.items()
        if getattr(video, name) != value and (name == "tags" or name not in video.edited)
    }
    if new:
        for name, value in new.items():
            setattr(video, name, value)
        video.save(update_fields=[*new, "updated_at"])
    return video, False


def _refuse_other_recording(video: Video, old: Transcript, cues: Sequence[Cue]) -> None:
    """Raise ``Conflict`` if the name stands for another recording, not an earlier version."""
    before, now = (
        {token for cue in spoken for token in tokenizer.tokenize(cue.text)}
        for spoken in (captions.from_json(old.cues), cues)
    )
    if len(before & now) < SIMILAR * min(len(before), len(now)):
        name = old.raw.name if hasattr(old, "raw") else old.language
        raise Conflict(
            f"“{video.key}” already names another recording ({name}).",
            hint="Rename the file, or add it to another collection.",
        )


def _read_info(data: bytes) -> VideoInfo:
    try:
        return info_from_json(json.loads(data))
    except (ValueError, RecursionError) as error:
        raise BadJson(
            "The .info.json file next to the captions cannot be read.",
            hint="Leave it out, or download it again.",
        ) from error

"""Write the rows of a transcript: its text, its search index and its original."""

import hashlib
import json
from collections.abc import Sequence
from enum import StrEnum
from typing import Any, TypeVar

from django.db import transaction
from django.db.models import Model

from transcripts import captions, conf
from transcripts.core import clock
from transcripts.core.errors import Conflict
from transcripts.models import RawCaptions, Transcript, TranscriptIndex, Video
from transcripts.text import bm25, tokenizer
from transcripts.text.cues import Cue, group_by_time, named, renamed
from transcripts.text.terms import counted_in

Row = TypeVar("Row", bound=Model)


class StorageChange(StrEnum):
    ADDED = "added"
    UPDATED = "updated"
    UNCHANGED = "unchanged"


def write(
    video: Video, cues: Sequence[Cue], *, language: str, origin: str, old: Transcript | None
) -> tuple[Transcript, StorageChange]:
    """Store the cues of a transcript unless ``old`` has them, and index them.

    Speakers who were given names keep them.
    """
    columns = original = _text_columns(cues)
    if old is not None and old.speaker_names:
        cues = named(cues, old.speaker_names)
        columns = _text_columns(cues)
    # Deferred: the stored word times are read only if these captions have some.
    if (
        old is not None
        and (columns["digest"] == old.digest or original["digest"] == old.original_digest)
        and (not columns["word_times"] or old.word_times)
    ):
        return old, StorageChange.UNCHANGED
    is_original = columns["digest"] == original["digest"]
    values = columns | {
        "original_digest": "" if is_original else original["digest"],
        "has_added_stops": False,
        "cue_count": len(cues),
        "duration": cues[-1].end,
        "updated_at": clock.now(),
    }
    written = _upsert(Transcript, values, video=video, language=language, origin=origin)
    _index(written, cues)
    return written, StorageChange.ADDED if old is None else StorageChange.UPDATED


def store_original(
    transcript: Transcript, old: Transcript | None, *, name: str, data: bytes
) -> None:
    stored = getattr(old, "raw", None)
    if stored is None or (stored.name, bytes(stored.data)) != (name, data):
        _upsert(RawCaptions, {"name": name, "data": data}, transcript=transcript)


def reparse(transcript: Transcript) -> StorageChange:
    """Parse the stored original again; full stops that were added go. Raises ``Conflict`` if there
    is none.
    """
    raw = RawCaptions.objects.filter(transcript=transcript).first()
    if raw is None:
        raise Conflict(
            f"The original of “{transcript.video}” was not stored.", hint="Fetch or add it again."
        )
    cues = captions.parse(bytes(raw.data), name=raw.name).cues
    kind = {"language": transcript.language, "origin": transcript.origin}
    transcript.original_digest = ""
    with transaction.atomic():
        return write(transcript.video, cues, **kind, old=transcript)[1]


def add_full_stops(transcript: Transcript, cues: Sequence[Cue]) -> bool:
    """Store the cues of a transcript with full stops that it lacked, and index them.

    Fetching the same captions again keeps them. Returns False, and stores nothing, if the
    transcript was changed or deleted meanwhile.
    """
    with transaction.atomic():
        Video.objects.select_for_update().filter(pk=transcript.video_id).first()
        rows = Transcript.objects.light().select_for_update()
        known = {"digest": transcript.digest, "updated_at": transcript.updated_at}
        old = rows.filter(pk=transcript.pk, **known).first()
        if old is None:
            return False
        original = old.original_digest or old.digest
        _change(transcript, cues, original_digest=original, has_added_stops=True)
    return True


def rename_speaker(transcript: Transcript, speaker: str, name: str) -> None:
    """Have the captions name a speaker otherwise, and index them; captions that are added or
    fetched later get the same name. Call it while the transcript is locked.
    """
    stored = captions.from_json(transcript.cues, word_times=transcript.word_times or None)
    _change(
        transcript,
        named(stored, {speaker: name}),
        original_digest=transcript.original_digest or transcript.digest,
        speaker_names=renamed(transcript.speaker_names, speaker, name),
        updated_at=clock.now(),
    )


def correct_language(transcript: Transcript, language: str) -> None:
    """Set the language of a transcript, and index its words in that language."""
    with transaction.atomic():
        lock(transcript)
        transcript.language = language
        transcript.updated_at = clock.now()
        transcript.save(update_fields=["language", "updated_at"])
        _index(transcript, captions.from_json(transcript.cues))


def lock(transcript: Transcript) -> None:
    """Lock a transcript until the transaction ends, and read what is stored of it by now.

    The video is locked before its rows, as whoever changes or deletes it does.
    """
    Video.objects.select_for_update().filter(pk=transcript.video_id).first()
    transcript.refresh_from_db()


def _change(transcript: Transcript, cues: Sequence[Cue], **columns: Any) -> None:
    values = _text_columns(cues) | columns
    for name, value in values.items():
        setattr(transcript, name, value)
    transcript.save(update_fields=[*values])
    _index(transcript, cues)


def _text_columns(cues: Sequence[Cue]) -> dict[str, Any]:
    rows = captions.to_json(cues)
    text = json.dumps(rows, ensure_ascii=False, separators=(",", ":"))
    return {
        "cues": rows,
        "word_times": captions.word_times_to_json(cues),
        "digest": hashlib.sha256(text.encode()).hexdigest(),
        "characters": sum(len(cue.text) + 1 for cue in cues) - 1,
    }


def _index(transcript: Transcript, cues: Sequence[Cue]) -> None:
    seconds = conf.limits().search_segment_seconds
    texts = [group.text for group in group_by_time(cues, seconds)]
    index = bm25.Index.build(counted_in(text, transcript.language) for text in texts)
    values = {
        "segment_seconds": seconds,
        "tokenizer_version": tokenizer.TOKENIZER_VERSION,
        "digest": transcript.digest,
        "data": index.to_bytes(),
    }
    _upsert(TranscriptIndex, values, transcript=transcript)


def _upsert(model: type[Row], values: dict[str, Any], **key: Any) -> Row:
    """Insert or replace a row: a second worker with the same captions changes nothing."""
    row = model(**key, **values)
    model._default_manager.bulk_create(
        [row], update_conflicts=True, unique_fields=[*key], update_fields=[*values]
    )
    return row

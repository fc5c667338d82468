"""Keep what was said in a lecture as a recording of its collection."""

from collections.abc import Iterator
from itertools import zip_longest
from typing import Any, Final

from django.contrib.auth.models import User
from django.db import transaction

from citations.lectures import speech
from citations.models import LectureSession, Segment
from transcripts import captions
from transcripts.adding import storage
from transcripts.core.errors import Conflict, InvalidInput
from transcripts.models import Transcript, Video
from transcripts.text.cues import Cue

SHORTEST: Final = 1_000  # ms that a segment without an end lasts at least


def keep(session: LectureSession, user: User | None) -> Video:
    """Make a transcript of an ended lecture, which is then indexed like any other; return its
    recording. A lecture that has one, because it replays it or was kept before, gets no other.

    Raises ``Conflict`` if it goes on, ``InvalidInput`` if nothing was said, ``CaptionError``.
    """
    with transaction.atomic():
        locked = speech.lock(session)
        if locked.transcript_id is not None:
            return Transcript.objects.light().get(pk=locked.transcript_id).video
        if locked.ended_at is None:
            raise Conflict("The lecture has not ended.", hint="End it first.")
        stored = _store(locked, user)
        video = stored.video
        video.published_at = locked.created_at
        video.save(update_fields=["published_at", "updated_at"])
        LectureSession.objects.filter(pk=locked.pk).update(transcript=stored.transcript)
    return video


def _store(lecture: LectureSession, user: User | None) -> storage.StoredTranscript:
    """Store it under the lecture's id, so that this finds the recording, too."""
    segments = list(lecture.segments.order_by("number"))
    about: dict[str, Any] = {"title": lecture.title, "language": lecture.language, "by": user}
    key = str(lecture.uuid)
    if any(segment.start is not None for segment in segments):
        timed = captions.to_vtt([*_cues(segments)]).encode()
        return storage.add_captions(lecture.collection, timed, name=f"{key}.vtt", key=key, **about)
    # Windows that a program cut itself have no segments.
    alone = lecture.windows.filter(last=None, text__gt="").order_by("index")
    texts = [segment.text for segment in segments] or [window.text for window in alone]
    if not texts:
        raise InvalidInput("Nothing was said in this lecture.", hint="There is nothing to keep.")
    return storage.add_text(lecture.collection, "\n".join(texts), key=key, **about)


def _cues(segments: list[Segment]) -> Iterator[Cue]:
    """Time each segment: one without times follows the one before it."""
    position = 0
    for segment, following in zip_longest(segments, segments[1:]):
        start = position if segment.start is None else segment.start
        until = following.start if following else None
        end = segment.end or max(until or 0, start + SHORTEST)
        position = max(start, end)
        yield Cue(start, position, segment.text)

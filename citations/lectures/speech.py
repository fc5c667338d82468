"""Take the speech of a lecture: segments become windows that wait to be cited.

Speech is stored under a lock of the session's row, so that segments, windows and events have one
order. No model runs here: callers submit the windows once the transaction has committed.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from itertools import accumulate, zip_longest
from typing import Any, Final

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from citations.errors import LectureEnded, LectureNotFound
from citations.lectures import windows
from citations.lectures.events import ENDED, SEGMENT, WINDOW, publish
from citations.lectures.windows import Utterance
from citations.models import LectureSession, Segment, Window
from citations.schemas.lectures import EndedEventOut, SegmentEventOut, WindowOut
from transcripts import captions
from transcripts.adding import storage
from transcripts.core.errors import Conflict, InvalidInput, TooLarge
from transcripts.core.sanitize import clean
from transcripts.library import reading as library
from transcripts.models import Transcript, Video
from transcripts.schemas import Shape
from transcripts.text.cues import Cue

MAX_TEXT: Final = 5_000  # characters of a segment
MAX_SAID: Final = 500_000  # characters at once: a long lecture that is pasted
MAX_SEGMENTS: Final = 1_000  # at once
MAX_EVENTS: Final = 1_000_000  # of a session: weeks of speech
MAX_INTEGER: Final = 2**31 - 1  # of the database, for numbers and times (ms)

SHORTEST: Final = 1_000  # ms that a segment without an end lasts at least


def push(session: LectureSession, utterances: Iterable[Utterance]) -> list[Window]:
    """Store segments, in any order, ignoring known numbers; return the windows completed by them.

    Raises ``LectureEnded``, ``LectureNotFound`` (deleted), ``InvalidInput`` for more than
    ``MAX_SEGMENTS``, texts longer than ``MAX_TEXT`` and numbers or times out of range.
    """
    cleaned = _clean(utterances)
    with transaction.atomic():
        return _add(lock_open(session), cleaned)


def say(
    session: LectureSession, text: str, *, start: int | None = None, end: int | None = None
) -> list[Window]:
    """Store speech without numbers, as ``push`` does: typed, pasted or recognised. Times in ms."""
    check_length(text)
    pieces = list(_split_lines(text))
    with transaction.atomic():
        locked = lock_open(session)
        first = _buffer(locked).following
        spoken = [Utterance(first + n, piece, start, end) for n, piece in enumerate(pieces)]
        return _add(locked, _clean(spoken, most=MAX_SAID))


def check_length(text: str) -> None:
    """Raise ``TooLarge`` for more than can be said at once."""
    if len(text) > MAX_SAID:
        raise TooLarge(f"The text exceeds {MAX_SAID:,} characters.", hint="Send it in parts.")


def advance(session: LectureSession, position_ms: int) -> list[Window]:
    """Replay: store the cues that end by this position; end the session after the last one.

    Returns the windows completed by them. An earlier position than the last one changes
    nothing. Raises ``InvalidInput`` if the session replays nothing.
    """
    cues, ends = _transcript(session)
    position = max(0, min(position_ms, MAX_INTEGER))
    with transaction.atomic():
        locked = lock(session)
        if locked.ended_at is not None or position <= locked.position:
            return []
        first = bisect_right(ends, locked.position) if locked.position else 0
        until = bisect_right(ends, position)
        locked.position = position
        following = _buffer(locked).following  # after any speech that was sent besides
        spoken = [
            Utterance(following + n, cue.text, cue.start, cue.end)
            for n, cue in enumerate(cues[first:until])
        ]
        new_windows = _add(locked, spoken)
        return new_windows + _finish(locked) if until == len(cues) else new_windows


def end(session: LectureSession) -> list[Window]:
    """End a session; return the windows of the remaining speech. Ending twice is harmless."""
    with transaction.atomic():
        locked = lock(session)
        return [] if locked.ended_at else _finish(locked)


# Under the lock


def lock(session: LectureSession) -> LectureSession:
    """Lock and return a session. Raises ``LectureNotFound`` (deleted)."""
    locked = LectureSession.objects.select_for_update(of=("self",)).filter(pk=session.pk).first()
    if locked is None:
        raise LectureNotFound("This lecture was deleted.")
    return locked


def lock_open(session: LectureSession) -> LectureSession:
    """Lock and return an open session. Raises ``LectureEnded``, ``LectureNotFound`` (deleted)."""
    locked = lock(session)
    require_open(locked)
    return locked


def require_open(locked: LectureSession) -> None:
    """Raise ``LectureEnded``."""
    if locked.ended_at is not None:
        raise LectureEnded("This lecture has ended.")
    if locked.event_count > MAX_EVENTS:
        raise LectureEnded("This lecture has reached its maximum length.")


def _buffer(locked: LectureSession) -> windows.Buffer:
    return windows.Buffer.from_json(locked.buffer)


def _add(locked: LectureSession, utterances: Sequence[Utterance]) -> list[Window]:
    """Drop known numbers, keep the first of repeated ones, and store the windows they complete."""
    numbers = [utterance.number for utterance in utterances]
    stored = set(locked.segments.filter(number__in=numbers).values_list("number", flat=True))
    new: dict[int, Utterance] = {}
    for utterance in utterances:
        if utterance.number not in stored:
            new.setdefault(utterance.number, utterance)
    segments = [utterance for utterance in new.values() if utterance.text]
    rows = [Segment(session=locked, **asdict(utterance)) for utterance in segments]
    Segment.objects.bulk_create(rows)
    buffer, new_windows = windows.feed(_buffer(locked), new.values())
    events = [(SEGMENT, SegmentEventOut.model_validate(segment)) for segment in segments]
    return _store(locked, buffer, new_windows, events)


def _finish(locked: LectureSession) -> list[Window]:
    new_windows = _store(locked, *windows.flush(_buffer(locked)), [])
    LectureSession.objects.filter(pk=locked.pk).update(ended_at=timezone.now())
    publish(locked, [(ENDED, EndedEventOut())])
    return new_windows


def _store(
    locked: LectureSession,
    buffer: windows.Buffer,
    new_windows: Sequence[windows.SpeechWindow],
    events: Sequence[tuple[str, Shape]],
) -> list[Window]:
    """Store windows, numbered by the session, and the buffer; publish segments, then windows."""
    first = locked.window_count
    rows = [
        Window(session=locked, **{**asdict(window), "index": index})
        for index, window in enumerate(new_windows, start=first)
    ]
    Window.objects.bulk_create(rows)
    locked.buffer, locked.window_count = buffer.to_json(), first + len(rows)
    LectureSession.objects.filter(pk=locked.pk).update(
        buffer=locked.buffer, window_count=locked.window_count, position=locked.position
    )
    publish(locked, [*events, *((WINDOW, WindowOut.model_validate(row)) for row in rows)])
    return rows


# Validation


def _clean(utterances: Iterable[Utterance], *, most: int = MAX_SEGMENTS) -> list[Utterance]:
    cleaned: list[Utterance] = []
    for utterance in utterances:
        if len(cleaned) == most:
            raise TooLarge(f"More than {most:,} segments were sent.", hint="Send them in parts.")
        if len(utterance.text) > MAX_TEXT:
            raise TooLarge(
                f"Segment {utterance.number} has {len(utterance.text):,} characters;"
                f" at most {MAX_TEXT:,} are allowed.",
                hint="Send it in parts.",
            )
        if not 0 <= utterance.number <= MAX_INTEGER:
            raise InvalidInput("The number of a segment must be an integer from 0.")
        text = " ".join(clean(utterance.text, MAX_TEXT).split())
        cleaned.append(Utterance(utterance.number, text, *_times(utterance)))
    return cleaned


def _times(utterance: Utterance) -> tuple[int | None, int | None]:
    for time in (utterance.start, utterance.end):
        if time is not None and not 0 <= time <= MAX_INTEGER:
            raise InvalidInput("Times must be milliseconds since the start of the lecture.")
    if utterance.start is None or utterance.end is None:
        return utterance.start, utterance.end
    return utterance.start, max(utterance.start, utterance.end)


def _split_lines(text: str) -> Iterator[str]:
    """Split text into segments at line ends; split long lines at blanks."""
    for line in clean(text, MAX_SAID).splitlines():
        while len(line) > MAX_TEXT:
            end = line.rfind(" ", 0, MAX_TEXT) + 1 or MAX_TEXT
            yield line[:end]
            line = line[end:]
        if line.strip():
            yield line


def _transcript(session: LectureSession) -> tuple[tuple[Cue, ...], list[int]]:
    """Return the cues to replay, and the running maximum of their ends (ms)."""
    transcript = Transcript.objects.light().filter(pk=session.transcript_id or 0).first()
    if transcript is None:
        raise InvalidInput("This lecture replays nothing.", hint="Start one from a recording.")
    cues = library.cues_of(transcript)
    return cues, list(accumulate((cue.end for cue in cues), max))


def keep_recording(session: LectureSession, user: User | None) -> Video:
    """Make a transcript of an ended lecture, which is then indexed like any other; return its
    recording. A lecture that has one, because it replays it or was kept before, gets no other.

    Raises ``Conflict`` if it goes on, ``InvalidInput`` if nothing was said, ``CaptionError``.
    """
    with transaction.atomic():
        locked = lock(session)
        if locked.transcript_id is not None:
            return Transcript.objects.light().get(pk=locked.transcript_id).video
        if locked.ended_at is None:
            raise Conflict("The lecture has not ended.", hint="End it first.")
        stored = _store_recording(locked, user)
        video = stored.video
        video.published_at = locked.created_at
        video.save(update_fields=["published_at", "updated_at"])
        LectureSession.objects.filter(pk=locked.pk).update(transcript=stored.transcript)
    return video


def _store_recording(lecture: LectureSession, user: User | None) -> storage.StoredTranscript:
    """Store it under the lecture's id, so that this finds the recording, too."""
    segments = list(lecture.segments.order_by("number"))
    about: dict[str, Any] = {"title": lecture.title, "language": lecture.language, "by": user}
    key = str(lecture.uuid)
    if any(segment.start is not None for segment in segments):
        timed = captions.to_vtt([*_cues_of(segments)]).encode()
        return storage.add_captions(lecture.collection, timed, name=f"{key}.vtt", key=key, **about)
    # Windows that a program cut itself have no segments.
    alone = lecture.windows.filter(last=None, text__gt="").order_by("index")
    texts = [segment.text for segment in segments] or [window.text for window in alone]
    if not texts:
        raise InvalidInput("Nothing was said in this lecture.", hint="There is nothing to keep.")
    return storage.add_text(lecture.collection, "\n".join(texts), key=key, **about)


def _cues_of(segments: list[Segment]) -> Iterator[Cue]:
    """Time each segment: one without times follows the one before it."""
    position = 0
    for segment, following in zip_longest(segments, segments[1:]):
        start = position if segment.start is None else segment.start
        until = following.start if following else None
        end = segment.end or max(until or 0, start + SHORTEST)
        position = max(start, end)
        yield Cue(start, position, segment.text)

"""The times of a clip that is shared: which are shown, and which are possible."""

from typing import Final

from citations.models import Source
from citations.reading import transcript as reading_transcript
from transcripts.core.errors import InvalidInput
from transcripts.text.timecodes import clock

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
        raise _of_end(InvalidInput("The clip ends before it begins.", hint="Choose a later end."))
    if end - start > MAX_CLIP:
        raise _of_end(
            InvalidInput(
                f"A clip lasts at most {MAX_CLIP // 60_000} minutes.", hint="Choose an earlier end."
            )
        )


def require_length(source: Source, end: int | None) -> None:
    """Raise ``InvalidInput`` for an end beyond that of a recording. Times are shown cut to seconds,
    so that the second in which it ends is none.
    """
    if end is None or source.transcript is None or source.video is None:
        return
    length = max(source.transcript.duration, source.video.duration)
    if end >= length + 1000:
        raise _of_end(
            InvalidInput(
                f"The recording ends at {clock(length)}, before the clip does.",
                hint="Choose an earlier end.",
            )
        )


def _of_end(error: InvalidInput) -> InvalidInput:
    error.complaints = (("end", error.message),)
    return error

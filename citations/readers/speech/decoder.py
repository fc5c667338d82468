"""Decodes the sound of audio and video files in parts, in a child process (``decoder_worker``)."""

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from citations.errors import SpeechFailed, SpeechMissing
from citations.readers.sandbox import ChildExited, ChildProcess, ChildReply
from transcripts.captions.caption_errors import EmptyCaptions

RATE: Final = 16_000  # samples a second
PART_TIME: Final = 600.0  # seconds, most of them to get to the middle of many hours

_DECODER: Final = ChildProcess(Path(__file__).with_name("decoder_worker.py"))


@dataclass(frozen=True, slots=True, kw_only=True)
class SoundPart:
    """A part of a recording of ``total`` ms (0: unknown), in 16-bit samples of one channel."""

    start: int
    end: int
    total: int
    is_last: bool
    samples: bytes


def is_installed() -> bool:
    return find_spec("av") is not None


def length_of(path: Path) -> int:
    """Return the ms that a file says it lasts, 0 if it does not say. Raises as ``part_at``."""
    return int(_ask(path, start=0, is_probe=True).head["total"])


def part_at(path: Path, start: int) -> SoundPart:
    """Return the part that begins at ``start`` (ms): up to 150 s, until a pause.

    Raises ``SpeechMissing`` without FFmpeg, ``EmptyCaptions`` for a file without sound, and
    ``SpeechFailed`` for one that cannot be decoded.
    """
    reply = _ask(path, start=start)
    return SoundPart(
        **{key: reply.head[key] for key in ("start", "end", "total", "is_last")},
        samples=reply.blobs[0],
    )


def _ask(path: Path, **request: Any) -> ChildReply:
    if not is_installed():
        raise SpeechMissing
    try:
        reply = _DECODER.ask({"path": str(path), **request}, seconds=PART_TIME)
    except ChildExited as error:
        raise SpeechFailed("The audio or video file cannot be decoded.") from error
    if refused := reply.head.get("refused"):
        if refused == "silent":
            raise EmptyCaptions("This file has no sound.", hint="Check that it is the right file.")
        raise SpeechFailed("The audio or video file cannot be decoded.")
    return reply

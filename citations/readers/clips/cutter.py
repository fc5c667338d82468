"""Clips of audio and video files: what plays from one time until another, and nothing else.

FFmpeg cuts in a child process with limits of time and memory (see ``worker``).
"""

import json
import subprocess
import sys
import threading
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from citations.errors import CannotBeCut, CutterBusy, CutterMissing
from citations.readers.sandbox import child_environment
from transcripts.core.errors import told_as

PROGRAM: Final = Path(__file__).with_name("worker.py")
SECONDS: Final = 30  # of CPU time; the last minute of three hours of MP3 takes three
TURN: Final = 20.0  # seconds that a clip waits for the one that is being cut
MAX_BYTES: Final = 200_000_000  # bytes

# How a file is read, by its type without "audio/" or "video/".
FORMATS: Final = {
    "aac": "aac",
    "flac": "flac",
    "mp4": "mov",
    "mpeg": "mp3",
    "ogg": "ogg",
    "wav": "wav",
    "webm": "matroska",
}
# The type of a clip, and how the names of its sound and of its film end, by how it was written.
WRITTEN: Final = {
    "adts": ("aac", "aac", "aac"),
    "mp3": ("mpeg", "mp3", "mp3"),
    "mp4": ("mp4", "m4a", "mp4"),
    "ogg": ("ogg", "ogg", "ogv"),
    "wav": ("wav", "wav", "wav"),
    "webm": ("webm", "webm", "webm"),
}

_FAILED: Final = "The audio or video file cannot be cut."
_turn = threading.Lock()


@dataclass(frozen=True, slots=True, kw_only=True)
class CutClip:
    """What a clip is. ``lead`` is how many ms of its pictures stand before its beginning."""

    name: str
    media_type: str
    lead: int


def is_installed() -> bool:
    return find_spec("av") is not None


@told_as(CannotBeCut, _FAILED)
def cut(
    path: Path, media_type: str, target: Path, *, start: int, end: int, most: int = MAX_BYTES
) -> CutClip:
    """Write the part of a file from ``start`` until ``end`` (ms), its packets as they are.

    It has all packets of sound that begin and end in that time. Pictures begin with the key frame
    at or before the start, up to ten seconds earlier, else with the next one.

    Raises ``CannotBeCut``, also for more than ``most`` bytes, ``CutterBusy`` if another clip takes
    long, and ``CutterMissing`` without the extra ``clips``.
    """
    if not is_installed():
        raise CutterMissing
    request = {
        "path": str(path),
        "format": FORMATS[media_type.partition("/")[2]],
        "start": start,
        "end": end,
        "target": str(target),
        "most": most,
        "seconds": SECONDS,
    }
    if not _turn.acquire(timeout=TURN):
        raise CutterBusy("Another clip is being cut and takes long.")
    try:
        answer = _ask(request)
    finally:
        _turn.release()
    if refused := answer.get("refused"):
        raise CannotBeCut(
            "The audio or video file has nothing at the times of this clip."
            if refused == "empty"
            else f"This clip of the audio or video file has more than {most:,} bytes."
        )
    kind, sound, film = WRITTEN[answer["format"]]
    has_pictures = answer["has_pictures"]
    return CutClip(
        name=f"clip.{film if has_pictures else sound}",
        media_type=f"{'video' if has_pictures else 'audio'}/{kind}",
        lead=answer["lead"],
    )


def _ask(request: dict[str, Any]) -> dict[str, Any]:
    """Return the child's answer. Raises ``CannotBeCut`` if it fails or takes too long."""
    try:
        child = subprocess.run(
            # -P: modules beside the program must not shadow others.
            [sys.executable, "-P", str(PROGRAM), json.dumps(request)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=4 * SECONDS,
            check=True,
            env=child_environment(),
        )
        answer: dict[str, Any] = json.loads(child.stdout)
    except (subprocess.SubprocessError, ValueError) as error:
        raise CannotBeCut(_FAILED) from error
    return answer

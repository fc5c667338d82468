"""Parses markup in a child process with limits of time and memory."""

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
SECONDS = 30  # of CPU time; ordinary documents take one or two


class MarkupTooComplex(DocumentBroken):
    """The process ended early: the markup is nested too deeply, too slow to parse, or too large."""


def parse_markup(
    text: str, *, kind: str, seconds: int = SECONDS
) -> tuple[dict[str, str], Iterator[MarkupBlock]]:
    """Return the facts and the pieces of ``html`` or ``markdown``. Raises ``MarkupTooComplex``."""
    with tempfile.TemporaryFile() as source:
        source.write(text.encode(errors="replace"))
        source.seek(0)
        lines = _run(source, kind, seconds)
    facts: dict[str, Any] = next(lines, {})
    return {name: clean(str(value)) for name, value in facts.items()}, (
        MarkupBlock(clean(text), level) for level, text in lines
    )


def _run(source: Any, kind: str, seconds: int) -> Iterator[Any]:
    """Iterate over the lines that the process wrote to a temporary file."""
    output = tempfile.TemporaryFile()  # noqa: SIM115  the iterator closes it
    # -P: modules beside the program must not shadow others.
    command = [sys.executable, "-P", str(PROGRAM), kind, str(seconds)]
    environment = {name: os.environ[name] for name in PASSED_ENVIRONMENT if name in os.environ}
    try:
        exit_code = subprocess.run(
            command,
            stdin=source,
            stdout=output,
            stderr=subprocess.DEVNULL,
            timeout=4 * seconds,
            check=False,
            env=environment,
        ).returncode
    except subprocess.TimeoutExpired:
        exit_code = -1
    if exit_code != 0:
        output.close()
        raise MarkupTooComplex("It cannot be parsed: it is too large or nested too deeply.")
    output.seek(0)
    return _lines(output)


def _lines(output: Any) -> Iterator[Any]:
    with output:
        for line in output:
            yield json.loads(line)

"""A program that parses one file in a process of its own: how it is run, and how it answers.

It answers with JSON lines: first the document's facts, then its pieces as [level, text, HTML] or,
in a format that has pages, [level, text, HTML, page]. A level of 1 to 6 is a heading's. Where it
refuses the file, there is one line: the error. Both sides import no framework.
"""

import json
import signal
import subprocess
import sys
import tempfile
from collections.abc import Generator, Iterable, Mapping
from pathlib import Path
from typing import IO, Any, Final

from citations.errors import (
    DocumentBroken,
    DocumentEncrypted,
    DocumentTooLarge,
    DocumentUnknown,
    DocumentWithoutText,
)
from citations.readers.sandbox import child_environment
from transcripts.core.errors import KnowledgeBaseError

try:
    import resource
except ImportError:  # a system without limits
    resource = None  # type: ignore[assignment]

SECONDS: Final = 30  # of CPU time; ordinary documents take one or two
MEMORY: Final = 2 * 1024**3  # bytes of address space
MAX_FACT: Final = 500  # characters
_REFUSALS: Final = {
    error.code: error
    for error in (
        *(DocumentBroken, DocumentEncrypted, DocumentTooLarge),
        *(DocumentUnknown, DocumentWithoutText),
    )
}


class ParserEnded(Exception):
    """The program ended before its answer: the file is too large or nested too deeply."""


# The process that needs the answer


def run(
    program: Path, source: IO[bytes], kind: str, *, seconds: int
) -> tuple[dict[str, Any], Generator[Any, None, None]]:
    """Return the first line that the program wrote of a seekable file, and the others.

    They are in a file, which is closed after the last one, or with them. Raises ``ParserEnded``,
    and the error with which the program refuses the file.
    """
    output = tempfile.TemporaryFile()  # noqa: SIM115  the iterator closes it
    exit_code = _parse(program, source, output, kind, seconds)
    if exit_code == -signal.SIGKILL:  # by somebody, or for want of memory: not by its own limits
        exit_code = _parse(program, source, output, kind, seconds)
    if exit_code != 0:
        output.close()
        raise ParserEnded
    output.seek(0)
    lines = _lines(output)
    try:
        head: dict[str, Any] = next(lines, {})
        _raise_refusal(head)
    except Exception:
        lines.close()
        raise
    return head, lines


def _parse(program: Path, source: IO[bytes], output: IO[bytes], kind: str, seconds: int) -> int:
    """Parse in a process, from the beginning; return its exit code, or minus its signal."""
    source.seek(0)
    output.seek(0)
    output.truncate()
    try:
        return subprocess.run(
            # -P: modules beside the program must not shadow others.
            [sys.executable, "-P", str(program), kind, str(seconds)],
            stdin=source,
            stdout=output,
            stderr=subprocess.DEVNULL,
            timeout=4 * seconds,
            check=False,
            env=child_environment(),
        ).returncode
    except subprocess.TimeoutExpired:
        return 1


def _lines(output: IO[bytes]) -> Generator[Any, None, None]:
    with output:
        yield from map(json.loads, output)


def _raise_refusal(line: Mapping[str, Any]) -> None:
    if refusal := _REFUSALS.get(str(line.get("refused"))):
        raise refusal(str(line["message"])[:MAX_FACT], hint=str(line["hint"])[:MAX_FACT])


# The program


def limit(seconds: int) -> None:
    """Limit this process to a number of CPU seconds, and its memory."""
    if resource is not None:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))


def answer(facts: Mapping[str, str], pieces: Iterable[tuple[Any, ...]]) -> None:
    """Write the lines of a document."""
    short = {name: " ".join(value.split())[:MAX_FACT] for name, value in facts.items()}
    sys.stdout.write(json.dumps(short) + "\n")
    for piece in pieces:
        sys.stdout.write(json.dumps(piece) + "\n")
    sys.stdout.flush()


def refuse(error: KnowledgeBaseError) -> None:
    """Write the line of a file that is refused."""
    line = {"refused": error.code, "message": error.message, "hint": error.hint}
    sys.stdout.write(json.dumps(line) + "\n")

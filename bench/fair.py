"""Measure how soon a note is found while a worker ingests two books.

Run ``python bench/fair.py`` from the repository. The server is `kb serve` with its one worker, as
people start it. The books are PDFs printed from real transcripts (``CUEBASE_DATA``), or files given
with ``--book``. A first note lets the worker load the model. Once a book is in work, notes of a
page are added over REST one after another, and searched for over REST until they are found by their
words, then by their meaning.
"""

import argparse
import http.client
import json
import os
import platform
import shlex
import statistics
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode, urlsplit

from bm25 import write
from doors import LINK, started, wait_for
from environment import DATA, HOME, ROOT
from reportlab.pdfgen.canvas import Canvas

SERVE: Final = ("-m", "kbsite.cli", "serve", "--port", "0")
WORDS_GOAL, MEANING_GOAL = 5.0, 30.0  # seconds
LINES: Final = 45  # of a page
PATIENCE: Final = 600.0  # seconds
PAUSE: Final = 20.0  # seconds between two notes
NOTE: Final = (
    "Notice {number}: the ferry to island {name} stays in harbour while its hull is painted. "
)
NAMES: Final = ("Vashti", "Morwenna", "Tamsin", "Ysolde", "Perran", "Kerensa", "Jowan", "Demelza")


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Seconds after which a note was found, and the books' states then."""

    words: float
    meaning: float
    books: str


@dataclass(frozen=True, slots=True)
class Door:
    """The REST API of the server."""

    port: int
    token: str

    def ask(self, method: str, path: str, body: bytes = b"", kind: str = "") -> Any:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": kind}
        connection.request(method, path, body or None, headers)
        response = connection.getresponse()
        text = response.read()
        connection.close()
        if response.status == 503:  # as long as nothing is embedded
            return {"passages": []}
        if response.status >= 300:
            raise SystemExit(f"{path}: status {response.status}, {text[:300]!r}")
        return json.loads(text)

    def add(self, name: str, data: bytes) -> None:
        head = f'--end\r\nContent-Disposition: form-data; name="files"; filename="{name}"\r\n\r\n'
        body = head.encode() + data + b"\r\n--end--\r\n"
        self.ask("POST", "/api/v1/sources/files", body, "multipart/form-data; boundary=end")

    def finds(self, query: str, mode: str, title: str) -> bool:
        parameters = urlencode({"q": query, "mode": mode, "limit": 5})
        passages = self.ask("GET", f"/api/v1/search?{parameters}")["passages"]
        return any(passage["title"] == title for passage in passages)


def command(*arguments: str) -> Any:
    """Run a command of `kb` and return its JSON."""
    line = [sys.executable, "-m", "kbsite.cli", *arguments, "--json"]
    process = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=True)
    return json.loads(process.stdout)


def states() -> list[str]:
    """Return how far each book is."""
    return [
        source["state"] + (f" ({source['step']} {source['percent']} %)" if source["step"] else "")
        for source in command("sources")["sources"]
        if not source["title"].startswith("note")
    ]


def main() -> None:
    """Measure, print, and replace this benchmark's section of the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--notes", type=int, default=5, help="how many notes (default 5, at most 7)"
    )
    parser.add_argument("--book", type=Path, action="append", default=[], help="a file; repeatable")
    options = parser.parse_args()
    books = [(path.name, path.read_bytes()) for path in options.book] or printed_books()
    log = Path(HOME) / "serve.log"
    with log.open("w") as output, started(SERVE, output) as process:
        link = wait_for(lambda: LINK.findall(log.read_text()), process)[-1]
        wait_for(lambda: "Ctrl-C" in log.read_text(), process)
        door = Door(
            urlsplit(link).port or 0, command("token", "create", "bench", "--write")["token"]
        )
        first = measure(door, 0)  # loads the model, and there are no books yet
        for name, data in books:
            door.add(name, data)
        wait_for(lambda: any(" (" in state for state in states()), process)
        notes = [measure(door, number) for number in range(1, options.notes + 1)]
    report = "\n".join(section(first, notes, books))
    print(report)
    write(report)


def printed_books() -> list[tuple[str, bytes]]:
    """Print two books, each of the real transcripts of some folders."""
    folders = {"meetings.pdf": ("qmsum",), "lectures.pdf": ("ocw6012", "ocw1801", "nyudl")}
    books = []
    for name, parts in folders.items():
        paths = [path for part in parts for path in (DATA / "dev" / "transcripts" / part).iterdir()]
        if not paths:
            sys.exit("The measuring data is not here; set CUEBASE_DATA.")
        books.append((name, printed(text_of(path) for path in sorted(paths))))
    return books


def text_of(transcript: Path) -> str:
    """Return the text of a transcript."""
    return " ".join(cue["text"] for cue in json.loads(transcript.read_text())["cues"])


def printed(texts: Iterator[str]) -> bytes:
    """Return a PDF of the texts."""
    canvas = Canvas("", pagesize=(420, 594), pageCompression=1)
    lines = [line for text in texts for line in textwrap.wrap(text, 80)]
    for first in range(0, len(lines), LINES):
        canvas.setFont("Times-Roman", 10)
        for row, line in enumerate(lines[first : first + LINES]):
            canvas.drawString(40, 560 - 12 * row, line)
        canvas.showPage()
    return bytes(canvas.getpdfdata())


def measure(door: Door, number: int) -> Found:
    """Add a note and wait until it is found both ways."""
    time.sleep(PAUSE)
    title, sentence = f"note-{number}", NOTE.format(number=number, name=NAMES[number])
    door.add(f"{title}.txt", (sentence * 10).encode())
    began = time.monotonic()
    words = seconds_until(door, f"{NAMES[number]} ferry", "words", title, began)
    question = f"when does the boat to {NAMES[number]} sail again"
    meaning = seconds_until(door, question, "meaning", title, began)
    measured = Found(words=words, meaning=meaning, books=", ".join(states()))
    print(measured, file=sys.stderr)
    return measured


def seconds_until(door: Door, query: str, mode: str, title: str, began: float) -> float:
    """Search until the note is found; return the seconds since it was added."""
    while not door.finds(query, mode, title):
        if time.monotonic() - began > PATIENCE:
            raise SystemExit(f"{title} was not found by {mode} search.")
        time.sleep(0.25)
    return time.monotonic() - began


def section(
    first: Found, notes: Sequence[Found], books: Sequence[tuple[str, bytes]]
) -> Iterator[str]:
    """Yield the section of the results."""
    sizes = " and ".join(f"{name} ({len(data) / 1e6:.1f} MB)" for name, data in books)
    yield "## A note beside two books"
    yield ""
    yield from textwrap.wrap(
        f"`{shlex.join(['python', 'bench/fair.py', *sys.argv[1:]])}`: seconds from the response to"
        f" an upload of a note until a search over REST finds it, while {sizes} are ingested by the"
        f" one worker of `kb serve`. The goals are {WORDS_GOAL:.0f} s by words and"
        f" {MEANING_GOAL:.0f} s by meaning. The worker had loaded the embedding model for a note"
        f" before the books, which was found by meaning after {first.meaning:.0f} s. Load average"
        f" at the end {os.getloadavg()[0]:.0f}. Python {platform.python_version()},"
        f" {os.cpu_count()} cores.",
        100,
    )
    yield ""
    yield "| note | by words | by meaning | the books then |"
    yield "|---:|---:|---:|---|"
    for number, note in enumerate(notes, start=1):
        yield f"| {number} | {note.words:.1f} | {note.meaning:.1f} | {note.books} |"
    words = statistics.median(note.words for note in notes)
    yield f"| median | {words:.1f} | {statistics.median(note.meaning for note in notes):.1f} | |"


if __name__ == "__main__":
    main()

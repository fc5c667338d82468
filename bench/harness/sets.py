"""The files of the development sets: transcripts, questions, windows of speech, what was written.

Nothing here needs Django.
"""

import json
import lzma
import random
import re
from collections.abc import Callable, Iterable, Sequence
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any, Final, TypeVar

from harness.environment import DATA

SPEECH: Final = DATA / "dev" / "transcripts"
TRANSCRIPTS: Final = {  # folders of the sets of questions
    "ocw6012_titles": "ocw6012",
    "nyudl_headings": "nyudl",
    "bitcoin_headings": "bitcoin",
    "tinyrec_topics": "tinyrec",
    "ergo_qa": "ergo",
    "tutorialvqa": "tutorialvqa",
    "qmsum": "qmsum",
}

SHORTEST: Final = 5  # words of a definition that is a question
SHORT: Final = "short_documents"  # technical, each with questions in other words than its own
SHORT_DOCUMENTS: Final = Path(__file__).with_name(f"{SHORT}.jsonl")

Row = TypeVar("Row")


def jsonl(path: str | Path) -> list[dict[str, Any]]:
    """Read a file of a JSON object a line, of the measurement data if its path is relative."""
    lines = (DATA / path).read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines if line.strip()]


def paths(*folders: str) -> list[Path]:
    """Return the transcripts of some folders. Raises ``SystemExit`` if there are none."""
    files = [path for folder in folders for path in sorted((SPEECH / folder).glob("*.json"))]
    if not files:
        raise SystemExit("The measurement data is not here; set CUEBASE_DATA.")
    return files


def mixed(count: int) -> list[Path]:
    """Return that many transcripts, of every folder in turn."""
    folders = [sorted(folder.glob("*.json")) for folder in sorted(SPEECH.iterdir())]
    return [path for path in chain.from_iterable(zip_longest(*folders)) if path][:count]


def cues(path: Path) -> list[dict[str, Any]]:
    """Return the cues of a transcript: start and duration (s), text."""
    rows: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["cues"]
    return rows


def said(path: Path) -> str:
    return " ".join(cue["text"] for cue in cues(path))


def drawn(rows: Sequence[Row], most: int) -> Sequence[Row]:
    """Return at most so many, evenly drawn."""
    return rows[:: max(1, -(-len(rows) // most))]


def questions_by_people(
    names: Iterable[str], count: int, is_fit: Callable[[str], bool] = lambda query: True
) -> list[str]:
    """Return different fit questions that people asked about recordings, at most so many."""
    rows = [row for name in names for row in jsonl(f"dev/gold/{name}.jsonl")]
    different = dict.fromkeys(" ".join(row["query"].split()) for row in rows)
    queries = [*filter(is_fit, different)]
    return random.Random(0).sample(queries, min(count, len(queries)))


def windows(name: str) -> list[dict[str, Any]]:
    """Return the windows of speech of a pair of lectures and what was written for them."""
    return jsonl(f"dev/pairs/{name}.jsonl")


def defined_terms(book: str, most: int = 70) -> list[dict[str, Any]]:
    """Return passages of a textbook that mark a defined term, drawn by chance: title, text, and as
    questions what the glossary says of the terms, without these.
    """
    pages: dict[tuple[str, str], list[str]] = {}
    with lzma.open(DATA / "reader" / "textbooks.jsonl.xz", "rt", encoding="utf-8") as lines:
        sections = [row for row in map(json.loads, lines) if row["book"] == book]
    for section in sections:
        passages = section["passages"]
        for row in section["queries"]:
            term, definition = row["q"], row["a"]
            marked = [part for part in passages if term.lower() in map(str.lower, part["terms"])]
            if row["kind"] == "term" and len(definition.split()) >= SHORTEST and len(marked) == 1:
                title = marked[0]["head"] or section["title"]
                said = re.sub(rf"{re.escape(term)}\w*", "", definition, flags=re.IGNORECASE)
                pages.setdefault((title, marked[0]["text"]), []).append(said.strip(" :;,."))
    drawn_pages = sorted(pages.items())
    random.Random(book).shuffle(drawn_pages)
    by_title = {title: (text, questions) for (title, text), questions in reversed(drawn_pages)}
    return [
        {"title": title, "text": text, "questions": questions[:2]}
        for title, (text, questions) in [*by_title.items()][-most:]
    ]


def pages_of_course() -> dict[str, list[dict[str, Any]]]:
    """Return the sections of the Hugging Face course by their pages."""
    pages: dict[str, list[dict[str, Any]]] = {}
    for section in jsonl("shared/hfcourse_pages/sections.jsonl"):
        pages.setdefault(section["page"], []).append(section)
    return pages


def written(name: str) -> dict[str, str]:
    """Return the Markdown that was written for the lectures ``hfcourse`` or ``nyudl`` by titles."""
    if name == "nyudl":
        sections = jsonl("dev/pairs/nyudl/sections.jsonl")
        return {row["id"]: f"# {row['heading']}\n\n{row['text']}" for row in sections}
    return {
        page: "\n\n".join(f"## {row['heading']}\n\n{row['text']}" for row in rows)
        for page, rows in pages_of_course().items()
    }

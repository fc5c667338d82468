"""Sets of questions with known answers, each over a library of its own. Import it once Django is
set up.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any, Final

import quality
from environment import DATA

from citations.documents import storage as document_storage
from citations.evaluation.questions import Question
from citations.ingest import pipeline as ingest_pipeline
from citations.models import Source, State
from transcripts.core.sanitize import MAX_QUERY_CHARACTERS
from transcripts.core.scope import Scope
from transcripts.models import Collection

FAMILIES: Final = {"nyudl_headings": "nyudl", "nyu_windows": "nyudl"}  # of sets on the same talks
OTHERS: Final = 1_500  # documents of a classic collection without an answer to any question
WINDOW_SETS: Final = ("hf_windows", "nyu_windows")
SETS: Final = (*quality.TRANSCRIPTS, *quality.DOCUMENTS, *WINDOW_SETS)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedSet:
    name: str
    scope: Scope
    questions: Sequence[Question]

    @property
    def is_speech(self) -> bool:
        return self.name in WINDOW_SETS


def fill(name: str, *, most: int) -> JudgedSet:
    """Fill a collection with a set's sources; return at most ``most`` questions, evenly drawn."""
    collection = Collection.objects.create(name=name, slug=name)
    if name in quality.TRANSCRIPTS:
        questions = quality.transcripts(collection, name)
    elif name in quality.DOCUMENTS:
        questions = quality.documents(collection, name, others=OTHERS)
    else:
        questions = _WINDOWS[name](collection)
    return JudgedSet(
        name=name,
        scope=Scope(readable=frozenset({collection.pk})),
        questions=questions[:: -(-len(questions) // most)],
    )


# Windows of speech, and what was written for it


def _of_pages(collection: Collection) -> list[Question]:
    """Windows of the Hugging Face course, and its pages."""
    pages: dict[str, list[str]] = {}
    for section in _rows("shared/hfcourse_pages/sections.jsonl"):
        pages.setdefault(section["page"], []).append(
            f"## {section['heading']}\n\n{section['text']}"
        )
    texts = {page: "\n\n".join(parts) for page, parts in pages.items()}
    return _windows(collection, texts, "hfcourse")


def _of_notes(collection: Collection) -> list[Question]:
    """Windows of NYU's deep learning lectures, and the sections of the notes."""
    sections = _rows("dev/pairs/nyudl/sections.jsonl")
    texts = {section["id"]: f"# {section['heading']}\n\n{section['text']}" for section in sections}
    return _windows(collection, texts, "nyudl")


_WINDOWS: Final[dict[str, Callable[[Collection], list[Question]]]] = {
    "hf_windows": _of_pages,
    "nyu_windows": _of_notes,
}


def _windows(collection: Collection, texts: dict[str, str], name: str) -> list[Question]:
    for title, text in texts.items():
        document_storage.add(collection, BytesIO(text.encode()), name="a.md", title=title)
    for pk in Source.objects.filter(collection=collection).values_list("pk", flat=True):
        ingest_pipeline.ingest(pk)
    unfinished = Source.objects.filter(collection=collection).exclude(state=State.READY)
    if unfinished:
        raise SystemExit(f"{name}: {[source.error for source in unfinished[:3]]}")
    uuids = dict(Source.objects.filter(collection=collection).values_list("title", "uuid"))
    return [
        Question(
            query=row["text"][:MAX_QUERY_CHARACTERS],
            answers=tuple(
                quality.whole(row["text"], str(uuids[title]), 10_000_000) for title in _gold(row)
            ),
            by_characters=True,
        )
        for row in _rows(f"dev/pairs/{name}/windows.jsonl")
        if _gold(row)
    ]


def _gold(row: dict[str, Any]) -> list[str]:
    """Return the titles of what was written for a window."""
    titles: list[str] = row.get("gold_pages") or row["gold_sections"]
    return titles


def _rows(path: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / path).read_text().splitlines()]

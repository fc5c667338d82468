"""Sets of questions with known answers, each over a collection of its own.

Import it once Django is set up.
"""

import json
import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, Final

from django.db import transaction

from citations.documents import storage as document_storage
from citations.evaluation import questions as gold_questions
from citations.evaluation.gold import Gold
from citations.evaluation.questions import Question
from citations.ingest import discovery
from citations.ingest import pipeline as ingest_pipeline
from citations.ingest.chunk_storage import digest_of
from citations.lexical import index as lexical_index
from citations.models import Chunk, Source, State
from citations.vectors import space as vector_space
from citations.vectors import store as vector_store
from harness.environment import DATA, note
from harness.sets import (
    SHORT,
    SHORT_DOCUMENTS,
    TRANSCRIPTS,
    defined_terms,
    drawn,
    jsonl,
    paths,
    windows,
    written,
)
from transcripts.adding import storage
from transcripts.core.sanitize import MAX_QUERY_CHARACTERS
from transcripts.core.scope import Scope
from transcripts.models import Collection

TRANSLATED: Final = {  # into the language that stands last; asked for in English, by the same gold
    "nyudl_fr": "nyudl_headings",
    "nyudl_pt": "nyudl_headings",
    "nyudl_ar": "nyudl_headings",
}
DOCUMENTS: Final = {
    "scifact": ("shared/scifact/corpus.jsonl", "dev/ir/scifact_train"),
    "cacm": ("dev/ir/cacm/corpus.jsonl", "dev/ir/cacm"),
}
WINDOWS: Final = {"hf_windows": "hfcourse", "nyu_windows": "nyudl"}
TERMS: Final = {  # of textbooks: each set is a library of short documents
    "terms_astronomy": "astronomy",
    "terms_chemistry": "chemistry-bundle",
    "terms_finance": "principles-finance",
    "terms_psychology": "psychology",
}
SETS: Final = (*TRANSCRIPTS, *DOCUMENTS, SHORT, *WINDOWS, *TERMS)
FAMILIES: Final = {  # of sets on the same talks or of the same kind
    "nyudl_headings": "nyudl",
    "nyu_windows": "nyudl",
    **dict.fromkeys(TERMS, "terms"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedSet:
    name: str
    collection: Collection
    questions: Sequence[Question]

    @property
    def scope(self) -> Scope:
        return Scope(readable=frozenset({self.collection.pk}))

    @property
    def family(self) -> str:
        return FAMILIES.get(self.name, self.name)

    @property
    def is_speech(self) -> bool:
        return self.name in WINDOWS


def fill(name: str, *, most: int, others: int | None = None) -> JudgedSet:
    """Fill a collection with a set's sources; draw at most ``most`` of its questions.

    ``others`` limits the documents of a classic collection that answer no question, and leaves some
    talks of large sets out, with their questions.
    """
    collection = Collection.objects.create(name=name, slug=name)
    if name in DOCUMENTS:
        questions = _classic(collection, name, others)
    elif name in WINDOWS:
        questions = _windows(collection, WINDOWS[name])
    elif name == SHORT or name in TERMS:
        pages = defined_terms(TERMS[name]) if name in TERMS else jsonl(SHORT_DOCUMENTS)
        questions = _short_documents(collection, pages)
    else:
        files = paths(TRANSCRIPTS.get(name, name))
        add_transcripts(collection, files)
        videos = {path.stem for path in files}
        questions = [each for each in gold(name) if videos & {at.source for at in each.answers}]
    note(f"{name}: {Chunk.objects.count():,} chunks, {len(questions):,} questions")
    return JudgedSet(name=name, collection=collection, questions=drawn(questions, most))


def gold(name: str) -> list[Question]:
    """Return a set's questions, without titles that make sense only inside one video."""
    rows = jsonl(f"dev/gold/{TRANSLATED.get(name, name)}.jsonl")
    lines = [json.dumps(row, ensure_ascii=False) for row in rows if not row.get("generic")]
    questions, rejected = gold_questions.from_file("\n".join(lines))
    assert not rejected, rejected
    return questions


def add_transcripts(
    collection: Collection,
    files: Sequence[Path],
    changed: Callable[[bytes], bytes] = lambda data: data,
) -> None:
    """Ingest transcripts as an upload would, each ``changed`` before."""
    for path in files:
        storage.add_captions(collection, changed(path.read_bytes()), name=path.name)
    discovery.adopt()
    ingest(collection)


def add_pages(collection: Collection, texts: Mapping[str, str]) -> None:
    """Ingest Markdown by its titles."""
    for title, text in texts.items():
        document_storage.add(collection, BytesIO(text.encode()), name="page.md", title=title)
    ingest(collection)


def ingest(collection: Collection) -> None:
    """Ingest all sources of a collection. Raises ``SystemExit`` if one fails."""
    sources = Source.objects.filter(collection=collection).order_by("pk")
    for pk in sources.exclude(state=State.READY).values_list("pk", flat=True):
        ingest_pipeline.ingest(pk)
    if unfinished := sources.exclude(state=State.READY)[:3]:
        raise SystemExit(f"Not ingested: {[(each.title, each.error) for each in unfinished]}")


def _short_documents(collection: Collection, rows: list[dict[str, Any]]) -> list[Question]:
    add_pages(collection, {row["title"]: row["text"] for row in rows})
    uuids = dict(Source.objects.filter(collection=collection).values_list("title", "uuid"))
    return [
        Question(
            query=query,
            answers=(_whole(query, str(uuids[row["title"]]), 10_000_000),),
            by_characters=True,
        )
        for row in rows
        for query in row["questions"]
    ]


# Windows of speech, and what was written for it


def _windows(collection: Collection, name: str) -> list[Question]:
    add_pages(collection, written(name))
    uuids = dict(Source.objects.filter(collection=collection).values_list("title", "uuid"))
    return [
        Question(
            query=window["text"][:MAX_QUERY_CHARACTERS],
            answers=tuple(
                _whole(window["text"], str(uuids[title]), 10_000_000) for title in titles
            ),
            by_characters=True,
        )
        for window in windows(f"{name}/windows")
        if (titles := window.get("gold_pages") or window["gold_sections"])
    ]


def _whole(query: str, uuid: str, length: int) -> Gold:
    """Say that a whole document answers."""
    return Gold(query=query, source=uuid, ranges=((0, length),))


# Classic collections


def _classic(collection: Collection, name: str, others: int | None) -> list[Question]:
    """Store a source and a chunk for each document; the quotes in questions are not operators."""
    corpus, folder = DOCUMENTS[name]
    relevant: dict[str, list[str]] = {}
    judged = set()
    for line in (DATA / folder / "qrels.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        question, document, grade = line.split("\t")
        judged.add(_plain(document))
        if int(grade) > 0:
            relevant.setdefault(question, []).append(_plain(document))
    stored: dict[str, tuple[str, int]] = {}
    for row in _documents(jsonl(corpus), judged, others):
        text = f"{row.get('title', '')} {row['text']}".strip()
        stored[_plain(row["_id"])] = str(_store(collection, text, row["_id"]).uuid), len(text)
    space = vector_space.claim()
    model = vector_space.embedder_of(space)
    for _ in vector_store.make(space, model, vector_store.in_batches(vector_store.missing(space))):
        pass
    return [
        Question(
            query=row["text"][:1000].replace('"', " "),
            answers=tuple(_whole(row["text"], *stored[key]) for key in relevant[row["_id"]]),
            by_characters=True,
        )
        for row in jsonl(f"{folder}/queries.jsonl")
        if row["_id"] in relevant
    ]


def _plain(document: str) -> str:
    """Drop the noughts that only some files of a collection write: "CACM-0756" is "CACM-756"."""
    return re.sub(r"-0+(?=\d)", "-", document)


def _documents(
    rows: list[dict[str, Any]], judged: set[str], others: int | None
) -> list[dict[str, Any]]:
    """Return the rows that are judged, and at most ``others`` of the rest, drawn by chance."""
    rest = [row for row in rows if _plain(row["_id"]) not in judged]
    random.Random(1).shuffle(rest)
    return [row for row in rows if _plain(row["_id"]) in judged] + rest[:others]


@transaction.atomic
def _store(collection: Collection, text: str, title: str) -> Source:
    """Store a document that is one chunk."""
    source = Source.objects.create(
        collection=collection, kind="text", title=title[:300], state=State.READY, chunk_count=1
    )
    Chunk.objects.create(
        source=source,
        ordinal=0,
        position=lexical_index.index(source.pk, [text]),
        text=text,
        span_start=0,
        span_end=len(text),
        digest=digest_of("", text),
    )
    return source

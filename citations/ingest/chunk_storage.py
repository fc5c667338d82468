"""Replace the chunks of a source in one transaction.

A chunk with unchanged text keeps its row, and so its vector and context.
"""

import hashlib
import json
from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from django.db import connection, transaction

from citations.lexical import index as lexical_index
from citations.models import LOCATION, Chunk, Source, indexed_text, keep_switch_out
from citations.quotes.source_texts import SourceText
from citations.text.chunking import ChunkDraft
from transcripts.models import Video

_TYPES = {"text": "text", "digest": "bytea", "heading": "text", "speaker": "text"} | {
    "sentence_starts": "jsonb"
}
_MOVED = ("ordinal", "position", *LOCATION, "heading", "speaker", "sentence_starts")


def digest_of(context: str, text: str) -> bytes:
    """Return the SHA-256 of the text that is embedded."""
    return hashlib.sha256(indexed_text(context, text).encode("utf-8", "replace")).digest()


def spoken(drafts: Iterable[ChunkDraft], source_text: SourceText) -> list[ChunkDraft]:
    """Add where the sentences of each chunk begin, and who alone says it."""
    return [
        replace(
            draft,
            sentence_starts=source_text.sentence_starts(draft.span),
            speaker=source_text.speaker_of(draft.span)[:100],
        )
        for draft in drafts
    ]


def replace_chunks(source: Source, drafts: Sequence[ChunkDraft], **columns: Any) -> None:
    """Store the chunks of a source and update its ``columns``. Raises ``SourceNotFound``."""
    with transaction.atomic():
        # Whoever deletes the video locks it first, and would wait for chunks in another order.
        if source.video_id is not None:
            video = Video.objects.select_for_update(no_key=True).filter(pk=source.video_id)
            list(video.values_list("pk"))
        keep_switch_out()
        existing: dict[str, deque[Chunk]] = defaultdict(deque)
        for chunk in _locked(source):
            existing[chunk.text].append(chunk)
        unchanged = [
            existing[draft.text].popleft() if existing.get(draft.text) else None for draft in drafts
        ]
        texts = [
            old.indexed_text if old else draft.text
            for old, draft in zip(unchanged, drafts, strict=True)
        ]
        first = lexical_index.index(source.pk, texts)
        if gone := [old.pk for rest in existing.values() for old in rest]:
            Chunk.objects.filter(pk__in=gone).delete()
        rows = [
            (number, first + number, *(getattr(draft, name) for name in _MOVED[2:]))
            for number, draft in enumerate(drafts)
        ]
        _move([(old.pk, *row) for old, row in zip(unchanged, rows, strict=True) if old])
        _add(
            source,
            [
                (draft.text, digest_of("", draft.text), *row)
                for old, draft, row in zip(unchanged, drafts, rows, strict=True)
                if old is None
            ],
        )
        source.change(chunk_count=len(drafts), **columns)


def reindex(source: Source) -> None:
    """Index the words of a source's chunks again, with their contexts."""
    with transaction.atomic(), connection.cursor() as cursor:
        keep_switch_out()
        first = lexical_index.index(source.pk, [chunk.indexed_text for chunk in _locked(source)])
        cursor.execute(
            "UPDATE citations_chunk SET position = %s + ordinal WHERE source_id = %s",
            [first, source.pk],
        )


def _locked(source: Source) -> list[Chunk]:
    """Lock a source's chunks, always in the same order, and return them by ordinal."""
    chunks = Chunk.objects.select_for_update().filter(source=source).order_by("pk")
    rows = chunks.only("pk", "text", "context", "ordinal")
    return sorted(rows, key=lambda chunk: chunk.ordinal)


def _move(rows: Sequence[tuple[Any, ...]]) -> None:
    """Update the unchanged chunks in one statement."""
    changes = ", ".join(f'"{name}" = given."{name}"' for name in _MOVED)
    _run(
        f"UPDATE citations_chunk c SET {changes} FROM {{given}} WHERE c.id = given.id",
        ("id", *_MOVED),
        rows,
    )


def _add(source: Source, rows: Sequence[tuple[Any, ...]]) -> None:
    """Insert new chunks in one statement: by the ORM, it takes longer than cutting them."""
    names = ("text", "digest", *_MOVED)
    columns = ", ".join(f'"{name}"' for name in names)
    _run(
        f"INSERT INTO citations_chunk (source_id, context, {columns})"
        f" SELECT {source.pk}, '', {columns} FROM {{given}} ORDER BY ordinal",
        names,
        rows,
    )


def _run(sql: str, names: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> None:
    """Run a statement on rows, which it reads as ``given``."""
    if not rows:
        return
    columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    columns["sentence_starts"] = [*map(json.dumps, columns["sentence_starts"])]
    arrays = ", ".join(f"%s::{_TYPES.get(name, 'bigint')}[]" for name in names)
    listed = ", ".join(f'"{name}"' for name in names)
    with connection.cursor() as cursor:
        given = f"unnest({arrays}) AS given ({listed})"
        cursor.execute(sql.format(given=given), [*columns.values()])

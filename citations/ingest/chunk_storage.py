"""Replace the chunks of a source in one transaction.

A chunk with unchanged text keeps its row, and so its vector and context.
"""

import hashlib
from collections import defaultdict, deque
from collections.abc import Sequence
from typing import Any

from django.db import connection, transaction

from citations.lexical import index as lexical_index
from citations.models import Chunk, Source, keep_switch_out
from citations.text.chunking import ChunkDraft

_MOVED = (
    "ordinal",
    "position",
    "span_start",
    "span_end",
    "start",
    "end",
    "page",
    "last_page",
    "heading",
)
_TYPES = ("bigint", "bigint", "bigint", "bigint", "bigint", "bigint", "bigint", "bigint", "text")


def digest_of(context: str, text: str) -> bytes:
    """Return the SHA-256 of the text that is embedded."""
    return hashlib.sha256(
        (f"{context}\n\n{text}" if context else text).encode("utf-8", "replace")
    ).digest()


def replace_chunks(source: Source, drafts: Sequence[ChunkDraft], **columns: Any) -> None:
    """Store these chunks and update ``columns`` of the source in one transaction with its words.

    Raises ``SourceNotFound`` if the source was deleted meanwhile.
    """
    with transaction.atomic():
        keep_switch_out()
        existing = _by_text(
            Chunk.objects.select_for_update()
            .filter(source=source)
            .order_by("pk")
            .only("pk", "text", "context", "ordinal")
        )
        unchanged = [
            existing[draft.text].popleft() if existing.get(draft.text) else None for draft in drafts
        ]
        texts = [
            old.indexed_text if old else draft.text
            for old, draft in zip(unchanged, drafts, strict=True)
        ]
        first = lexical_index.index(source.pk, texts)
        Chunk.objects.filter(pk__in=[old.pk for rest in existing.values() for old in rest]).delete()
        placed = [
            (old, _row(draft, number, first))
            for number, (old, draft) in enumerate(zip(unchanged, drafts, strict=True))
        ]
        _move([(old.pk, row) for old, row in placed if old])
        Chunk.objects.bulk_create(
            [
                _new(source, draft, row)
                for (old, row), draft in zip(placed, drafts, strict=True)
                if old is None
            ],
            batch_size=500,
        )
        source.change(chunk_count=len(drafts), **columns)


def reindex(source: Source) -> None:
    """Index the words of a source's chunks again, with their contexts."""
    with transaction.atomic():
        keep_switch_out()
        chunks = list(
            Chunk.objects.select_for_update()
            .filter(source=source)
            .order_by("pk")
            .only("pk", "text", "context", "ordinal")
        )
        chunks.sort(key=lambda chunk: chunk.ordinal)
        first = lexical_index.index(source.pk, [chunk.indexed_text for chunk in chunks])
        with connection.cursor() as cursor:
            cursor.execute(
                "UPDATE citations_chunk SET position = %s + ordinal WHERE source_id = %s",
                [first, source.pk],
            )


def _by_text(chunks: Any) -> dict[str, deque[Chunk]]:
    chunks_of: dict[str, deque[Chunk]] = defaultdict(deque)
    for chunk in sorted(chunks, key=lambda chunk: chunk.ordinal):
        chunks_of[chunk.text].append(chunk)
    return chunks_of


def _row(draft: ChunkDraft, number: int, first: int) -> tuple[Any, ...]:
    where = (draft.span_start, draft.span_end, draft.start, draft.end, draft.page, draft.last_page)
    return (number, first + number, *where, draft.heading)


def _move(rows: Sequence[tuple[int, tuple[Any, ...]]]) -> None:
    """Update the unchanged chunks in one statement."""
    if not rows:
        return
    columns = [[pk for pk, _ in rows], *([row[at] for _, row in rows] for at in range(len(_MOVED)))]
    sources = ", ".join(f"%s::{kind}[]" for kind in ("bigint", *_TYPES))
    names = ", ".join(f'"{name}"' for name in _MOVED)
    changes = ", ".join(f'"{name}" = moved."{name}"' for name in _MOVED)
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE citations_chunk c SET {changes} FROM unnest({sources}) AS moved (pk, {names})"
            " WHERE c.id = moved.pk",
            columns,
        )


def _new(source: Source, draft: ChunkDraft, row: tuple[Any, ...]) -> Chunk:
    return Chunk(
        source=source,
        text=draft.text,
        digest=digest_of("", draft.text),
        **dict(zip(_MOVED, row, strict=True)),
    )

"""Cutting a source: its chunks are exchanged for others in one transaction, and those whose text stays keep their row, and so their vector and context."""

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
    """Return the SHA-256 of what is embedded."""
    return hashlib.sha256(
        (f"{context}\n\n{text}" if context else text).encode("utf-8", "replace")
    ).digest()


def exchange(source: Source, drafts: Sequence[ChunkDraft], **about: Any) -> None:
    """Give a source these chunks, and its row what is told ``about`` it. Words and chunks change at one moment: no hit is lost or doubled.

    Raises ``SourceNotFound`` when it was deleted meanwhile.
    """
    with transaction.atomic():
        keep_switch_out()
        before = _by_text(
            Chunk.objects.select_for_update()
            .filter(source=source)
            .order_by("pk")
            .only("pk", "text", "context", "ordinal")
        )
        kept = [
            before[draft.text].popleft() if before.get(draft.text) else None for draft in drafts
        ]
        texts = [
            old.indexed_text if old else draft.text for old, draft in zip(kept, drafts, strict=True)
        ]
        first = lexical_index.index(source.pk, texts)
        Chunk.objects.filter(pk__in=[old.pk for left in before.values() for old in left]).delete()
        placed = [
            (old, _row(draft, number, first))
            for number, (old, draft) in enumerate(zip(kept, drafts, strict=True))
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
        source.change(chunk_count=len(drafts), **about)


def reindex(source: Source) -> None:
    """Make known the words of a source's chunks as they are now, with their contexts."""
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


def _by_text(chunks: "Any") -> dict[str, deque[Chunk]]:
    found: dict[str, deque[Chunk]] = defaultdict(deque)
    for chunk in sorted(chunks, key=lambda chunk: chunk.ordinal):
        found[chunk.text].append(chunk)
    return found


def _row(draft: ChunkDraft, number: int, first: int) -> tuple[Any, ...]:
    where = (draft.span_start, draft.span_end, draft.start, draft.end, draft.page, draft.last_page)
    return (number, first + number, *where, draft.heading)


def _move(rows: Sequence[tuple[int, tuple[Any, ...]]]) -> None:
    """Update the rows that stay, all in one statement."""
    if not rows:
        return
    columns = [[pk for pk, _ in rows], *([row[at] for _, row in rows] for at in range(len(_MOVED)))]
    sources = ", ".join(f"%s::{kind}[]" for kind in ("bigint", *_TYPES))
    names = ", ".join(f'"{name}"' for name in _MOVED)
    changes = ", ".join(f'"{name}" = moved."{name}"' for name in _MOVED)
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE citations_chunk c SET {changes} FROM unnest({sources}) AS moved (pk, {names}) WHERE c.id = moved.pk",
            columns,
        )


def _new(source: Source, draft: ChunkDraft, row: tuple[Any, ...]) -> Chunk:
    return Chunk(
        source=source,
        text=draft.text,
        digest=digest_of("", draft.text),
        **dict(zip(_MOVED, row, strict=True)),
    )

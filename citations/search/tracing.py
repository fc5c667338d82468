"""Say what became of a passage in a search: its ranks, and the rule by which it is not listed."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from django.db import connection
from django.db.models import QuerySet

from citations.errors import PassageNotFound
from citations.lexical import index as lexical_index
from citations.lexical.query import Query
from citations.library.filters import Filter, ResolvedFilter, find_source, resolve
from citations.models import Chunk, Source
from citations.passages import DropRule, TracedHit
from citations.search.candidates import CandidateSet, SearchRequest
from citations.search.chunk_rows import Candidate, DroppedRow, fetch
from citations.search.fusion import FusedHit
from citations.search.selection import HitGroup, RankedHit
from citations.vectors import space as vector_space
from transcripts.core.sanitize import MAX_QUERY_CHARACTERS, clean, uuid_of
from transcripts.core.scope import Scope
from transcripts.text.reading import cut_at_word
from transcripts.text.timecodes import parse_clock

DEEP: Final = 1_000  # hits of each branch among which one passage is looked for
PREVIEW: Final = 120  # characters of a passage that is not listed
_PAGE: Final = re.compile(r"/(?:sources/([\w-]+)|videos/(\d{1,18}))/")
_LONGEST_ID: Final = 18  # digits


@dataclass(frozen=True, kw_only=True)
class SearchTrace:
    """What a search went through: what the branches found, the ranked candidates, the groups that
    these make, the ``listed`` ones of them, and by which rule the others are ``left`` out.
    """

    request: SearchRequest
    candidates: CandidateSet
    ranked: Sequence[RankedHit]
    groups: Sequence[HitGroup]
    listed: Sequence[HitGroup]
    left: Sequence[DroppedRow]

    def dropped(self) -> tuple[TracedHit, ...]:
        """Return the hits that are not listed by themselves, best first."""
        hits = [self._traced(dropped.row, dropped) for dropped in self._dropped_rows()]
        last = len(self.candidates.fused) + 1
        return tuple(sorted(hits, key=lambda hit: (hit.rank or last, hit.fused_rank or last)))

    def find(self, named: str) -> TracedHit:
        """Return what became of the passage of ``passage_named``. Raises as that does."""
        chunk = passage_named(self.request.scope, named)
        for number, group in enumerate(self.listed, start=1):
            row = group.best.hit.candidate
            if row.chunk == chunk.pk:
                folded = DroppedRow(row, group.folded) if group.folded else None
                return self._traced(row, folded, number=number)
        for dropped in self._dropped_rows():
            if dropped.row.chunk == chunk.pk:
                return self._traced(dropped.row, dropped)
        rows = fetch(self.request.scope, [chunk.position])
        if chunk.position not in rows:
            raise _not_there()
        row = rows[chunk.position]
        return self._traced(row, DroppedRow(row, self._rule_of(row)), **self._deep_ranks(row))

    def _dropped_rows(self) -> Iterator[DroppedRow]:
        yield from self.left
        rules = {dropped.row.chunk: dropped.rule for dropped in self.left}
        for group in self.groups:
            kept = group.best.hit.candidate.chunk
            rule = rules.get(kept)  # where the group is not listed, its parts are not, either
            for part in group.parts:
                yield DroppedRow(part, rule or DropRule.NEIGHBOUR, None if rule else kept)
            for row, similarity in group.duplicates:
                yield DroppedRow(row, DropRule.DUPLICATE, kept, similarity)
        # Words may find what meaning rejects: they look at the context of a passage, too.
        others = dict.fromkeys(self.candidates.rejected, DropRule.QUERY)
        others |= dict.fromkeys(self._fused, DropRule.CANDIDATES)
        positions = [position for position in others if position not in self._final]
        for position, row in fetch(self.request.scope, positions).items():
            yield DroppedRow(row, others[position])

    @cached_property
    def _final(self) -> dict[int, tuple[int, RankedHit]]:
        """The candidates with their final ranks, by their positions."""
        return {hit.hit.candidate.position: (n, hit) for n, hit in enumerate(self.ranked, start=1)}

    @cached_property
    def _fused(self) -> dict[int, tuple[int, FusedHit[int]]]:
        """The hits of the branches with their fused ranks, by their positions."""
        return {hit.key: (n, hit) for n, hit in enumerate(self.candidates.fused, start=1)}

    def _traced(
        self,
        row: Candidate,
        dropped: DroppedRow | None = None,
        *,
        number: int | None = None,
        **ranks: Any,
    ) -> TracedHit:
        if row.position in self._fused:
            fused_rank, fused = self._fused[row.position]
            lexical_rank, vector_rank = fused.ranks
            ranks |= {"lexical_rank": lexical_rank, "vector_rank": vector_rank}
            ranks["fused_rank"] = fused_rank
        if row.position in self._final:
            rank, ranked = self._final[row.position]
            ranks |= {"rank": rank, "bm25": ranked.hit.bm25, "cosine": ranked.hit.cosine}
        return TracedHit(
            chunk=row.chunk,
            origin=row.origin,
            locator=row.locator,
            text=cut_at_word(" ".join(row.text.split()), PREVIEW),
            link=row.link(),
            rule=dropped and dropped.rule,
            number=number,
            kept=dropped and dropped.kept,
            similarity=dropped and dropped.similarity,
            **ranks,
        )

    # A passage that is none of the hits

    def _rule_of(self, row: Candidate) -> DropRule:
        if not self._is_in_filter(row):
            return DropRule.FILTER
        admits = self.request.query.admits(row.indexed_text)
        return DropRule.CANDIDATES if admits else DropRule.QUERY

    def _is_in_filter(self, row: Candidate) -> bool:
        resolved = self._resolved
        if resolved.sources is not None and row.source not in resolved.sources:
            return False
        if not resolved.narrows_passages:
            return True
        sql = (
            f"SELECT 1 FROM citations_chunk c WHERE c.id = %(id)s AND {resolved.passages_sql('c')}"
        )
        with connection.cursor() as cursor:
            cursor.execute(sql, {"id": row.chunk, **resolved.passage_values})
            return cursor.fetchone() is not None

    @cached_property
    def _resolved(self) -> ResolvedFilter:
        return resolve(self.request.scope, self.request.filter)

    def _deep_ranks(self, row: Candidate) -> dict[str, Any]:
        """Return its ranks among the first ``DEEP`` of each branch that was searched."""
        ranks: dict[str, Any] = {}
        if self.request.uses_words:
            hits = lexical_index.search(self.request.query, limit=DEEP, resolved=self._resolved)
            places = {hit.position: (n, hit.score) for n, hit in enumerate(hits, start=1)}
            ranks["lexical_rank"], ranks["bm25"] = places.get(row.position, (None, None))
        embedding = self.candidates.embedding
        if embedding is not None and embedding.is_made:
            vector, space = embedding.vector(), embedding.space
            near = vector_space.nearest(vector, space=space, limit=DEEP, resolved=self._resolved)
            ranks["vector_rank"] = next(
                (n for n, hit in enumerate(near, start=1) if hit.position == row.position), None
            )
            cosines = vector_space.cosines_at(vector, [row.position], space=space)
            ranks["cosine"] = cosines.get(row.position)
        return ranks


def passage_named(scope: Scope, named: str) -> Chunk:
    """Return the passage with an id (``chunk``), at an address of a page of this site or of a
    second on YouTube, or with words in this order.

    Raises ``PassageNotFound``, and ``SourceNotFound`` for an address of no source.
    """
    visible = Chunk.objects.filter(source__in=Source.objects.visible(scope))
    written = " ".join(clean(named, MAX_QUERY_CHARACTERS).strip(' "“”„«»').split())
    if written.isdecimal() and len(written) <= _LONGEST_ID:
        chunk = visible.filter(pk=int(written)).first()
    elif "/" in written and " " not in written:
        chunk = _at_address(scope, visible, written)
    else:
        quoted = Query(text=written, words=written, phrases=(written,))
        hits = lexical_index.search(quoted, limit=1, resolved=resolve(scope, Filter()))
        chunk = visible.filter(position__in=[hit.position for hit in hits]).first()
    if chunk is None:
        raise _not_there()
    return chunk


def _at_address(scope: Scope, visible: QuerySet[Chunk], address: str) -> Chunk | None:
    parts = urlsplit(address)
    values = {name: values[-1] for name, values in parse_qs(parts.query).items()}
    if match := _PAGE.search(parts.path):
        own = {"source__uuid": uuid_of(match[1])} if match[1] else {"source__video": int(match[2])}
    else:
        own = {"source": find_source(scope, address).pk}
    chunks = visible.filter(**own)
    if values.get("lang"):
        chunks = chunks.filter(source__language=values["lang"])
    first, last = values.get("from", ""), values.get("to", "")
    if first.isdecimal() and last.isdecimal():
        within = chunks.filter(span_start__lt=int(last), span_end__gt=int(first))
        return min(within, key=lambda chunk: abs(chunk.span_start - int(first)), default=None)
    at = int(parse_clock(values.get("t", "0")) * 1000)
    return chunks.filter(start__lt=at + 1000, end__gte=at).order_by("-start").first()


def _not_there() -> PassageNotFound:
    return PassageNotFound(
        "No passage has this id, this address or these words in their order.",
        hint="Quote fewer words, or give the link of the passage.",
    )

"""Search over levels of detail: all at once, or from the whole downwards."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final, NamedTuple

from django.contrib.auth.models import User

from citations import retrieval
from citations.filters import Filter
from citations.models import Chunk
from citations.passages import Passage, Results, Stage
from citations.replies import Evidence, Part
from transcripts.library import MAX_QUERY
from transcripts.scope import Scope

UNQUOTED: Final = "No passage holds the words in quotation marks as they stand; they were looked for without the marks."
_QUOTES: Final = dict.fromkeys(map(ord, '"“”„«»'), " ")


class Strategy(StrEnum):
    """How levels are gone through: all at once, from the whole downwards, or the chunks alone."""

    COLLAPSED = "collapsed"
    DESCENT = "descent"
    FLAT = "flat"


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Passages of any level, best first and numbered from 1, and how they were found. ``notes`` are sentences for people."""

    evidence: tuple[Evidence, ...]
    stages: tuple[Stage, ...] = ()
    notes: tuple[str, ...] = ()


def find(
    scope: Scope,
    part: Part,
    *,
    wanted: Filter = Filter(),  # noqa: B008  frozen
    limit: int = 10,
    strategy: Strategy = Strategy.COLLAPSED,
    user: User | None = None,
) -> Found:
    """Find what may answer a question, at most ``limit`` (1–50) passages. One that is longer than a search takes is cut.

    Words in quotation marks that occur nowhere are looked for without the marks. Raises what ``retrieval.search`` raises.
    """
    results, notes = _passages(scope, part, wanted, limit, user)
    evidence = _chunks(results.passages)
    return Found(evidence=_numbered(evidence[:limit]), stages=results.stages, notes=notes)


# Chunks


def _passages(scope: Scope, part: Part, wanted: Filter, limit: int, user: User | None) -> tuple[Results, tuple[str, ...]]:
    question = part.text[:MAX_QUERY]
    results = retrieval.search(scope, question, limit=limit, wanted=wanted, user=user)
    unquoted = question.translate(_QUOTES)
    if results.passages or unquoted == question:
        return results, results.notes
    results = retrieval.search(scope, unquoted, limit=limit, wanted=wanted, user=user)
    return results, (*results.notes, *((UNQUOTED,) if results.passages else ()))


class _Row(NamedTuple):
    source: int
    digest: str


def _chunks(passages: Sequence[Passage]) -> list[Evidence]:
    """Make evidence of passages; those that were cut anew a moment ago are left out, since their characters may be others now."""
    rows = Chunk.objects.filter(pk__in=[one.chunk for one in passages]).order_by().values_list("pk", "source_id", "source__digest")
    known = {pk: _Row(source, digest) for pk, source, digest in rows}
    return [_evidence(one, known[one.chunk]) for one in passages if one.chunk in known]


def _evidence(one: Passage, row: _Row) -> Evidence:
    return Evidence(
        number=0,
        source=row.source,
        origin=one.origin,
        locator=one.locator,
        text=one.text,
        spans=(one.locator.span,),
        digest=row.digest,
        level=0,
        score=one.score,
        heading=one.heading,
        link=one.link,
    )


def _numbered(evidence: Sequence[Evidence]) -> tuple[Evidence, ...]:
    return tuple(replace(one, number=number) for number, one in enumerate(evidence, start=1))

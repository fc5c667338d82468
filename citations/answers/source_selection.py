"""Selects the sources that a question names, among those that its user may read."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from django.db.models import Q

from citations.answers.answer import Evidence, QuestionPart
from citations.answers.question import named_sources
from citations.answers.writing.sentence_ranking import Rate, stems
from citations.library.filters import Filter, matching
from citations.models import SourceKind
from transcripts.scope import Scope

MOST: Final = 5_000  # titles with a word of the question; of more, none is meant
NEAR: Final = 0.35  # cosine from which on a passage covers a question in other words
_SHOWN: Final = 120  # characters of a title


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectedSources:
    """Named sources, by primary key, the question without their names, and their titles."""

    keys: frozenset[int]
    question: str
    titles: str

    @property
    def note(self) -> str:
        return f"Looked only in {self.titles}, which the question names."

    @property
    def miss_note(self) -> str:
        return (
            f"Nothing that answers was found in {self.titles}, which the question names;"
            " looked everywhere."
        )


def select(scope: Scope, filter: Filter, question: str) -> SelectedSources | None:
    """Return the sources that a question names; None without any, or with a filter by source."""
    if filter.sources or filter.keys is not None:
        return None
    titles = _titles(scope, filter, named_sources.title_words(question))
    named = named_sources.find_named_sources(question, titles)
    if not named.keys:
        return _only_one(scope, filter, question)
    shown = _quoted([title for key, title in titles if key in named.keys])
    return SelectedSources(keys=named.keys, question=named.question, titles=shown)


def is_covered(
    parts: Sequence[QuestionPart], evidence: Sequence[Evidence], rate: Rate | None
) -> bool:
    """Tell whether passages cover a part: half of its words, or a passage near to it.

    A search in one source always finds something, so that scores tell nothing. Every source covers
    a question about itself as a whole.
    """
    texts = [passage.text for passage in evidence]
    known = {word for text in texts for word in stems(text)}
    return any(part.is_of_the_whole or _is_covered(part.text, texts, known, rate) for part in parts)


def _is_covered(question: str, texts: Sequence[str], known: set[str], rate: Rate | None) -> bool:
    wanted = set(stems(question))
    if 2 * len(wanted & known) >= len(wanted):
        return True
    nearness = rate(question, texts) if rate and texts else None
    return nearness is not None and max(nearness) >= NEAR


def _titles(scope: Scope, filter: Filter, words: Sequence[str]) -> list[tuple[int, str]]:
    if not words:
        return []
    has_word = Q()
    for word in words:
        has_word |= Q(title__icontains=word)
    rows = matching(scope, filter).filter(has_word, chunk_count__gt=0).order_by("pk")
    titles = list(rows.values_list("pk", "title")[: MOST + 1])
    return titles if len(titles) <= MOST else []


def _only_one(scope: Scope, filter: Filter, question: str) -> SelectedSources | None:
    """Return the one document or recording that “the book” or “the talk” can mean.

    None where there are several, or no other sources beside it.
    """
    kind = named_sources.definite_kind(question)
    if not kind:
        return None
    sources = matching(scope, filter).filter(chunk_count__gt=0)
    of_kind = Q(kind=SourceKind.VIDEO) if kind == "recording" else ~Q(kind=SourceKind.VIDEO)
    candidates = sources.filter(of_kind)
    work = "pk" if kind == "document" else "video"
    works = candidates.order_by().values_list("video", work).distinct()[:2]
    if len(works) != 1 or not sources.exclude(pk__in=candidates).exists():
        return None
    rows = list(candidates.order_by("pk").values_list("pk", "title"))
    return SelectedSources(
        keys=frozenset(key for key, _ in rows),
        question=question,
        titles=_quoted([title for _, title in rows]),
    )


def _quoted(titles: Sequence[str]) -> str:
    return " and ".join(dict.fromkeys(f"“{title[:_SHOWN]}”" for title in titles))

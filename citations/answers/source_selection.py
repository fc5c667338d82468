"""The sources that a question names, looked up among those that its asker may read."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from django.db.models import Q

from citations.answers.draft import AnswerRequest, AnswerRun
from citations.answers.question import named_sources
from citations.answers.question.named_sources import Clue
from citations.answers.writing import term_matching
from citations.answers.writing.sentence_ranking import Rate
from citations.library.filters import matching
from citations.models import SourceKind

MOST: Final = 1_000  # titles with the words of a naming; where there are more, they name nothing in particular
NEAR: Final = 0.35  # cosine from which on a passage tells of a question that has other words
_TOLD: Final = 120  # characters of a title


@dataclass(frozen=True, slots=True, kw_only=True)
class Aim:
    """Sources, by primary key, what is asked of them, and their titles for people."""

    keys: frozenset[int]
    question: str
    titles: str

    @property
    def note(self) -> str:
        """Say where was looked."""
        return f"Looked only in {self.titles}, which the question names."

    @property
    def missed(self) -> str:
        """Say that it was no use."""
        return f"Nothing that answers was found in {self.titles}, which the question names; looked everywhere."


def aim(asked: AnswerRequest, question: str) -> Aim | None:
    """Return the sources that a question names; None where it names none, or the asker has chosen sources."""
    if asked.filter.sources or asked.filter.keys is not None:
        return None
    clues = named_sources.clues(question)
    titles = _titles(asked, clues) if clues else []
    found = named_sources.named(question, titles)
    if not found.keys:
        return _only(asked, question)
    told = dict.fromkeys(f"“{title[:_TOLD]}”" for key, title in titles if key in found.keys)
    return Aim(keys=found.keys, question=found.question, titles=" and ".join(told))


def _only(asked: AnswerRequest, question: str) -> Aim | None:
    """Return the one document, or the one recording, that a question means by “the book” or “the talk”, where there are other sources beside it."""
    kind = named_sources.kind(question)
    if not kind:
        return None
    sources = matching(asked.scope, asked.filter).filter(chunk_count__gt=0)
    meant = (
        sources.filter(kind=SourceKind.VIDEO)
        if kind == "recording"
        else sources.exclude(kind=SourceKind.VIDEO)
    )
    works = list(
        meant.order_by()
        .values_list("video", "pk" if kind == "document" else "video")
        .distinct()[:2]
    )
    if len(works) != 1 or not sources.exclude(pk__in=meant).exists():
        return None
    rows = list(meant.order_by("pk").values_list("pk", "title"))
    return Aim(
        keys=frozenset(pk for pk, _ in rows),
        question=question,
        titles=" and ".join(dict.fromkeys(f"“{title[:_TOLD]}”" for _, title in rows)),
    )


def speaks(run: AnswerRun, rate: Rate | None) -> bool:
    """Say whether what was found tells of a question: by half of the words of a part, or by what is near to it.

    A search of one source always finds something, and finds it first: how high its scores are says nothing. Of what it is as a whole every source tells.
    """
    texts = [one.text for one in run.evidence]
    said = {word for text in texts for word in term_matching.stems(text)}
    return any(
        part.is_of_the_whole or _tells_of(part.text, texts, said, rate) for part in run.route.parts
    )


def _tells_of(question: str, texts: Sequence[str], said: set[str], rate: Rate | None) -> bool:
    wanted = set(term_matching.stems(question))
    if 2 * len(wanted & said) >= len(wanted):
        return True
    near = rate(question, texts) if rate and texts else None
    return near is not None and max(near) >= NEAR


def _titles(asked: AnswerRequest, clues: Sequence[Clue]) -> list[tuple[int, str]]:
    """Return the titles with the words that are named, of what the asker may read; none where these are too many."""
    wanted = Q()
    for clue in clues:
        has_all = Q(title__iexact=clue.words[0]) if clue.is_whole else Q()
        for word in () if clue.is_whole else clue.words:
            has_all &= Q(title__icontains=word)
        wanted |= has_all
    titles = list(
        matching(asked.scope, asked.filter)
        .filter(wanted, chunk_count__gt=0)
        .order_by("pk")
        .values_list("pk", "title")[: MOST + 1]
    )
    return titles if len(titles) <= MOST else []

"""Answers without a language model: the sentences that say most about the question.

An overview has a sentence from each section that was found.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, zip_longest
from typing import Final

from citations.answers.answer import Breadth, Evidence, QuestionPart
from citations.answers.writing.excerpts import (
    MIN_WORDS,
    Pick,
    Read,
    Rows,
    extended,
    is_repeated,
    overlap,
    own_rows,
    sentences,
)
from citations.answers.writing.sentence_ranking import Rate, covered, rated, signs, stems
from citations.outline.tree import DOCUMENT, SECTION
from citations.text.sentences import ends_with_stop, is_punctuated
from citations.text.statements import is_aside, points_back
from citations.text.words import function_words

MAX_EXCERPTS: Final = 8  # excerpts that answer a question; all but the first ``SHOWN`` are folded
SHOWN: Final = 3
MAX_LISTED: Final = 5  # excerpts that answer a question for a list, or for more; none is folded
WORTH: Final = 0.4  # of the best sentence's score, that another one needs
ELSEWHERE_WORTH: Final = 0.2  # the same for the best sentence of another passage
RESTATING: Final = 0.5  # factor on the score of a sentence that only has the question's words
FURTHER: Final = 0.5  # of the best sentence's score, that more on a subject quoted before needs
ALIKE: Final = 0.6  # of the words in common, from which on a sentence says nothing new
CONSIDERED: Final = {Breadth.SPECIFIC: 10, Breadth.BROAD: 12}  # passages, best first
OVERVIEW: Final = 7  # sentences of an overview
# Weight of a sentence's distance from the middle of its stretch, as a share of the source.
POSITION_PENALTY: Final = 2.0
WORTH_SAYING: Final = 0.5  # of the best sentence's score, that another one of an overview needs
DEPENDENT: Final = 0.8  # factor on the score of a sentence that needs the one before it
NARROW: Final = 0.9  # of the score of a sentence that is central to a part of its source only
NAMED: Final = 0.3  # bonus for a sentence with all words of its heading
_LIST_ASKED: Final = re.compile(
    r"""^\W*(?: (?:list|name|enumerate)\b | (?:what|which)\s+(?:are\s+(?:\w+\s+){0,4})?
    (?:steps|stages|phases|reasons|ways|kinds|types|parts|things|benefits|advantages|drawbacks
    |risks|examples)\b )""",
    re.VERBOSE | re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Extract:
    """The excerpts that answer a part of a question, and the signs of an answer.

    Excerpts are best first or, in an overview, in their order. ``repeats`` tells that an earlier
    answer has some of the sentences behind the signs; these are not among the excerpts. ``absence``
    says which name in the question the passages do not have; empty: they have all.
    """

    part: QuestionPart
    picks: tuple[Pick, ...]
    signs: Mapping[str, float]
    repeats: bool = False
    absence: str = ""


def asks_for_list(question: str) -> bool:
    """Tell whether several things are asked for."""
    return _LIST_ASKED.search(question) is not None


def row_text(pick: Pick, question: str) -> str:
    """Write a row of a table as “MobileNet-V2 · Latency (ms): 11”: the columns that a question has
    a word of, or all.
    """
    first, *cells = (cell.strip() for cell in pick.text.split("|"))
    columns = [pair for pair in zip(pick.header[1:], cells, strict=False) if all(pair)]
    question_stems = set(stems(question))
    wanted_columns = [pair for pair in columns if not question_stems.isdisjoint(stems(pair[0]))]
    named = "; ".join(f"{name}: {cell}" for name, cell in wanted_columns or columns)
    return f"{first} · {named}"


def extract(
    parts: Sequence[QuestionPart],
    evidence: Sequence[Evidence],
    *,
    rate: Rate | None = None,
    read: Read | None = None,
    rows: Rows = own_rows,
    earlier_quotes: Sequence[str] = (),
    asks_for_more: bool = False,
) -> list[Extract]:
    """Pick the excerpts that answer each part, as if it were asked alone: none of
    ``earlier_quotes``.

    A question that ``asks_for_more``, or for a list, gets fewer and better ones: none is folded.

    ``rate`` is called once for each part, ``rows`` for each passage. ``read`` is called for each
    pick, so that an excerpt may extend beyond its passage.
    """
    extracts: list[Extract] = []
    for number, part in enumerate(parts):
        of_part = (passage for passage in evidence if passage.part == number)
        best = sorted(of_part, key=lambda passage: -passage.score)
        passages = best[: CONSIDERED[part.breadth] + len(earlier_quotes)]
        subject, own = (part.about, "") if part.about else (part.text, part.own)
        ranked = rated(subject, sentences(passages, rows), rate, own=own)
        new = _unrepeated(ranked, earlier_quotes)
        if part.breadth == Breadth.BROAD:
            picks = _overview(part, new, passages)
        else:
            is_listed = bool(earlier_quotes) or asks_for_more or asks_for_list(part.text)
            most = MAX_LISTED if is_listed else SHOWN if len(parts) > 1 else MAX_EXCERPTS
            picks = _answer(subject, new, most=most, is_listed=is_listed)
        if not part.is_of_the_whole:  # sentences of an outline stand alone
            picks = extended(picks, earlier_quotes=earlier_quotes, read=read)
        extracts.append(
            Extract(
                part=part,
                picks=tuple(picks),
                signs=signs(subject, ranked, own=own),
                repeats=len(new) < len(ranked),
            )
        )
    return extracts


def _unrepeated(picks: Sequence[Pick], earlier_quotes: Sequence[str]) -> list[Pick]:
    """Leave out sentences that were quoted before; and then also what scores far below the best: it
    is off topic.
    """
    new = [pick for pick in picks if not is_repeated(pick.text, earlier_quotes)]
    if len(new) == len(picks):
        return new
    least = FURTHER * max(pick.score for pick in picks)
    return [pick for pick in new if pick.score >= least]


def _answer(question: str, picks: Sequence[Pick], *, most: int, is_listed: bool) -> list[Pick]:
    """Choose the best sentences, best first.

    Unless several things are asked for, one of each passage comes before a second one of any: who
    reads on looks for another place. It is not the question again, where the passage has another.
    """
    ranked = sorted(picks, key=lambda pick: -pick.score)
    worthy = [pick for pick in ranked if len(pick.text.split()) >= MIN_WORDS]
    question_stems = set(stems(question))
    passages: dict[int, list[Pick]] = {}  # in the order of their best sentences
    for pick in worthy:
        passages.setdefault(pick.evidence.number, []).append(pick)

    def fitness(pick: Pick) -> float:
        return pick.score * (RESTATING if question_stems.issuperset(stems(pick.said)) else 1)

    places = [] if is_listed else [max(passage, key=fitness) for passage in passages.values()]
    chosen: list[Pick] = []
    for candidates, share in ((places, ELSEWHERE_WORTH), (worthy, WORTH)):
        for pick in candidates:
            is_worthy = pick.score >= share * worthy[0].score
            if len(chosen) < most and is_worthy and _is_new(pick, chosen):
                chosen.append(pick)
    return chosen


def _is_new(pick: Pick, others: Iterable[Pick]) -> bool:
    """Tell whether a pick adds more than a little to others."""
    mine = set(stems(pick.text))
    for other in others:
        theirs = set(stems(other.text))
        is_alike = mine and theirs and len(mine & theirs) >= ALIKE * min(len(mine), len(theirs))
        if is_alike or overlap(pick, other):
            return False
    return True


# Overviews


def _overview(
    part: QuestionPart, picks: Sequence[Pick], passages: Sequence[Evidence]
) -> list[Pick]:
    """Choose sentences in the sources' order: on the question's subject, or from every source.

    Asides and broken sentences are left out, unless nothing is left.
    """
    texts: dict[int, list[str]] = {}
    for pick in picks:
        texts.setdefault(pick.evidence.source, []).append(pick.text)
    punctuated = {source for source, own in texts.items() if is_punctuated(own)}
    proper = [
        pick
        for pick in picks
        if not is_aside(pick.text)
        and (ends_with_stop(pick.text) or pick.evidence.source not in punctuated)
    ] or picks
    if part.about:
        chosen = _on_subject(proper)
    else:
        sections = [passage for passage in passages if passage.level == SECTION]
        chosen = _of_the_whole(proper, sections)
    sources = list(dict.fromkeys(pick.evidence.source for pick in chosen))
    return sorted(chosen, key=lambda pick: (sources.index(pick.evidence.source), pick.span))


def _on_subject(proper: Sequence[Pick]) -> list[Pick]:
    """Take a sentence from each passage, the best first, before a second one from any."""

    def fitness(pick: Pick) -> float:
        return pick.score * _independence(pick)

    ranked = sorted(proper, key=lambda pick: -fitness(pick))
    worthy = [pick for pick in ranked if fitness(pick) >= WORTH_SAYING * fitness(ranked[0])]
    chosen: list[Pick] = []
    for times in range(OVERVIEW):
        for pick in worthy:
            count = sum(other.evidence.number == pick.evidence.number for other in chosen)
            if len(chosen) < OVERVIEW and count <= times and _is_new(pick, chosen):
                chosen.append(pick)
    return chosen


def _independence(pick: Pick) -> float:
    grammar = function_words(pick.evidence.origin.language)
    return DEPENDENT if points_back(pick.text, grammar) else 1.0


def _of_the_whole(proper: Sequence[Pick], sections: Sequence[Evidence]) -> list[Pick]:
    """Take sentences from every source: what it is about, then its parts in their order."""
    sources = list(dict.fromkeys(pick.evidence.source for pick in proper))[:OVERVIEW]
    chosen: list[Pick] = []
    for index, source in enumerate(sources):
        count = OVERVIEW // len(sources) + (index < OVERVIEW % len(sources))
        own = [pick for pick in proper if pick.evidence.source == source]
        whole = [pick for pick in own if pick.evidence.level == DOCUMENT]
        about = sorted(whole, key=lambda pick: pick.span)[:1]
        end = about[0].span[1] if about else 0
        # With the headings of their sections; those of other parts are left out.
        headed = [
            replace(pick, evidence=replace(pick.evidence, heading=section.heading))
            for pick in own
            for section in sections
            if section.source == source
            and section.locator.span[0] <= pick.span[0]
            and pick.span[1] <= section.locator.span[1]
        ]
        parts = [pick for pick in headed or own if pick.span[0] >= end]
        chosen += about
        if count > len(about) and parts:
            chosen += _spread(parts, count - len(about), chosen)
    return chosen


def _spread(own: Sequence[Pick], count: int, others: Sequence[Pick]) -> list[Pick]:
    """Choose the best sentence of each of ``count`` equal stretches of a source.

    Where a stretch has none, another one has two.
    """
    first = min(pick.evidence.locator.span[0] for pick in own)
    length = max(pick.evidence.locator.span[1] for pick in own) - first
    stretches: list[list[Pick]] = [[] for _ in range(count)]
    for pick in own:
        index = (sum(pick.span) // 2 - first) * count // length
        stretches[min(count - 1, max(0, index))].append(pick)
    middles = [first + (2 * index + 1) * length // (2 * count) for index in range(count)]

    def worth(pick: Pick, middle: int) -> float:
        width = 1.0 if pick.evidence.level == DOCUMENT else NARROW
        named = covered(set(stems(pick.evidence.heading)), set(stems(pick.text)), {})
        centrality = width * _independence(pick) * (1 + NAMED * named)
        return centrality - POSITION_PENALTY * abs(sum(pick.span) / 2 - middle) / length

    ranked = [
        sorted(stretch, key=lambda pick: -worth(pick, middle))
        for stretch, middle in zip(stretches, middles, strict=True)
    ]
    chosen: list[Pick] = []
    for pick in filter(None, chain.from_iterable(zip_longest(*ranked))):
        if len(chosen) < count and _is_new(pick, (*others, *chosen)):
            chosen.append(pick)
    return chosen

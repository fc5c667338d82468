"""An answer without a language model: the sentences that say most about the question, as they stand."""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Final

from citations.replies import Breadth, Evidence, Part
from citations.sentences import Span, ends_with_stop, is_listing, split
from citations.synthesis.wording import covered, stems

Rate = Callable[[str, Sequence[str]], Sequence[float] | None]
"""How near each sentence is to a question, -1 to 1; None where that cannot be told."""

MOST: Final = {Breadth.SPECIFIC: 3, Breadth.BROAD: 6}  # sentences of an answer to one question
LOOKED_AT: Final = {Breadth.SPECIFIC: 6, Breadth.BROAD: 12}  # passages, best first
FEWEST_WORDS: Final = 4  # of a sentence that may be cited by itself
LONGEST: Final = 600  # characters of one
TOLD: Final = 300  # characters up to which what follows on a sentence is told with it, where a fact is wanted
GOES_WITH: Final = 0.3  # of a sentence's nearness to the question, which one that is told with it has to have
PUNCTUATED: Final = 0.4  # of a text's sentences that end with a stop: it is punctuated, and what has none is no sentence
PASSAGE, WORDS, MEANING = 0.5, 0.25, 0.25  # what the three add to a sentence's score
NEIGHBOUR: Final = 0.5  # of what the sentence before says of the question: an answer follows it, and need not repeat its words
ASKING: Final = 0.5  # what is left of a sentence that asks
ALIKE: Final = 0.6  # share of words in common from which on a sentence says nothing new
WORTH: Final = {Breadth.SPECIFIC: 0.75, Breadth.BROAD: 0.4}  # of the best sentence's score, from which on another one is told, too


@dataclass(frozen=True, slots=True, kw_only=True)
class Pick:
    """A sentence that answers: characters ``span`` of the source's text. ``words`` is the share of the question's words in it, ``meaning`` how near it is."""

    part: int
    evidence: Evidence
    text: str
    span: Span
    score: float = 0.0
    words: float = 0.0
    meaning: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Signs:
    """What speaks for an answer being there, each 0 to 1 (``meaning`` from -1): what confidence is made of.

    ``score`` is the best passage's, ``margin`` how far the next one is behind it; ``words`` the share of the question's words in its best sentence,
    ``spoken`` in all passages together; ``meaning`` how near the nearest sentence is; ``agreement`` whether words and meaning like the same passage best.
    """

    score: float = 0.0
    margin: float = 0.0
    words: float = 0.0
    spoken: float = 0.0
    meaning: float | None = None
    agreement: float = 0.0

    def as_numbers(self) -> dict[str, float]:
        """Return those that are known, by their names."""
        return {name: float(value) for name, value in asdict(self).items() if value is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Extract:
    """The sentences that answer a part of a question, best first, and what speaks for them."""

    part: Part
    picks: tuple[Pick, ...]
    signs: Signs


def extract(parts: Sequence[Part], evidence: Sequence[Evidence], *, rate: Rate | None = None) -> list[Extract]:
    """Pick the sentences that answer each part; none is picked twice. ``rate`` is asked once for each part."""
    made: list[Extract] = []
    for number, part in enumerate(parts):
        rated = _rated(part, _sentences(number, part, evidence), rate)
        before = [pick for one in made for pick in one.picks]
        picks = _chosen(rated, before, part.breadth)
        if part.breadth == Breadth.SPECIFIC:
            picks = _with_what_follows(picks, rated, before)
        made.append(Extract(part=part, picks=tuple(picks), signs=_signs(part, rated)))
    return made


# Sentences


def _sentences(number: int, part: Part, evidence: Sequence[Evidence]) -> list[Pick]:
    """Return the sentences of the passages that were found for a part, each once."""
    found: dict[tuple[int, int], Pick] = {}
    best = sorted((one for one in evidence if one.part == number), key=lambda one: -one.score)
    for one in best[: LOOKED_AT[part.breadth]]:
        for span, text in _cut(one):
            found.setdefault((one.source, span[1]), Pick(part=number, evidence=one, text=text, span=span))
    return [one for one in found.values() if len(one.text) <= LONGEST]


def _cut(one: Evidence) -> Iterator[tuple[Span, str]]:
    offset = 0
    for start, end in one.spans:
        text = one.text[offset : offset + end - start]
        for first, last in _whole(text):
            sentence = text[first:last]
            left = len(sentence) - len(sentence.lstrip())
            if sentence.strip() and not (one.locator.page and is_listing(sentence)):
                yield (start + first + left, start + first + len(sentence.rstrip())), sentence.strip()
        offset += end - start + 1


def _whole(text: str) -> Iterator[Span]:
    """Return sentences: of a text with full stops, those that were cut for their length are whole again, and headings and beginnings are left out."""
    spans = split(text)
    if sum(ends_with_stop(text[first:last]) for first, last in spans) < PUNCTUATED * len(spans):
        yield from spans
        return
    begun: int | None = None
    for first, last in spans:
        begun = first if begun is None or last - begun > LONGEST else begun
        piece = text[first:last]
        if ends_with_stop(piece):
            yield begun, last
            begun = None
        elif piece.endswith(("\n", "\r")):  # a heading, or what is left of a sentence of the page before
            begun = None


# How good they are


def _rated(part: Part, sentences: Sequence[Pick], rate: Rate | None) -> list[Pick]:
    wanted = set(stems(part.text))
    said = [set(stems(one.text)) for one in sentences]
    weights = _rarity(said, wanted)
    own = [covered(wanted, words, weights) for words in said]
    near = rate(part.text, [one.text for one in sentences]) if rate and sentences else None
    rated: list[Pick] = []
    for place, one in enumerate(sentences):
        follows = place > 0 and sentences[place - 1].evidence is one.evidence
        words = max(own[place], NEIGHBOUR * own[place - 1]) if follows else own[place]
        meaning = float(near[place]) if near is not None else None
        rated.append(replace(one, score=_score(one, words, meaning), words=own[place], meaning=meaning))
    return rated


def _rarity(said: Sequence[set[str]], wanted: set[str]) -> dict[str, float]:
    """Weigh words by how few of the sentences say them: log(1 + n / df), Spärck Jones, "A statistical interpretation of term specificity" (1972).

    A word that none says counts as if one did: what is missing must tell.
    """
    counts = Counter(word for words in said for word in words & wanted)
    return {word: math.log(1 + len(said) / max(1, counts[word])) for word in wanted}


def _score(one: Pick, words: float, meaning: float | None) -> float:
    by_meaning = words if meaning is None else max(0.0, meaning)
    score = PASSAGE * one.evidence.score + WORDS * words + MEANING * by_meaning
    return score * (ASKING if one.text.rstrip("\"'”’)» ").endswith(("?", "？")) else 1.0)


def _signs(part: Part, rated: Sequence[Pick]) -> Signs:
    if not rated:
        return Signs()
    scores = sorted({one.evidence.number: one.evidence.score for one in rated}.values(), reverse=True)
    wanted, said = set(stems(part.text)), {word for one in rated for word in stems(one.text)}
    wordy = max(rated, key=lambda one: one.words)
    near = max(rated, key=lambda one: one.meaning or 0.0) if rated[0].meaning is not None else None
    return Signs(
        score=scores[0],
        margin=scores[0] - scores[1] if len(scores) > 1 else 0.0,
        words=wordy.words,
        spoken=covered(wanted, said, {}),
        meaning=near.meaning if near else None,
        agreement=float(wordy.evidence.number == (near or rated[0]).evidence.number),
    )


# Which are told


def _chosen(rated: Sequence[Pick], before: Sequence[Pick], breadth: Breadth) -> list[Pick]:
    chosen: list[Pick] = []
    ranked = sorted(rated, key=lambda one: -one.score)
    for one in ranked:
        if len(chosen) == MOST[breadth] or (chosen and one.score < WORTH[breadth] * chosen[0].score):
            break
        if len(one.text.split()) >= FEWEST_WORDS and not any(_repeats(one, other) for other in (*before, *chosen)):
            chosen.append(one)
    return chosen


def _with_what_follows(picks: Sequence[Pick], rated: Sequence[Pick], before: Sequence[Pick]) -> list[Pick]:
    """Tell the next sentences of a passage with a picked one: the words of the question stand in front of the answer as often as in it."""
    told: list[Pick] = []
    for one in picks:
        if any(_overlap(one, other) for other in told):
            continue
        first, last = one.span
        for other in rated:
            is_next = other.evidence is one.evidence and 0 <= other.span[0] - last <= 2
            if is_next and other.span[1] - first <= TOLD and _goes_with(one, other) and not any(_overlap(other, known) for known in (*before, *told)):
                last = other.span[1]
        told.append(replace(one, span=(first, last), text=_text(one.evidence, (first, last))))
    return told


def _goes_with(one: Pick, other: Pick) -> bool:
    return one.meaning is None or other.meaning is None or other.meaning >= GOES_WITH * one.meaning


def _text(one: Evidence, span: Span) -> str:
    """Return the passage's characters at a span that lies in one of its sentences' stretches."""
    offset = 0
    for start, end in one.spans:
        if start <= span[0] and span[1] <= end:
            return one.text[offset + span[0] - start : offset + span[1] - start]
        offset += end - start + 1
    raise ValueError("the span lies outside the passage")


def _overlap(one: Pick, other: Pick) -> bool:
    return one.evidence.source == other.evidence.source and one.span[0] < other.span[1] and other.span[0] < one.span[1]


def _repeats(one: Pick, other: Pick) -> bool:
    if _overlap(one, other):
        return True
    mine, theirs = set(stems(one.text)), set(stems(other.text))
    return bool(mine and theirs) and len(mine & theirs) >= ALIKE * min(len(mine), len(theirs))

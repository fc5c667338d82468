"""How good sentences are as an answer, and what speaks for an answer being among them. Pure."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Final, TypeAlias

from citations.answers.writing.answer_types import expected
from citations.answers.writing.excerpts import Pick
from citations.answers.writing.term_matching import covered, stems
from citations.text.sentences import asks

Rate: TypeAlias = Callable[[str, Sequence[str]], Sequence[float] | None]
"""How near each sentence is to a question, -1 to 1; None where that cannot be told."""

PASSAGE, WORDS, MEANING = (
    0.2,
    0.4,
    0.4,
)  # what the three add to a sentence's score; its passage has made it one of these sentences already
HEADED: Final = 0.8  # of what the heading says of it with the sentence
NEIGHBOUR: Final = 0.5  # of what the sentence before says of the question: an answer follows it, and need not repeat its words
FITTING: Final = 0.3  # for having in it what an answer to such a question has
ASKED: Final = 0.3  # of what the sentence before says of the question, where that asks, too: what follows is the speaker's own answer
ASKING: Final = 0.5  # what is left of a sentence that asks
ELSEWHERE: Final = (
    1_500  # characters from the best sentence: somebody speaks of something for about that long
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Signs:
    """What speaks for an answer being there, each 0 to 1 (``meaning`` from -1): what confidence is made of.

    ``score`` is the best passage's, ``margin`` how far the next one is behind it; ``words`` the share of the question's words in its best sentence,
    ``spoken`` in all passages together; ``meaning`` how near the nearest sentence is; ``agreement`` whether words and meaning like the same passage best.
    ``lead`` is how far the best sentence is ahead of the best one elsewhere, ``share`` which share of the passages' scores its source has.
    """

    score: float = 0.0
    margin: float = 0.0
    words: float = 0.0
    spoken: float = 0.0
    meaning: float | None = None
    agreement: float = 0.0
    lead: float = 0.0
    share: float = 0.0

    def as_numbers(self) -> dict[str, float]:
        """Return those that are known, by their names."""
        return {name: float(value) for name, value in asdict(self).items() if value is not None}


def rated(question: str, sentences: Sequence[Pick], rate: Rate | None) -> list[Pick]:
    """Score sentences by their passage, by the question's words in them and before them, and by how near they are to it; in their order."""
    wanted = set(stems(question))
    said = [set(stems(one.text)) for one in sentences]
    weights = _rarity(said, wanted)
    own = [
        _covered(wanted, words, stems(one.evidence.heading), weights)
        for one, words in zip(sentences, said, strict=True)
    ]
    near = rate(question, [one.text for one in sentences]) if rate and sentences else None
    fits = expected(question) or (lambda _: False)
    made: list[Pick] = []
    for place, one in enumerate(sentences):
        follows = place > 0 and sentences[place - 1].evidence is one.evidence
        words = max(own[place], NEIGHBOUR * own[place - 1]) if follows else own[place]
        meaning = float(near[place]) if near is not None else None
        bonus = FITTING * fits(one.text) + (
            ASKED * own[place - 1]
            if follows and asks(sentences[place - 1].text) and not asks(one.text)
            else 0.0
        )
        made.append(
            replace(
                one, score=_score(one, words, meaning) + bonus, words=own[place], meaning=meaning
            )
        )
    return made


def signs(question: str, rated: Sequence[Pick]) -> Signs:
    """Say what speaks for an answer to a question being among rated sentences."""
    if not rated:
        return Signs()
    passages = list({one.evidence.number: one.evidence for one in rated}.values())
    scores = sorted((one.score for one in passages), reverse=True)
    best = max(rated, key=lambda one: one.score)
    wanted, said = (
        set(stems(question)),
        {word for one in rated for word in stems(f"{one.text} {one.evidence.heading}")},
    )
    wordy = max(rated, key=lambda one: one.words)
    near = max(rated, key=lambda one: one.meaning or 0.0) if rated[0].meaning is not None else None
    return Signs(
        score=scores[0],
        margin=scores[0] - scores[1] if len(scores) > 1 else 0.0,
        words=wordy.words,
        spoken=covered(wanted, said, {}),
        meaning=near.meaning if near else None,
        agreement=float(wordy.evidence.number == (near or rated[0]).evidence.number),
        lead=best.score
        - max((one.score for one in rated if _is_elsewhere(one, best)), default=0.0),
        share=sum(one.score for one in passages if one.source == best.evidence.source)
        / (sum(scores) or 1.0),
    )


def _is_elsewhere(one: Pick, best: Pick) -> bool:
    return (
        one.evidence.source != best.evidence.source or abs(one.span[0] - best.span[0]) > ELSEWHERE
    )


def _covered(
    wanted: set[str], words: set[str], heading: Sequence[str], weights: dict[str, float]
) -> float:
    """Return which share of the question a sentence says, or says under its heading: what that names need not be named again."""
    return max(
        covered(wanted, words, weights),
        HEADED * covered(wanted, words.union(heading), weights) if words else 0.0,
    )


def _rarity(said: Sequence[set[str]], wanted: set[str]) -> dict[str, float]:
    """Weigh words by how few of the sentences say them: log(1 + n / df), Spärck Jones, "A statistical interpretation of term specificity" (1972).

    A word that none says counts as if one did: what is missing must tell.
    """
    counts = Counter(word for words in said for word in words & wanted)
    return {word: math.log(1 + len(said) / max(1, counts[word])) for word in wanted}


def _score(one: Pick, words: float, meaning: float | None) -> float:
    by_meaning = words if meaning is None else max(0.0, meaning)
    score = PASSAGE * one.evidence.score + WORDS * words + MEANING * by_meaning
    return score * (ASKING if asks(one.text) else 1.0)

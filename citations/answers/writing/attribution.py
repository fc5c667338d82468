"""Finds the sentences of a passage that a claim without a quote of its own stands on."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from citations.answers.answer import Evidence
from citations.answers.writing.excerpts import MAX_EXCERPT, Pick, sentences
from citations.answers.writing.sentence_ranking import Rate, covered, stems
from transcripts.tokenizer import tokenize

COVERED: Final = 0.5  # share of a claim's content words that its place has,
NEAR: Final = 0.6  # or their cosine
FEWEST: Final = 3  # content words of a claim; fewer are everywhere


class Attribution(NamedTuple):
    """A place of a passage, and whether it has the claim's words in their order."""

    pick: Pick
    is_said: bool


def attribute(
    claim: str, passages: Sequence[Evidence], *, rate: Rate | None = None
) -> Attribution | None:
    """Return the sentence, or the two in a row, that a claim repeats or comes nearest to."""
    claim_stems = set(stems(claim))
    if len(claim_stems) < FEWEST:
        return None
    picks = _places(sentences(passages))
    nearness = rate(claim, [pick.text for pick in picks]) if rate and picks else None
    rated = [
        (covered(claim_stems, set(stems(pick.text)), {}), cosine, pick)
        for pick, cosine in zip(picks, nearness or [0.0] * len(picks), strict=True)
    ]
    best = max(rated, key=lambda row: (row[0] + row[1], -len(row[2].text)), default=None)
    if best is None or (best[0] < COVERED and best[1] < NEAR):
        return None
    return Attribution(best[2], _is_said(claim, best[2].text))


def _places(picks: Sequence[Pick]) -> list[Pick]:
    """Return the sentences, and each two that follow one another in a source."""
    pairs = [
        Pick(
            evidence=first.evidence,
            text=f"{first.text} {second.text}",
            span=(first.span[0], second.span[1]),
        )
        for first, second in pairwise(picks)
        if first.evidence.number == second.evidence.number
        and len(first.text) + len(second.text) < MAX_EXCERPT
    ]
    return [*picks, *pairs]


def _is_said(claim: str, text: str) -> bool:
    """Tell whether a text has all words of a claim in their order, whatever stands between."""
    words = iter(tokenize(text, shortest=1))
    return all(word in words for word in tokenize(claim, shortest=1))

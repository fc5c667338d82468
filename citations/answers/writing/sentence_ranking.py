"""Scores sentences as answers, and measures the signs of an answer being among them."""

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from statistics import fmean
from typing import Final, TypeAlias

from citations.answers.writing.answer_types import expected
from citations.answers.writing.excerpts import Pick
from citations.answers.writing.term_matching import covered, stems
from citations.text.sentences import asks

Rate: TypeAlias = Callable[[str, Sequence[str]], Sequence[float] | None]
"""Return the cosine of each sentence with a question; None where that cannot be measured."""

# Weights of a sentence's score. Its passage counts little: it has made the selection already.
PASSAGE, WORDS, MEANING = 0.2, 0.4, 0.4
HEADED: Final = 0.8  # of the words of the sentence and its heading together
NEIGHBOUR: Final = 0.5  # of the words of the sentence before: an answer need not repeat them
FITTING: Final = 0.3  # bonus for having what an answer to such a question has
REPLYING: Final = 0.3  # bonus for following the question's words in a question
CONTEXT: Final = 0.5  # weight of a word that only the earlier question in brackets has
ASKING: Final = 0.5  # what is left of a sentence that asks
ELSEWHERE: Final = 1_500  # characters from the best sentence: about as long as a topic lasts

_CONTEXT: Final = re.compile(r"\s\([^()]*\)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Signs:
    """The signs of an answer that confidence is made of, each 0 to 1 (``meaning`` from -1).

    ``score`` is the best passage's, ``margin`` its lead on the next one, ``share`` its source's
    share of the passages' scores. ``words`` is the share of the question's words in the best
    sentence, ``spoken`` in all passages together, and ``meaning`` the nearest sentence's cosine.
    ``agreement`` tells whether words and meaning prefer the same passage, and ``lead`` is the best
    sentence's lead on the best one elsewhere.
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
        """Return the known signs by their names."""
        return {name: float(value) for name, value in asdict(self).items() if value is not None}


def rated(question: str, sentences: Sequence[Pick], rate: Rate | None) -> list[Pick]:
    """Score sentences by their passage, their words, the words before them, and their nearness."""
    wanted = set(stems(question))
    known = [set(stems(sentence.text)) for sentence in sentences]
    weights = _weights(question, known)
    own = [
        _covered(wanted, words, stems(sentence.evidence.heading), weights)
        for sentence, words in zip(sentences, known, strict=True)
    ]
    texts = [sentence.text for sentence in sentences]
    nearness = rate(question, texts) if rate and sentences else None
    own_nearness = _nearness_to_own(question, texts, rate) if nearness is not None else None
    fits = expected(question) or (lambda _: False)
    scored: list[Pick] = []
    for index, sentence in enumerate(sentences):
        last = sentences[index - 1] if index else None
        follows = last is not None and last.evidence is sentence.evidence
        before = own[index - 1] if follows else 0.0
        replies = last is not None and asks(last.text) and not asks(sentence.text)
        words = max(own[index], NEIGHBOUR * before)
        meaning = float(nearness[index]) if nearness is not None else None
        bonus = FITTING * fits(sentence.text) + (REPLYING * before if replies else 0.0)
        near = fmean((meaning, own_nearness[index])) if meaning and own_nearness else meaning
        score = _score(sentence, words, near) + bonus
        scored.append(replace(sentence, score=score, words=own[index], meaning=meaning))
    return scored


def signs(question: str, rated: Sequence[Pick]) -> Signs:
    """Measure the signs of an answer to a question among rated sentences."""
    if not rated:
        return Signs()
    passages = list({pick.evidence.number: pick.evidence for pick in rated}.values())
    scores = sorted((passage.score for passage in passages), reverse=True)
    texts = (f"{pick.text} {pick.evidence.heading}" for pick in rated)
    spoken = {word for text in texts for word in stems(text)}
    best = max(rated, key=lambda pick: pick.score)
    wordy = max(rated, key=lambda pick: pick.words)
    has_meaning = rated[0].meaning is not None
    near = max(rated, key=lambda pick: pick.meaning or 0.0) if has_meaning else None
    elsewhere = (pick.score for pick in rated if _is_elsewhere(pick, best))
    own = sum(passage.score for passage in passages if passage.source == best.evidence.source)
    return Signs(
        score=scores[0],
        margin=scores[0] - scores[1] if len(scores) > 1 else 0.0,
        words=wordy.words,
        spoken=covered(set(stems(question)), spoken, {}),
        meaning=near.meaning if near else None,
        agreement=float(wordy.evidence.number == (near or rated[0]).evidence.number),
        lead=best.score - max(elsewhere, default=0.0),
        share=own / (sum(scores) or 1.0),
    )


def _is_elsewhere(pick: Pick, best: Pick) -> bool:
    is_far = abs(pick.span[0] - best.span[0]) > ELSEWHERE
    return is_far or pick.evidence.source != best.evidence.source


def _covered(
    wanted: set[str], words: set[str], heading: Sequence[str], weights: dict[str, float]
) -> float:
    """Return the share of the question in a sentence, or in it and its heading."""
    if not words:
        return 0.0
    with_heading = HEADED * covered(wanted, words.union(heading), weights)
    return max(covered(wanted, words, weights), with_heading)


def _weights(question: str, sentences: Sequence[set[str]]) -> dict[str, float]:
    """Weigh a question's words by log(1 + n / df), those of the earlier question less.

    Spärck Jones, "A statistical interpretation of term specificity" (1972). A word that no sentence
    has counts as if one had it.
    """
    counts = Counter(word for words in sentences for word in words)
    own = set(stems(_CONTEXT.sub("", question)))
    return {
        word: (1.0 if word in own else CONTEXT) * math.log(1 + len(sentences) / (counts[word] or 1))
        for word in stems(question)
    }


def _nearness_to_own(
    question: str, texts: Sequence[str], rate: Rate | None
) -> Sequence[float] | None:
    """Rate texts by a follow-up alone, without the earlier question in brackets."""
    own = _CONTEXT.sub("", question)
    return rate(own, texts) if rate and own != question else None


def _score(pick: Pick, words: float, meaning: float | None) -> float:
    nearness = words if meaning is None else max(0.0, meaning)
    score = PASSAGE * pick.evidence.score + WORDS * words + MEANING * nearness
    return score * (ASKING if asks(pick.text) else 1.0)

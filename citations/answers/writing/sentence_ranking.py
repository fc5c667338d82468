"""Scores sentences as answers, and measures the signs of an answer being among them."""

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path
from statistics import fmean
from typing import Final, TypeAlias

from citations.answers.writing.answer_types import (
    asks_for_meaning,
    definition_start,
    expected,
    fitness,
    says_what_it_is,
    term,
)
from citations.answers.writing.excerpts import MIN_WORDS, Pick
from citations.text.sentences import asks, ends_with_stop
from transcripts.tokenizer import tokenize

Rate: TypeAlias = Callable[[str, Sequence[str]], Sequence[float] | None]
"""Return the cosine of each sentence with a question; None where that cannot be measured."""

# Weights of a sentence's score: how far its passage is behind the best, its words, its nearness.
PASSAGE, WORDS, MEANING = 0.5, 0.45, 0.45
IN_CONTEXT: Final = 0.1  # weight of the passage where the earlier question was searched, too
NEIGHBOUR: Final = 0.5  # of the words of the sentence before: an answer need not repeat them
FITTING: Final = 0.3  # bonus for having what an answer to such a question has
REPLYING: Final = 0.3  # bonus for following the question's words in a question
RESTATED: Final = 0.9  # of the question's words, with which a speaker asks the same
CONTEXT: Final = 0.5  # weight of a word that only the earlier question in brackets has
ASKING: Final = 0.5  # factor on the score of a sentence that asks
ELSEWHERE: Final = 1_500  # characters from the best sentence: about as long as a topic lasts

_NAMED: Final = re.compile(r"(?<=\S )[A-ZÀ-Þ][\w’'.+-]*|\b[\w.-]*\d[\w.-]*")  # not the first word


@dataclass(frozen=True, slots=True, kw_only=True)
class Signs:
    """The signs of an answer that confidence is made of, each 0 to 1 (``meaning`` from -1).

    ``score`` is the best passage's, ``margin`` its lead on the next one, ``share`` its source's
    share of the passages' scores. ``heard`` is the share of the question's words in the passages,
    by rarity, ``names`` that of its names and numbers, and ``meaning`` the nearest sentence's
    cosine. ``lead`` is the best sentence's lead on the best one elsewhere. ``subject`` is how
    likely the likeliest passage is on the question's subject.
    """

    score: float = 0.0
    margin: float = 0.0
    heard: float = 0.0
    names: float = 0.0
    meaning: float | None = None
    lead: float = 0.0
    share: float = 0.0
    subject: float | None = None

    def as_numbers(self) -> dict[str, float]:
        """Return the known signs by their names."""
        return {name: float(value) for name, value in asdict(self).items() if value is not None}


def rated(
    question: str, sentences: Sequence[Pick], rate: Rate | None, *, own: str = ""
) -> list[Pick]:
    """Score sentences by their passage, their words, the words before them, and their nearness.

    ``own`` is the question without the earlier one that it refers to, if it refers to one.
    """
    # Of “What does X say?”, X alone: many want to say something about it.
    question_stems = set(stems(term(question) or question))
    sentence_stems = [set(stems(sentence.said)) for sentence in sentences]
    weights = _weights(question, sentence_stems, own)
    coverage = [covered(question_stems, words, weights) for words in sentence_stems]
    texts = [sentence.said for sentence in sentences]
    nearness = rate(question, texts) if rate and sentences else None
    own_nearness = rate(own, texts) if rate and nearness and own else None
    answer = expected(question)
    is_meaning = asks_for_meaning(answer)
    passage = IN_CONTEXT if own else PASSAGE
    best = max((sentence.evidence.score for sentence in sentences), default=0.0)
    scored: list[Pick] = []
    for index, sentence in enumerate(sentences):
        last = _before(sentences, index)
        before = 0.0 if last is None else coverage[last]
        replies = last is not None and asks(sentences[last].text) and not asks(sentence.text)
        is_answer = replies and before >= RESTATED
        if is_answer and is_meaning:  # sections ask, too, and go on with what they are about
            is_answer = says_what_it_is(sentence.text)
        words = max(coverage[index], NEIGHBOUR * before)
        meaning = float(nearness[index]) if nearness is not None else None
        fits = 1.0 if is_answer else fitness(answer, sentence.text)
        bonus = FITTING * fits + (REPLYING * before if replies else 0.0)
        near = fmean((meaning, own_nearness[index])) if meaning and own_nearness else meaning
        nearest = words if near is None else max(0.0, near)
        behind = passage * (best - sentence.evidence.score)
        score = WORDS * words + MEANING * nearest - behind
        score = score * (ASKING if asks(sentence.text) else 1.0) + bonus
        sentence = _definition(sentence, answer) if answer and is_meaning else sentence
        scored.append(replace(sentence, score=score, meaning=meaning))
    return scored


def _definition(sentence: Pick, answer: re.Pattern[str]) -> Pick:
    """Mark a sentence that defines; of speech without full stops, keep the defining clause."""
    start = definition_start(answer, sentence.text)
    if start is None:
        return sentence
    cut = 0 if ends_with_stop(sentence.text) else start
    span = (sentence.span[0] + cut, sentence.span[1])
    return replace(sentence, text=sentence.text[cut:], span=span, is_definition=True)


def _before(sentences: Sequence[Pick], index: int) -> int | None:
    """Return the index of the sentence before one in its passage, past a “Yes.” or “Sure.”."""
    evidence = sentences[index].evidence
    for last in range(index - 1, -1, -1):
        text = sentences[last].text
        if sentences[last].evidence is not evidence:
            return None
        if asks(text) or len(text.split()) >= MIN_WORDS:
            return last
    return None


def signs(question: str, rated: Sequence[Pick], *, own: str = "") -> Signs:
    """Measure the signs of an answer among rated sentences; ``own`` as in ``rated``."""
    if not rated:
        return Signs()
    passages = list({pick.evidence.number: pick.evidence for pick in rated}.values())
    scores = sorted((passage.score for passage in passages), reverse=True)
    texts = (f"{at.text} {at.heading} {at.origin.title}" for at in passages)
    words = {word for text in texts for word in tokenize(text, shortest=1)}
    weights = _weights(question, [set(stems(pick.said)) for pick in rated], own)
    best = max(rated, key=lambda pick: pick.score)
    cosines = [pick.meaning for pick in rated if pick.meaning is not None]
    elsewhere = (
        pick.score
        for pick in rated
        if pick.evidence.source != best.evidence.source
        or abs(pick.span[0] - best.span[0]) > ELSEWHERE
    )
    of_source = sum(passage.score for passage in passages if passage.source == best.evidence.source)
    return Signs(
        score=scores[0],
        margin=scores[0] - scores[1] if len(scores) > 1 else 0.0,
        heard=covered(weights, set(map(stem, words)), weights),
        names=_named(question, words),
        meaning=max(cosines, default=None),
        lead=best.score - max(elsewhere, default=0.0),
        share=of_source / (sum(scores) or 1.0),
        subject=max(
            (passage.relevance for passage in passages if passage.relevance is not None),
            default=None,
        ),
    )


def _named(question: str, words: Collection[str]) -> float:
    """Return the share of a question's names and numbers that are among words; 1 without any."""
    names = [tokenize(name, shortest=1) for name in _NAMED.findall(question)]
    return fmean(all(word in words for word in name) for name in names) if names else 1.0


def _weights(question: str, sentences: Sequence[set[str]], own: str) -> dict[str, float]:
    """Weigh a question's words by log(1 + n / df), those of the earlier question less.

    Spärck Jones, "A statistical interpretation of term specificity" (1972). A word that no sentence
    has counts as if one had it.
    """
    counts = Counter(word for words in sentences for word in words)
    own_stems = set(stems(own or question))
    return {
        word: (1.0 if word in own_stems else CONTEXT)
        * math.log(1 + len(sentences) / (counts[word] or 1))
        for word in stems(question)
    }


# Words

EMPTY: Final = frozenset(
    Path(__file__).with_name("stop_words.txt").read_text(encoding="utf-8").split()
)
_ENDING: Final = re.compile(
    r"(?<=\w{3})(?:(?:ic)?ations?|ments?|ings?|ions?|edly|ies|ers?|ed|ly|es|s)$"
)
_ANCE: Final = re.compile(r"(?<=\w{3})([ae]n)ces?$")
_SHORTEST: Final = 3  # letters that an ending leaves


def stems(text: str) -> list[str]:
    """Return the stems of a text's content words, in order."""
    return [stem(word) for word in tokenize(text) if word not in EMPTY]


def covered(terms: Collection[str], words: Collection[str], weights: Mapping[str, float]) -> float:
    """Return the share of terms that are among words, 0 to 1, by weight (1 where none is given)."""
    total = sum(weights.get(term, 1.0) for term in terms)
    return sum(weights.get(term, 1.0) for term in terms if term in words) / total if total else 0.0


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """Cut an English ending off. Both sides are cut alike, so that a light stemmer will do."""
    if not word.isascii() or not word.isalpha():
        return word
    word = _ENDING.sub("", _ANCE.sub(r"\1t", word))  # “idempotent” and “idempotence”
    if len(word) > _SHORTEST + 1 and word[-1] == word[-2]:
        word = word[:-1]
    root = word.rstrip("eyi")
    return root if len(root) >= _SHORTEST else word

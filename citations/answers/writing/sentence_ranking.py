"""Scores sentences as answers, and estimates from signs how likely one of them answers.

These are two estimates: that a question has an answer, and that its first citation is right. A
passage on the subject that does not answer the question is a poor citation of an answer that may
well exist. ``bench/training/confidence.py`` trains both.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from statistics import fmean
from typing import Final, TypeAlias

from citations.answers.answer import Evidence
from citations.answers.writing.answer_types import definition_asked, fitness, quantity_asked, term
from citations.answers.writing.excerpts import MIN_WORDS, Pick
from citations.text.sentences import asks, split
from citations.text.words import rarity
from transcripts.text.tokenizer import tokenize

Rate: TypeAlias = Callable[[str, Sequence[str]], Sequence[float] | None]
"""Return the cosine of each sentence with a question; None where that cannot be measured."""

# Weights of a sentence's score: how far its passage is behind the best, its words, its nearness.
PASSAGE, WORDS, MEANING = 0.5, 0.45, 0.45
IN_CONTEXT: Final = 0.1  # weight of the passage where the earlier question was searched, too
NEIGHBOUR: Final = 0.5  # of the words of the sentence before: an answer need not repeat them
FITTING: Final = 0.3  # bonus for the definition or quantity asked for
REPLYING: Final = 0.3  # bonus for following the question's words in a question
RESTATED: Final = 0.9  # of the question's words, with which a speaker asks the same
CONTEXT: Final = 0.5  # weight of a word that only the earlier question in brackets has
ASKING: Final = 0.5  # factor on the score of a sentence that asks
ELSEWHERE: Final = 1_500  # characters from the best sentence: about as long as a topic lasts

_CAPITAL: Final = r"(?:[A-ZÀ-Þ][\w’'.+-]*|[\w.-]*\d[\w.-]*)"
# Not the first word.
_NAMES: Final = re.compile(rf"(?<=\S )(?:the )?\b{_CAPITAL}(?: {_CAPITAL}){{0,2}}")
# Who asks who, when, where or which means one; another “best way” will do.
_SUPERLATIVE: Final = re.compile(
    r"^\W*(?:who|when|where|which|in)\b.*?\b(the (?:first|last|final|original"
    r"|(?!best|\w*(?:for|inter|qu|gu|arv|nt)est)\w{3,}est) [^\W\d_]+)",
    re.IGNORECASE,
)
NEAR: Final = 6  # content words in which those of a name, or a superlative and its noun, stand
_NAMED: Final = re.compile(r"(?<=\S )[A-ZÀ-Þ][\w’'.+-]*|\b[\w.-]*\d[\w.-]*")  # not the first word


ALWAYS: Final = ("heard", "names")  # signs that every answer has
FUSED: Final = ("score", "margin", "share")  # those of a hybrid search without a cross-encoder
MODEL_SIGNS: Final = ("meaning", "lead", "subject")  # those of the trained embedding model
RIGHT, PRESENT = "right", "present"  # the two estimates
TRAINED: Final = Path(__file__).with_name("confidence.json")


def rated(
    question: str, sentences: Sequence[Pick], rate: Rate | None, *, own: str = ""
) -> list[Pick]:
    """Score sentences by their passage, their words and their nearness.

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
    definition, quantity = definition_asked(question), quantity_asked(question)
    passage = IN_CONTEXT if own else PASSAGE
    best = max((sentence.evidence.score for sentence in sentences), default=0.0)
    scored: list[Pick] = []
    for index, sentence in enumerate(sentences):
        last = _before(sentences, index)
        before = 0.0 if last is None else coverage[last]
        words = max(coverage[index], NEIGHBOUR * before)
        meaning = float(nearness[index]) if nearness is not None else None
        replies = last is not None and asks(sentences[last].text) and not asks(sentence.text)
        is_answer = replies and before >= RESTATED
        is_answer = is_answer or bool(quantity and quantity.search(sentence.text))
        fits = 1.0 if is_answer else fitness(definition, sentence.text)
        bonus = FITTING * fits + (REPLYING * before if replies else 0.0)
        near = fmean((meaning, own_nearness[index])) if meaning and own_nearness else meaning
        nearest = words if near is None else max(0.0, near)
        deduction = passage * (best - sentence.evidence.score)
        score = WORDS * words + MEANING * nearest - deduction
        score = score * (ASKING if asks(sentence.text) else 1.0) + bonus
        scored.append(replace(sentence, score=score, meaning=meaning))
    return scored


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


# Signs


def signs(question: str, rated: Sequence[Pick], *, own: str = "") -> dict[str, float]:
    """Measure the known signs of an answer among rated sentences; ``own`` as in ``rated``.

    Each is 0 to 1 (``meaning`` from -1). ``score`` is the best passage's, ``margin`` its lead on
    the next one, ``share`` its source's share of the passages' scores. ``heard`` is the share of
    the question's words in the passages, by rarity, ``names`` that of its names and numbers (1
    without any), ``meaning`` the nearest sentence's cosine; ``together`` is the largest share of
    the question's words in one sentence that does not ask. ``lead`` is the best sentence's lead on
    the best one elsewhere. ``subject`` is how likely the likeliest passage is on the subject.
    """
    if not rated:
        return dict.fromkeys(("score", "margin", "heard", "names", "lead", "share"), 0.0)
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
    names = [tokenize(name, shortest=1) for name in _NAMED.findall(question)]
    of_source = sum(passage.score for passage in passages if passage.source == best.evidence.source)
    statements = (set(stems(pick.said)) for pick in rated if not asks(pick.text))
    known = {
        "score": scores[0],
        "margin": scores[0] - scores[1] if len(scores) > 1 else 0.0,
        "heard": covered(weights, set(map(stem, words)), weights),
        "names": fmean(words.issuperset(name) for name in names) if names else 1.0,
        "meaning": max(cosines, default=None),
        "lead": best.score - max(elsewhere, default=0.0),
        "share": of_source / (sum(scores) or 1.0),
        "subject": max((at.relevance for at in passages if at.relevance is not None), default=None),
        "together": max((covered(weights, words, weights) for words in statements), default=0.0),
    }
    return {name: float(value) for name, value in known.items() if value is not None}


def absent_names(question: str, passages: Sequence[Evidence]) -> tuple[list[str], list[str]]:
    """Return the names, numbers and superlatives (“the first clock”) in a question that no passage
    says, in whatever form, and the names that one says. Names are words with capitals, which stand
    together as one; the first word is none.
    """
    names = [re.sub(r"(?:[’']s|\W)*$", "", name) for name in _NAMES.findall(question)]
    terms = [*filter(stems, dict.fromkeys([*names, *_SUPERLATIVE.findall(question)]))]
    texts = [
        f"{at.text}\n\n{at.heading}\n\n{at.origin.title} {at.origin.author}" for at in passages
    ]
    joined = "".join("".join(texts).casefold().split())
    said = [stems(text[slice(*span)]) for text in texts for span in split(text)] if terms else []
    windows = [{*words[at : at + NEAR]} for words in said for at in range(len(words))]

    def is_said(name: str) -> bool:
        own = [_FORMS.get(word, {word}) for word in stems(name)]
        is_near = any(all(window & forms for forms in own) for window in windows)
        return is_near or "".join(name.removeprefix("the ").casefold().split()) in joined

    absent = [name for name in terms if not is_said(name)]
    return absent, [name for name in terms if name in names and name not in absent]


def _weights(question: str, sentences: Sequence[set[str]], own: str) -> dict[str, float]:
    """Weigh a question's words by their rarity, those of the earlier question less."""
    counts = Counter(word for words in sentences for word in words)
    own_stems = set(stems(own or question))
    return {
        word: (1.0 if word in own_stems else CONTEXT) * rarity(counts[word], len(sentences))
        for word in stems(question)
    }


# Confidence


@dataclass(frozen=True, slots=True)
class LogisticModel:
    """A logistic regression over some signs; ``border`` separates no (below) from yes."""

    signs: Sequence[str]
    weights: Sequence[float]
    bias: float
    border: float = 0.0

    def estimate(self, signs: Mapping[str, float]) -> float:
        """Return a probability, 0 to 1."""
        pairs = zip(self.signs, self.weights, strict=True)
        total = self.bias + sum(weight * signs[name] for name, weight in pairs)
        return 1 / (1 + math.exp(-max(-50.0, min(50.0, total))))


def confidence(signs: Mapping[str, float], *, proven: float = 1.0) -> float:
    """Return how likely the first citation is right, 0 to 1.

    ``proven`` is the share of a language model's quotes that stand in the sources; the estimate
    falls with it.
    """
    return _trained(RIGHT)[_group(signs)].estimate(signs) * max(0.0, min(1.0, proven))


def is_answered(signs: Mapping[str, float]) -> bool:
    presence = _trained(PRESENT)[_group(signs)]
    return presence.estimate(signs) >= presence.border


@cache
def trained_model() -> str:
    """Return the name of the embedding model that ``MODEL_SIGNS`` signs were trained with."""
    return str(json.loads(TRAINED.read_text(encoding="utf-8"))["model"])


def _group(signs: Mapping[str, float]) -> str:
    groups = {"fused": FUSED, "near": MODEL_SIGNS}
    known = [group for group, names in groups.items() if all(name in signs for name in names)]
    return "+".join(["always", *known])


@cache
def _trained(estimate: str) -> dict[str, LogisticModel]:
    models = json.loads(TRAINED.read_text(encoding="utf-8"))[estimate]
    return {group: LogisticModel(**stored) for group, stored in models.items()}


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


_ALIKE: Final = (("first", "earliest", "oldest", "original"), ("largest", "biggest", "greatest"))
_FORMS: Final = {stem(word): {*map(stem, group)} for group in _ALIKE for word in group}

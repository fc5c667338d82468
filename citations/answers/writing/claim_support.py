"""What a claim stands on: whether texts support its numbers, quotes and negations, and the
sentences of a passage that it repeats without quoting them.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Final, NamedTuple, TypeAlias

from citations.answers.answer import Evidence
from citations.answers.writing.excerpts import MAX_EXCERPT, Pick, sentences
from citations.answers.writing.sentence_ranking import EMPTY, Rate, covered, stem, stems
from citations.text.alignment import common, window
from citations.text.sentences import FULL_STOPS, STOPS, asks
from transcripts.text.tokenizer import tokenize

Contains: TypeAlias = Callable[[str, Sequence[str]], bool]
"""Tell whether one of some texts has a quote word for word."""

_NUMBER: Final = re.compile(r"\d(?:[\d.,]*\d)?")
_QUOTED: Final = re.compile(r"[\"“„«](?P<text>[^\"“”„«»]{8,1000})[\"”“»]")
_QUOTED_WORDS: Final = 4  # from which on quoted words are somebody's; fewer are a name
_ENDS: Final = STOPS + FULL_STOPS
_SENTENCE: Final = re.compile(rf"[^{_ENDS}]+(?:[{_ENDS}]+(?=\S)[^{_ENDS}]+)*[{_ENDS}]*")
_CONTRACTED: Final = re.compile(r"(?:n't|(?<=can)not)\b", re.IGNORECASE)
_NEGATION: Final = re.compile(
    "not?|never|neither|nor|none|nothing|nobody|without|hardly|nicht|keine?|keine[nr]|nie(?:mals)?"
    "|pas|jamais|não|nunca"
)
_NOT: Final = "¬"
_MIN_WORDS: Final = 3  # words of a claim that can be compared; fewer are everywhere
COVERED: Final = 0.5  # share of a claim's content words that its place has,
MIN_COSINE: Final = 0.6  # or their cosine
_SAME: Final = 0.8  # of a claim's words that a sentence has in the same order
_DENSE: Final = 0.6  # of the sentence's words between the first and last of these, that they are


def is_backed(claim: str, texts: Iterable[str], *, contains: Contains) -> bool:
    """Tell whether texts have a claim's numbers and quotes, and do not say its opposite.

    The opposite shows only where a claim has nearly the words of a sentence.
    """
    texts = list(texts)
    numbers = {number for text in texts for number in _numbers(text)}
    quotes = [match["text"] for match in _QUOTED.finditer(claim)]
    return (
        numbers.issuperset(_numbers(claim))
        and all(contains(quote, texts) for quote in quotes if len(quote.split()) >= _QUOTED_WORDS)
        and not _is_denied(claim, texts)
    )


def _is_denied(claim: str, texts: Iterable[str]) -> bool:
    """Tell whether all sentences with nearly a claim's words say the opposite, by a negation."""
    claim_stems = _with_negations(claim)
    sentences = (piece for text in texts for piece in _SENTENCE.findall(text) if not asks(piece))
    verdicts = {_agrees(claim_stems, _with_negations(sentence)) for sentence in sentences}
    return verdicts - {None} == {False}


def _agrees(claim: Sequence[str], sentence: Sequence[str]) -> bool | None:
    """Tell whether two similar texts are negated alike; None if they are not similar."""
    mine = [word for word in claim if word != _NOT]
    positions = [position for position, word in enumerate(sentence) if word != _NOT]
    if len(mine) < _MIN_WORDS or len(set(mine) & set(sentence)) < _SAME * len(set(mine)):
        return None
    words = [sentence[position] for position in positions]
    first, last = window(mine, words)
    pairs = common(mine, words[first:last])
    if len(pairs) < _SAME * len(mine):
        return None
    begin, end = first + pairs[0][1], first + pairs[-1][1]
    if len(pairs) < _DENSE * (end - begin + 1):
        return None
    # A negation before the words may be theirs; one after them belongs to what follows.
    start = positions[begin - 1] + 1 if begin else 0
    stop = positions[end] + 1 if end + 1 < len(positions) else len(sentence)
    is_negated = _NOT in sentence[start:stop]
    if _NOT in claim and not is_negated:
        return None if _NOT in sentence else False  # a distant one may be meant, too
    return (_NOT in claim) == is_negated


def _with_negations(text: str) -> list[str]:
    """Return the stems of the content words, and a mark for each negation among them."""
    words = tokenize(_CONTRACTED.sub(" not", text.replace("’", "'")), shortest=1)
    return [
        _NOT if _NEGATION.fullmatch(word) else stem(word)
        for word in words
        if _NEGATION.fullmatch(word) or (word not in EMPTY and len(word) > 1)
    ]


def _numbers(text: str) -> list[str]:
    numbers = _NUMBER.findall(unicodedata.normalize("NFKC", text))
    return [number.replace(",", "").rstrip(".") for number in numbers]


class Attribution(NamedTuple):
    """A place of a passage, and whether it has the claim's words in their order, whatever stands
    between them.
    """

    pick: Pick
    is_said: bool


def attribute(
    claim: str, passages: Sequence[Evidence], *, rate: Rate | None = None
) -> Attribution | None:
    """Return the sentence, or the two in a row, that a claim repeats or comes nearest to."""
    claim_stems = set(stems(claim))
    if len(claim_stems) < _MIN_WORDS:
        return None
    picks = sentences(passages)
    picks += [
        Pick(
            evidence=first.evidence,
            text=f"{first.text} {second.text}",
            span=(first.span[0], second.span[1]),
        )
        for first, second in pairwise(picks)
        if first.evidence.number == second.evidence.number
        and len(first.text) + len(second.text) < MAX_EXCERPT
    ]
    nearness = rate(claim, [pick.text for pick in picks]) if rate and picks else None
    rated = [
        (covered(claim_stems, set(stems(pick.text)), {}), cosine, pick)
        for pick, cosine in zip(picks, nearness or [0.0] * len(picks), strict=True)
    ]
    best = max(rated, key=lambda row: (row[0] + row[1], -len(row[2].text)), default=None)
    if best is None or (best[0] < COVERED and best[1] < MIN_COSINE):
        return None
    words = iter(tokenize(best[2].text, shortest=1))
    is_said = all(word in words for word in tokenize(claim, shortest=1))
    return Attribution(best[2], is_said)

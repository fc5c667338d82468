"""Whether a claim may be taken from the texts that it is said to stand on: its numbers, its quotes, and what it denies. Pure."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Final

from citations.answers.writing.term_matching import EMPTY, stem
from citations.quotes.matching import find, prepare
from citations.text.alignment import common, window
from citations.text.sentences import asks
from transcripts.tokenizer import tokenize

_NUMBER: Final = re.compile(r"\d(?:[\d.,]*\d)?")
_IN_MARKS: Final = re.compile(r"[\"“„«](?P<text>[^\"“”„«»]{8,1000})[\"”“»]")
_QUOTED_WORDS: Final = 4  # from which on words in quote marks are said to be somebody's
_SENTENCES: Final = re.compile(r"[^.!?…。！？]+(?:[.!?…。！？]+(?=\S)[^.!?…。！？]+)*[.!?…。！？]*")
_CONTRACTED: Final = re.compile(r"(?:n't|(?<=can)not)\b", re.IGNORECASE)
_NEGATIONS: Final = frozenset(
    " ".join(
        (
            "not no never neither nor none nothing nobody without hardly",
            "nicht kein keine keinen keiner nie niemals pas jamais não nunca",
        )
    ).split()
)
_NOT: Final = "¬"
_FEWEST: Final = 3  # words of a claim that are compared
_SAME: Final = 0.8  # share of a claim's words that a sentence has in their order
_DENSE: Final = (
    0.6  # share of the sentence's words, from the first to the last of these, that they are
)


def is_backed(claim: str, said: Iterable[str]) -> bool:
    """Say whether a claim may be taken from one of the texts: digit by digit its numbers, word for word what it quotes, and without a "not" too many or few.

    The last is seen only where a claim has nearly the words of a sentence; what a claim makes of other words is not looked into.
    """
    texts = list(said)
    known = {number for text in texts for number in _numbers(text)}
    return (
        all(number in known for number in _numbers(claim))
        and _is_quoted_truly(claim, texts)
        and not _is_denied(claim, texts)
    )


def _is_quoted_truly(claim: str, texts: Sequence[str]) -> bool:
    """Say whether what a claim has in quote marks stands in one of the texts; a few words in them are names, and not quotes."""
    quoted = [
        found["text"]
        for found in _IN_MARKS.finditer(claim)
        if len(found["text"].split()) >= _QUOTED_WORDS
    ]
    prepared = [prepare(text) for text in texts] if quoted else []
    return all(any(find(one, text) for text in prepared) for one in quoted)


def _is_denied(claim: str, texts: Iterable[str]) -> bool:
    """Say whether the sentences that have nearly the words of a claim all say the opposite: one of the two is negated. Questions say nothing."""
    wanted = _with_negations(claim)
    pieces = (piece for text in texts for piece in _SENTENCES.findall(text) if not asks(piece))
    agreeing = {
        agrees
        for piece in pieces
        if (agrees := _agrees(wanted, _with_negations(piece))) is not None
    }
    return agreeing == {False}


def _agrees(wanted: Sequence[str], said: Sequence[str]) -> bool | None:
    """Say whether words that are nearly the same are negated alike; None of words that are not nearly the same."""
    mine, places = (
        [word for word in wanted if word != _NOT],
        [place for place, word in enumerate(said) if word != _NOT],
    )
    if len(mine) < _FEWEST or len(set(mine) & set(said)) < _SAME * len(set(mine)):
        return None
    its = [said[place] for place in places]
    first, last = window(mine, its)
    pairs = common(mine, its[first:last])
    if len(pairs) < _SAME * len(mine):
        return None
    begin, end = first + pairs[0][1], first + pairs[-1][1]
    if len(pairs) < _DENSE * (end - begin + 1):
        return None
    reach = said[
        places[begin - 1] + 1 if begin else 0 : places[end] + 1
        if end + 1 < len(places)
        else len(said)
    ]  # a "not" behind them is of what follows
    if _NOT in wanted and _NOT not in reach:
        return (
            None if _NOT in said else False
        )  # one that is farther away may be meant for these words, too
    return (_NOT in wanted) == (_NOT in reach)


def _with_negations(text: str) -> list[str]:
    """Return the words that say something, without their endings, and a sign for each negation among them."""
    words = tokenize(_CONTRACTED.sub(" not", text.replace("’", "'")), shortest=1)
    return [
        _NOT if word in _NEGATIONS else stem(word)
        for word in words
        if word in _NEGATIONS or (word not in EMPTY and len(word) > 1)
    ]


def _numbers(text: str) -> list[str]:
    return [
        found.replace(",", "").rstrip(".")
        for found in _NUMBER.findall(unicodedata.normalize("NFKC", text))
    ]

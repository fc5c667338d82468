"""Puts full stops and question marks into speech that has none. Pure.

Only these and capitals are added; the words stay as they are. ``quotes.matching`` ignores all three
in such a text.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import NamedTuple

from citations.text.sentences import WORD
from transcripts.text.cues import Cue, Word


class SpokenWord(NamedTuple):
    """A word, the number of its cue, and its characters [first, last) in the cue's text.

    A mark may stand behind it if ``is_free``: not within “co-op”, nor before another mark.
    """

    text: str  # in lower case
    cue: int
    first: int
    last: int
    is_free: bool


def spoken_words(cues: Sequence[Cue]) -> Iterator[SpokenWord]:
    """Yield the words of cues in order."""
    for number, cue in enumerate(cues):
        for match in WORD.finditer(cue.text):
            folded = match[0].casefold().replace("’", "'")
            is_free = cue.text[match.end() : match.end() + 1] in ("", " ")
            yield SpokenWord(folded, number, *match.span(), is_free)


def punctuated(cues: Sequence[Cue], words: Sequence[SpokenWord], marks: Sequence[str]) -> list[Cue]:
    """Return cues with a mark, or "", behind each word; the word after a mark gets a capital, and
    so does the English “I”.
    """
    result = list(cues)
    begins = [True, *map(bool, marks)][: len(marks)]
    rows = zip(words, marks, begins, strict=True)
    for number, members in groupby(rows, key=lambda row: row[0].cue):
        cue, text, position, capitals = cues[number], "", 0, set[int]()
        for word, mark, begins_sentence in members:
            said = cue.text[word.first : word.last]
            # “i”, and “i'm”, but not the letter in “i-th”.
            if begins_sentence or (word.is_free and word.text.partition("'")[0] == "i"):
                capitals.add(word.first)
                said = _capitalised(said)
            text += cue.text[position : word.first] + said + mark
            position = word.last
        timed = tuple(_timed(cue, capitals))
        result[number] = replace(cue, text=text + cue.text[position:], words=timed)
    return result


def _timed(cue: Cue, capitals: set[int]) -> Iterator[Word]:
    position = 0
    for word in cue.words:
        first = cue.text.find(word.text, position)
        inner = range(first, first + len(word.text))
        begin = next((place - first for place in capitals if place in inner), None)
        if first < 0 or begin is None:
            yield word
        else:
            yield replace(word, text=word.text[:begin] + _capitalised(word.text[begin:]))
        position = max(position, inner.stop)


def _capitalised(word: str) -> str:
    """Return a word with a capital, unless it has one elsewhere (“iPhone”) or there is none."""
    first = word[:1].upper()
    has_own = any(letter.isupper() for letter in word)
    return word if has_own or first.casefold() != word[:1].casefold() else first + word[1:]

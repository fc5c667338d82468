"""Puts full stops and question marks into speech that has none. Pure.

Only marks and capitals are added: the words stay as they are, and quotes ignore both.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import NamedTuple

from citations.text.sentence_ends import WORD
from transcripts.cues import Cue, Word


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


def with_marks(cues: Sequence[Cue], words: Sequence[SpokenWord], marks: Sequence[str]) -> list[Cue]:
    """Return cues with a mark, or "", behind each word; the words after marks get a capital."""
    marked = list(cues)
    begins = ["begin", *marks]  # whatever stands before a word begins a sentence
    rows = zip(words, marks, begins, strict=False)
    for number, members in groupby(rows, key=lambda row: row[0].cue):
        marked[number] = _marked(cues[number], list(members))
    return marked


def _marked(cue: Cue, rows: Sequence[tuple[SpokenWord, str, str]]) -> Cue:
    capitals = {word.first for word, _, before in rows if before}
    text, position = "", 0
    for word, mark, before in rows:
        said = cue.text[word.first : word.last]
        text += cue.text[position : word.first] + (_capitalised(said) if before else said) + mark
        position = word.last
    timed = tuple(_timed(cue, capitals))
    return replace(cue, text=text + cue.text[position:], words=timed)


def _timed(cue: Cue, capitals: set[int]) -> Iterator[Word]:
    position = 0
    for word in cue.words:
        first = cue.text.find(word.text, position)
        yield replace(word, text=_capitalised(word.text)) if first in capitals else word
        position = max(position, first + len(word.text))


def _capitalised(word: str) -> str:
    first = word[:1].upper()
    return first + word[1:] if len(first) == 1 else word  # “ß” has no capital of one letter

"""The text of a passage, read once: its words with their places, their stems, its sentences; and a
snippet of it. Pure.

The judge, the deduplication, the marks and the second at which a hit opens all look at the same
words.
"""

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain
from typing import Final

from citations.text.sentences import SENTENCE_END, Span, split
from citations.text.words import rarity
from transcripts.text.bm25 import QueryWord
from transcripts.text.terms import Place, matched_spans, places, query_terms, spans_of
from transcripts.text.tokenizer import tokenize


@dataclass(frozen=True, eq=False)
class PassageText:
    """A text in the language of a tag ("": English); each part of it is made on first use."""

    text: str
    language: str

    @cached_property
    def words(self) -> frozenset[str]:
        """Its different words."""
        return frozenset(tokenize(self.text))

    @cached_property
    def terms(self) -> frozenset[str]:
        """The terms of its words and their other forms."""
        return frozenset(place.term for place in self._places)

    def has(self, word: QueryWord) -> bool:
        """Tell whether it has a word of ``query_terms``, in any form."""
        return not self.terms.isdisjoint([term for term, _ in word.tokens])

    @cached_property
    def sentences(self) -> list[Span]:
        """The spans of its sentences, at least one."""
        return split(self.text) or [(0, 0)]

    @cached_property
    def _places(self) -> list[Place]:
        return places(self.text, self.language)

    def marked(self, query: str) -> list[Span]:
        """Return the spans of the words of a query, in any form: see ``matched_spans``."""
        return spans_of(self._places, query, self.language)

    def nearest_sentence(self, query: str, *, stops: Collection[str] = ()) -> Span:
        """Return the span of the sentence with most words of a query in any form, the rarer in the
        text the more, ``stops`` aside; the first sentence if none has any.
        """
        by_term = {
            term: word.text
            for word in query_terms(query, self.language)
            for term, _ in word.tokens
            if word.text not in stops
        }
        starts = [start for start, _ in self.sentences]
        shared: list[set[str]] = [set() for _ in starts]
        for word, term, (first, last) in self._places:
            if term in by_term and word not in stops:
                number = bisect_right(starts, first) - 1
                if last <= self.sentences[number][1]:
                    shared[number].add(by_term[term])
        counts = Counter(chain.from_iterable(shared))
        worth = {word: rarity(count, len(starts)) for word, count in counts.items()}
        sums = [math.fsum(map(worth.__getitem__, own)) for own in shared]
        start, stop = self.sentences[sums.index(max(sums))]
        return start, start + len(self.text[start:stop].rstrip())


@lru_cache(maxsize=1024)
def read(text: str, language: str = "") -> PassageText:
    """Return a text as it was last read: searches come back to the same passages."""
    return PassageText(text, language)


MIN_LENGTH: Final = 100  # of a snippet
MAX_LENGTH: Final = 200
_BEFORE: Final = 40  # characters of context before a matched word


def snippet(text: str, words: str = "", language: str = "") -> str:
    """Return ``MIN_LENGTH`` to ``MAX_LENGTH`` characters of a text that hold most of ``words`` in
    any form of the text's language, or all of a shorter text.

    Line breaks become spaces. A snippet starts and ends at a word border, if possible at a sentence
    border; only a word longer than ``MIN_LENGTH`` characters is cut.
    """
    line = " ".join(text.split())
    if len(line) <= MAX_LENGTH:
        return line
    spans = matched_spans(line, words, language)
    ends = [match.end() for match in SENTENCE_END.finditer(line)]

    def worth(option: tuple[int, bool]) -> tuple[int, bool, int]:
        start, is_sentence = option
        matches = sum(start <= first and last <= start + MAX_LENGTH for first, last in spans)
        lead = next((first - start for first, _ in spans if first >= start), start)
        return matches, is_sentence, -lead

    def border(at: int) -> int:
        """Return the start of the next word, or ``at`` itself where no word ends nearby."""
        blank = line.find(" ", at - 1, at + MIN_LENGTH - 1) if at > 0 else -1
        return blank + 1 if blank >= 0 else max(0, at)

    last = border(len(line) - MAX_LENGTH)
    starts = [(0, True), *((at + (line[at] == " "), True) for at in ends if at < last)]
    starts += [(min(border(first - _BEFORE), last), False) for first, _ in spans]
    start = max([*starts, (last, False)], key=worth)[0]
    if len(line) - start <= MAX_LENGTH:
        return line[start:].strip()
    whole = [at for at in ends if start + MIN_LENGTH <= at <= start + MAX_LENGTH]
    blank = line.rfind(" ", start + MIN_LENGTH, start + MAX_LENGTH + 1)
    end = whole[-1] if whole else blank if blank > 0 else start + MAX_LENGTH
    return line[start:end].strip()

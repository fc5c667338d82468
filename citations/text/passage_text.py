"""The text of a passage, read once: its words with their places, their stems, its sentences. Pure.

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

from citations.text.sentences import Span, split
from transcripts.text.stemming import stems
from transcripts.text.tokenizer import joined_spans, stems_of, tokenize, word_places


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
    def stems(self) -> frozenset[str]:
        """The stems of its words."""
        return frozenset(stems(self.words, self.language))

    @cached_property
    def sentences(self) -> list[Span]:
        """The spans of its sentences, at least one."""
        return split(self.text) or [(0, 0)]

    @cached_property
    def _places(self) -> list[tuple[str, str, Span]]:
        """Its words, their stems and where they are."""
        places = word_places(self.text)
        word_stems = stems([word for word, _ in places], self.language)
        return [(word, stem, span) for (word, span), stem in zip(places, word_stems, strict=True)]

    def marked(self, query: str) -> list[Span]:
        """Return the spans of the words of a query, in any form: see ``matched_spans``."""
        query_stems = stems_of(query, self.language)
        return joined_spans([span for _, stem, span in self._places if stem in query_stems])

    def nearest_sentence(self, query: str, *, stops: Collection[str] = ()) -> Span:
        """Return the span of the sentence with most words of a query in any form, the rarer in the
        text the more, ``stops`` aside; the first sentence if none has any.
        """
        telling = [word for word in tokenize(query) if word not in stops]
        query_stems = frozenset(stems(telling, self.language))
        starts = [start for start, _ in self.sentences]
        shared: list[set[str]] = [set() for _ in starts]
        for word, stem, (first, last) in self._places:
            if stem in query_stems and word not in stops:
                number = bisect_right(starts, first) - 1
                if last <= self.sentences[number][1]:
                    shared[number].add(stem)
        counts = Counter(chain.from_iterable(shared))
        worth = {stem: math.log(1 + len(starts) / count) for stem, count in counts.items()}
        sums = [math.fsum(map(worth.__getitem__, own)) for own in shared]
        start, stop = self.sentences[sums.index(max(sums))]
        return start, start + len(self.text[start:stop].rstrip())


@lru_cache(maxsize=1024)
def read(text: str, language: str = "") -> PassageText:
    """Return a text as it was last read: searches come back to the same passages."""
    return PassageText(text, language)

"""The words of a text's sentences, to find the sentences that have a query's words. Pure."""

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import NamedTuple, Self

from transcripts.stemming import stems
from transcripts.tokenizer import query_counts, tokenize


class SentenceMatches(NamedTuple):
    """The numbers, in order, of the sentences with the most words of a query.

    ``words`` is how many they have, of ``of``.
    """

    numbers: tuple[int, ...] = ()
    words: int = 0
    of: int = 0


@dataclass(frozen=True, slots=True)
class SentenceIndex:
    """For each stem, the numbers of the sentences that have it."""

    language: str
    sentences: dict[str, list[int]]

    @classmethod
    def build(cls, texts: Iterable[str], language: str) -> Self:
        sentences: dict[str, list[int]] = {}
        for number, text in enumerate(texts):
            for stem in set(stems(tokenize(text), language)):
                sentences.setdefault(stem, []).append(number)
        return cls(language, sentences)

    def find(self, query: str, *, stops: Collection[str] = ()) -> SentenceMatches:
        """Find the sentences with the most of the query's words in any form.

        ``stops`` count only in a query that has no other words.
        """
        words = query_counts(query)
        telling = [word for word in words if word not in stops] or [*words]
        query_stems = set(stems(telling, self.language))
        counts = Counter(number for stem in query_stems for number in self.sentences.get(stem, ()))
        most = max(counts.values(), default=0)
        numbers = sorted(number for number, count in counts.items() if count == most)
        return SentenceMatches(tuple(numbers), most, len(query_stems))

"""BM25 as it is defined, for sources in several languages: without index, packs or numpy."""

from collections.abc import Sequence
from typing import NamedTuple

from transcripts.text.bm25 import idf, length_norm, score_formula
from transcripts.text.stemming import stem, stems
from transcripts.text.tokenizer import is_lone, is_unspaced, query_counts, tokenize, units


class Text(NamedTuple):
    """A chunk's text, and the language of its source."""

    text: str
    language: str = ""


def scores(texts: Sequence[Text], query: str) -> list[float]:
    """Score every text."""
    words = [stems(tokenize(text), language) for text, language in texts]
    average = sum(map(len, words)) / len(words) if words else 0.0
    totals = [0.0] * len(texts)
    for word, repetitions in query_counts(query).items():
        counts = [
            frequency(word, own, language) for own, (_, language) in zip(words, texts, strict=True)
        ]
        weight = idf(len(texts), sum(map(bool, counts)))
        for number, times in enumerate(counts):
            norm = length_norm(len(words[number]), average)
            totals[number] += repetitions * score_formula(times, norm, weight)
    return totals


def frequency(word: str, stemmed: Sequence[str], language: str) -> int:
    """Count a word of a query among the stems of a text."""
    if not is_lone(word):
        return stemmed.count(stem(word, language))
    pairs = [units(token) for token in stemmed if is_unspaced(token)]
    return max(sum(pair[end] == word for pair in pairs) for end in (0, -1))


def ranked(texts: Sequence[Text], query: str, *, limit: int) -> list[tuple[int, float]]:
    """Return the numbers of the best texts, and their scores."""
    every = [(number, score) for number, score in enumerate(scores(texts, query)) if score]
    return sorted(every, key=lambda pair: -pair[1])[:limit]

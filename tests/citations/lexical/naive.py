"""BM25 as it is defined, for sources in several languages: without index, packs or numpy."""

from collections.abc import Sequence
from typing import NamedTuple

from transcripts.text.bm25 import QueryWord, idf, length_norm, score_formula
from transcripts.text.compounds import parts
from transcripts.text.forms import WORTH, query_words
from transcripts.text.stemming import stemmed_as
from transcripts.text.terms import counted, term_of, worth_of
from transcripts.text.tokenizer import is_lone, tokenize


class Text(NamedTuple):
    """A chunk's text, and the language of its source."""

    text: str
    language: str = ""
    is_outdated: bool = False  # indexed by the tokenizer's version before


def scores(texts: Sequence[Text], query: str) -> list[float]:
    """Score every text."""
    lengths = [counted(text.text, "")[1] for text in texts]
    average = sum(lengths) / len(lengths) if lengths else 0.0
    totals, rarity = [0.0] * len(texts), dict[str, float]()
    for word in query_words(query):
        counts = [frequency(word, text) for text in texts]
        having = sum(map(bool, counts))
        rarity[word.text] = idf(len(texts), having)
        general = any(
            frequency(other, text)
            for other in query_words(query)
            for text in texts
            if other.text == word.beyond
        )
        weight = rarity[word.text] - (rarity[word.beyond] if word.beyond and general else 0)
        for number, times in enumerate(counts):
            norm = length_norm(lengths[number], average)
            totals[number] += word.repetitions * score_formula(times, norm, max(weight, 0))
    return totals


def frequency(word: QueryWord, text: Text) -> float:
    """Count a word of a query and its other forms in a text, by what each is worth."""
    code = stemmed_as(text.language)
    if text.is_outdated:
        counts, _ = words_before(text.text, code)
        return 0 if word.beyond is not None else counts.get(term_of(word.text, code), 0)
    counts, _ = counted(text.text, code)
    worth = dict(worth_of(word, code))
    if word.beyond is None:
        lines = "".join(f"\n{term}\n" for term in counts)
        worth = dict.fromkeys(parts(term_of(word.text, code), lines), WORTH) | worth
    return sum(counts.get(term, 0) * own for term, own in worth.items())


def words_before(text: str, code: str) -> tuple[dict[str, int], int]:
    """Count words as the tokenizer's version before did: without their other forms."""
    counts, length = counted(text, code)
    words = {term_of(word, code) for word in tokenize(text)}
    return {term: often for term, often in counts.items() if term in words or is_lone(term)}, length


def ranked(texts: Sequence[Text], query: str, *, limit: int) -> list[tuple[int, float]]:
    """Return the numbers of the best texts, and their scores."""
    every = [(number, score) for number, score in enumerate(scores(texts, query)) if score]
    return sorted(every, key=lambda pair: -pair[1])[:limit]

"""What the judge needs to know of candidates, from the lexicon and the embedding space."""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from citations.lexical import index as lexical_index
from citations.library.filters import ResolvedFilter
from citations.models import EmbeddingSpace
from citations.providers import languages, weights
from citations.search import judge, signs
from citations.search.chunk_rows import Candidate
from citations.search.judge import Estimate, Relevance
from citations.search.signs import CandidateTable
from citations.text.passage_text import read
from citations.vectors import space as vector_space
from transcripts import conf
from transcripts.text.bm25 import QueryWord
from transcripts.text.forms import query_words
from transcripts.text.stemming import primary_language, stemmed_as
from transcripts.text.terms import worth_of

Vector = NDArray[np.float32]
Numbers = NDArray[np.float64]

FIRST: Final = 10  # candidates by words that show a question's language
UNLIKE: Final = 0.3  # probability of a language, below which a question does not look like it


def judge_candidates(
    words: str,
    candidates: Sequence[Candidate],
    *,
    vector: Vector,
    space: EmbeddingSpace,
    resolved: ResolvedFilter,
    is_live: bool = False,
) -> list[Relevance]:
    """Judge the candidates of a query that is these words and this vector, in their order.

    Candidates without a vector in the space count as unrelated in meaning. For a question
    in a language that the space's model was not made for, words alone decide whether a candidate
    is likely; the order is the model's judge's in every language.
    """
    table = describe(words, candidates, vector=vector, space=space, resolved=resolved)
    is_foreign = not is_live and _is_foreign(words, table.bm25, candidates, model=space.model)
    return judge.trained(space.model).judge(
        table, model=space.model, is_live=is_live, by_words=is_foreign
    )


def estimate_by_words(
    words: str, candidates: Sequence[Candidate], *, resolved: ResolvedFilter
) -> list[Estimate]:
    """Estimate how likely the candidates of a search by words are, in their order."""
    table = describe(words, candidates, resolved=resolved)
    return judge.floor_of_words().estimates(signs.compute(table))


def _is_foreign(words: str, bm25: Numbers, candidates: Sequence[Candidate], *, model: str) -> bool:
    """Tell whether a question is in another language than the only one that a model was made for.

    It is if it does not look like that language and most of the ``FIRST`` best passages by words
    are in others: a question of one word looks like many languages, and finds its own. Passages of
    unknown language count as in the model's.
    """
    language = weights.language_of(model)
    best = [row for row in np.argsort(-bm25, kind="stable")[:FIRST] if bm25[row] > 0]
    codes = [primary_language(candidates[row].language) for row in best]
    if not language or 2 * sum(code not in ("", language) for code in codes) <= len(codes):
        return False
    return languages.probabilities(words).get(language, 0.0) < UNLIKE


def describe(
    words: str,
    candidates: Sequence[Candidate],
    *,
    resolved: ResolvedFilter,
    vector: Vector | None = None,
    space: EmbeddingSpace | None = None,
) -> CandidateTable:
    """Look up the words and vectors of candidates and of the chunks beside them.

    Without a vector and its space, all cosines are 0.
    """
    own = [row.position for row in candidates]
    before = [row.position - 1 if row.ordinal > 0 else -1 for row in candidates]
    after = [row.position + 1 if row.ordinal + 1 < row.chunks else -1 for row in candidates]
    positions = sorted({*own, *before, *after} - {-1})
    cosines: dict[int, float] = {}
    if vector is not None and space is not None:
        cosines = vector_space.cosines_at(vector, positions, space=space)
    counted = query_words(words)
    table = lexical_index.word_table(counted, positions, resolved=resolved)
    rows = {position: row for row, position in enumerate(positions)}
    places, earlier, later = (
        np.array([rows.get(position, -1) for position in column], np.int64)
        for column in (own, before, after)
    )
    has_word = table.frequencies > 0
    near = np.array([cosines.get(position, 0.0) for position in positions])
    return CandidateTable(
        weights=table.weights,
        has_word=has_word[places],
        near_word=_at(has_word, earlier) | _at(has_word, later),
        title_word=_mentioned(counted, [(row.title, row.language) for row in candidates]),
        heading_word=_mentioned(counted, [(row.heading, row.language) for row in candidates]),
        bm25=table.scores[places],
        cosine=near[places],
        neighbour_bm25=_beside(table.scores, earlier, later),
        neighbour_cosine=_beside(near, earlier, later),
        length=table.lengths[places],
        source=np.array([row.source for row in candidates], np.int64),
        k1=conf.bm25().k1,
        chunks=resolved.chunks,
    )


def _at(values: NDArray[np.bool_], rows: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return these rows of values, False where there is none (−1)."""
    return np.where((rows >= 0)[:, None], values[rows], False)


def _beside(scores: Numbers, earlier: NDArray[np.int64], later: NDArray[np.int64]) -> Numbers:
    """Return the scores of both neighbours, NaN where there is none, shape (n, 2)."""
    return np.column_stack([np.where(rows >= 0, scores[rows], np.nan) for rows in (earlier, later)])


def _mentioned(words: Sequence[QueryWord], texts: Sequence[tuple[str, str]]) -> NDArray[np.bool_]:
    """Tell which words of a query are in texts with their languages, shape (texts, words)."""
    by_text: dict[tuple[str, str], list[bool]] = {}
    for text, language in dict.fromkeys(texts):
        code, passage = stemmed_as(language), read(text, language)
        by_text[text, language] = [
            passage.has(word._replace(tokens=worth_of(word, code))) for word in words
        ]
    return np.array([by_text[key] for key in texts], bool).reshape(len(texts), len(words))

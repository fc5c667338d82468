"""Correct the words of a query that occur nowhere in what the caller may read.

The nearest word of the readable library is taken, by the distance of optimal string alignment: two
letters that changed places are one edit. As in Elasticsearch's term suggester, the first letter
counts as right, and how many edits are allowed depends on the length of a word. The lexicon has
stems, so stems like the beginning of a word are looked for, and then the words that they stand for.
Before that, a word becomes two if these stand side by side in a passage: “log in” for “login”.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import process
from rapidfuzz.distance import OSA

from citations.lexical import index, snapshot
from citations.lexical.query import parse
from citations.lexical.segments import LexicalSegment, segments
from citations.library.filters import ResolvedFilter
from citations.models import Chunk
from transcripts.text.stemming import stemmed_as
from transcripts.text.terms import term_of
from transcripts.text.tokenizer import is_unspaced, tokenize

EDITS: Final = ((6, 2), (4, 1))  # from so many letters on, so many edits
MAX_WORDS: Final = 3  # of a query
LONGEST: Final = 24  # letters of a word that may be two: each place between two costs a search
MAX_TERMS: Final = 8  # whose words are compared, the nearest and most frequent
SAMPLE: Final = 8  # chunks that tell how a term is written

_TERMS = """
    SELECT DISTINCT term FROM citations_lexblock
    WHERE term >= %s AND term < %s AND char_length(term) <= %s
"""
_CODE: Final = len("/en")


def correct(text: str, unknown: Iterable[str], *, resolved: ResolvedFilter) -> str:
    """Return a query with its ``unknown`` words corrected; "" if none can be."""
    corrected = text
    for word in [word for word in unknown if word.isalpha() and not is_unspaced(word)][:MAX_WORDS]:
        if correction := _in_two(word, resolved) or _nearest(word, resolved):
            corrected = re.sub(
                rf"(?<!\w){re.escape(word)}(?!\w)", correction, corrected, flags=re.I
            )
    return corrected if corrected != text else ""


def _in_two(word: str, resolved: ResolvedFilter) -> str:
    """Return two words that a word joins, if a passage has them side by side; else ""."""
    for end in range(2, len(word) - 1) if len(word) <= LONGEST else ():
        words = f"{word[:end]} {word[end:]}"
        if index.search(parse(f'"{words}"'), limit=1, resolved=resolved):
            return words
    return ""


def _edits(length: int) -> int:
    return next((edits for least, edits in EDITS if length >= least), 0)


def _nearest(word: str, resolved: ResolvedFilter) -> str:
    """Return the nearest word that may be read, the most frequent of equals; "" if none is near."""
    if not _edits(len(word)):
        return ""
    tail = snapshot.read(lambda _: {}, resolved).tail
    distances = _near(word, {term for entry in tail for term in entry.words.terms})
    state = snapshot.read(lambda _: {term: {term: 1.0} for term in distances}, resolved)
    parts = segments(state)
    counts = {term: sum(part.containing(term) for part in parts) for term in distances}
    readable = sorted(filter(counts.get, counts), key=lambda term: (distances[term], -counts[term]))
    written = _written(readable[:MAX_TERMS], word, parts)
    near = {other: OSA.distance(word, other) for other in written}
    best = min(near, key=lambda other: (near[other], -counts[written[other]], other), default="")
    return best if best and near[best] <= _edits(len(word)) else ""


def _near(word: str, unmerged: set[str]) -> Mapping[str, int]:
    """Return the terms with stems like the beginning of a word, and the stems' distances to it."""
    most = len(word) + _edits(len(word))
    merged = snapshot.fetch(_TERMS, [word[0], chr(ord(word[0]) + 1), most + _CODE])
    by_stem: defaultdict[str, list[str]] = defaultdict(list)
    for term in {*(term for (term,) in merged), *unmerged}:
        if term[0] == word[0]:
            by_stem[term.partition("/")[0]].append(term)
    by_length: defaultdict[int, list[str]] = defaultdict(list)
    for stem in by_stem:
        by_length[len(stem)].append(stem)
    near = {
        stem
        for length in range(len(word) // 2, most + 1)
        for beginning in {word[: length + more] for more in (-1, 0, 1)}
        for stem, _, _ in process.extract(
            beginning,
            by_length[length],
            scorer=OSA.distance,
            score_cutoff=_edits(min(length, len(word))),
            limit=None,
        )
    }
    return {term: OSA.distance(word, stem) for stem in near for term in by_stem[stem]}


def _written(terms: Sequence[str], word: str, parts: Sequence[LexicalSegment]) -> Mapping[str, str]:
    """Return the words that terms stand for in some readable chunks, with their terms."""
    positions = {position for term in terms for position in _sample(term, parts)}
    chunks = Chunk.objects.filter(position__in=positions).order_by("position")
    beginning = re.compile(rf"(?<!\w){re.escape(word[0])}\S*", re.I)
    words = {*terms}
    return {
        token: term
        for context, text, language in chunks.values_list("context", "text", "source__language")
        for token in tokenize(" ".join(beginning.findall(f"{context} {text}")))
        if (term := term_of(token, stemmed_as(language))) in words
    }


def _sample(term: str, parts: Sequence[LexicalSegment]) -> list[int]:
    """Return the first positions of readable chunks with a term."""
    positions: list[NDArray[Any]] = [np.empty(0, np.int64)]
    for part in parts:
        slots = part.having(term)
        readable = slots if part.counted is None else slots[part.counted[slots]]
        positions.append(part.positions(readable))
    return [int(position) for position in np.concatenate(positions)[:SAMPLE]]

"""Terms: what an index knows the words and forms of a text by. Pure.

A word that its text's language has a stemmer for is a term of its stem with that language,
"network/en"; any other word is one as it is. So a text has a word of a query exactly if the stemmer
of its language makes the same of both, one text has a word as one term only, and what a stemmer
does to the words of one language cannot match those of another.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from hashlib import sha256
from operator import attrgetter
from typing import Any, NamedTuple

from transcripts.text import compounds
from transcripts.text.bm25 import QueryWord
from transcripts.text.forms import (
    OTHER,
    forms_across,
    forms_of,
    goes_on,
    has_capitals,
    names,
    plain_word,
    query_words,
    without_marks,
)
from transcripts.text.stemming import stem_by, stemmed_as
from transcripts.text.tokenizer import (
    is_lone,
    is_unspaced,
    joined_spans,
    query_counts,
    tokenize,
    units,
    word_places,
)

Codes = tuple[str, ...]  # of stemmers; "" stands for languages without one

MAX_TERM = 128  # characters; PostgreSQL indexes values of at most about 2,700 bytes


@lru_cache(maxsize=1 << 14)
def term_of(word: str, code: str) -> str:
    """Return the term of a word or form in a text of the language of a stemmer ("": of none), or a
    prefix and a digest where it is very long.
    """
    if word[0] == OTHER:
        return OTHER + term_of(word[1:], code)
    stem = stem_by(code, word)
    term = f"{stem}/{code}" if stem else word  # no word contains "/" or "…"
    if len(term) <= MAX_TERM:
        return term
    return f"{term[: MAX_TERM // 2]}…{sha256(term.encode()).hexdigest()}"


@lru_cache(maxsize=1 << 14)
def terms_of(word: str, codes: Codes) -> Mapping[str, float]:
    """Return the terms of a word in texts of the languages of stemmers, each of which counts 1."""
    return {term_of(word, code): 1.0 for code in codes}


def counted(text: str, code: str) -> tuple[dict[str, int], int]:
    """Count the terms of a text in the language of a stemmer, those of its forms, too, and its
    words.

    Each single character of a script without blanks is a term, as often as it starts or ends pairs,
    whichever is more. So queries for it need no search among all pairs.
    """
    pieces = text.split()
    counts: dict[Any, int] = Counter(map(_pieces(code).__getitem__, pieces))
    odd = [(piece, counts.pop(piece)) for piece in [*counts] if piece.__class__ is _Piece]
    length = len(pieces)
    for piece, often in odd:
        length += (piece.words - 1) * often
        _add(counts, piece.terms, often)
    special = [(piece, often) for piece, often in odd if piece.is_special]
    if special:
        _count_special(counts, text, code, special)
    return counts, length


def _count_special(
    counts: dict[str, int], text: str, code: str, pieces: Sequence[tuple["_Piece", int]]
) -> None:
    heads, tails, others = dict[str, int](), dict[str, int](), dict[str, int]()
    for piece, often in pieces:
        _add(heads, piece.heads, often)
        _add(tails, piece.tails, often)
        _add(others, piece.others, often)
    if any(piece.goes_on for piece, _ in pieces):
        _add(others, [term_of(form, code) for form in forms_across(text)], 1)
    for term in heads | tails:
        _add(counts, (term,), max(heads.get(term, 0), tails.get(term, 0)))
    if any(piece.capitals for piece, _ in pieces) and has_capitals(text):
        for piece, often in pieces:
            _add(counts, piece.capitals, often)
    # What has the same stem as a word of the text adds nothing to it.
    counts.update({term: often for term, often in others.items() if term[1:] not in counts})


def _add(counts: dict[str, int], terms: Iterable[str], often: int) -> None:
    for term in terms:
        counts[term] = counts.get(term, 0) + often


class _Piece:
    """What a piece of text without blanks has that is more or less than one word.

    ``terms`` are those of its words and forms, but for what depends on the rest of the text:
    single characters of unspaced scripts, names in capitals and other forms of words.
    """

    __slots__ = ("capitals", "goes_on", "heads", "is_special", "others", "tails", "terms", "words")

    def __init__(self, piece: str, code: str) -> None:
        words, forms = tokenize(piece), [*forms_of(piece)]
        own = [form for form in forms if form[0] != OTHER]
        unspaced = [units(word) for word in words if is_unspaced(word)]
        counted = [word for word in words if not is_lone(word)]
        self.words = len(words)
        counted += [form for form in own if not form.isupper()]
        self.terms = [term_of(word, code) for word in counted]
        self.heads, self.tails = [part[0] for part in unspaced], [part[-1] for part in unspaced]
        self.capitals = [term_of(form, code) for form in own if form.isupper()]
        self.others = [term_of(form, code) for form in forms if form[0] == OTHER]
        self.goes_on = goes_on(piece)
        self.is_special = bool(unspaced or self.capitals or self.others or self.goes_on)


class _Pieces(dict[str, str | _Piece]):
    """What pieces of texts have in the language of a stemmer: mostly one term. The pieces that come
    again stay, twice ``_REMEMBERED`` at most.
    """

    def __init__(self, code: str) -> None:
        self.code = code
        self.earlier = dict[str, str | _Piece]()

    def __missing__(self, piece: str) -> str | _Piece:
        own = self.earlier.get(piece)
        if own is None:
            bare = without_marks(piece)
            own = self[bare] if bare != piece else self._analysed(piece)
        if len(self) >= _REMEMBERED:
            self.earlier = {**self}
            self.clear()
        if len(piece) <= _SHORT:
            self[piece] = own
        return own

    def _analysed(self, piece: str) -> str | _Piece:
        if word := plain_word(piece):
            return term_of(word, self.code)
        own = _Piece(piece, self.code)
        is_one_term = own.words == len(own.terms) == 1 and not own.is_special
        return own.terms[0] if is_one_term else own


_pieces = lru_cache(maxsize=4)(_Pieces)  # the same pieces come again and again
_REMEMBERED, _SHORT = 1 << 15, 64


@lru_cache(maxsize=1 << 10)
def query_terms(query: str, language: str) -> tuple[QueryWord, ...]:
    """Return the words of a query with their terms in a text of a language."""
    code = stemmed_as(language)
    return tuple(word._replace(tokens=worth_of(word, code)) for word in query_words(query))


def worth_of(word: QueryWord, code: str) -> tuple[tuple[str, float], ...]:
    """Return the terms of a word in the language of a stemmer, and what each counts."""
    worth: defaultdict[str, float] = defaultdict(float)
    for form, own in word.tokens:
        worth[term_of(form, code)] += own
    return tuple([(term, min(1.0, own)) for term, own in worth.items()])


@lru_cache(maxsize=1 << 12)
def worth_in_any(word: QueryWord, codes: Codes) -> Mapping[str, float]:
    """Return the terms of a word in texts of the languages of stemmers, and what each counts."""
    return {term: own for code in codes for term, own in worth_of(word, code)}


def worth_before(word: QueryWord, codes: Codes) -> Mapping[str, float]:
    """Return what ``worth_in_any`` returns, for what the version before ``TOKENIZER_VERSION`` has
    indexed; nothing if it had no such word.

    It joined fewer numbers with the words beside them. Whoever raises the version writes here how
    the version before has the words of a query.
    """
    return worth_in_any(word, codes)


# Within one text, whose language is known: stems without it; no language: words as they are


def counted_in(text: str, language: str | None) -> tuple[Mapping[str, int], int]:
    """Count the stems and forms of a text in a language (None: its words alone), and its words."""
    if language is None:
        tokens = tokenize(text)
        return Counter(tokens), len(tokens)
    return counted(text, stemmed_as(language))


def words_in(query: str, language: str | None) -> tuple[QueryWord, ...]:
    """Return the words of a query with what ``counted_in`` counts of them."""
    if language is None:
        counts = query_counts(query)
        return tuple(QueryWord(word, counts[word], ((word, 1.0),)) for word in counts)
    return query_terms(query, language)


# Where a text has the words of a query


class Place(NamedTuple):
    """A word or form of a text: its term, and the span that it is written in."""

    word: str
    term: str
    span: tuple[int, int]


def places(text: str, language: str) -> list[Place]:
    """Return the words and forms of a text in a language, in the order of their spans."""
    code = stemmed_as(language)
    written = [
        *word_places(text),
        *((form, (name.start, name.end)) for name in names(text) for form in name.forms),
    ]
    return sorted((Place(word, term_of(word, code), span) for word, span in written), key=_span)


_span = attrgetter("span")


def matched_spans(text: str, query: str, language: str = "") -> list[tuple[int, int]]:
    """Return what to highlight: the spans (start, end) of ``text`` whose words have the stem of a
    word in ``query``, in the text's language ("": English), are another form of it, or hold it.

    In order, without overlap. Spans count characters of the given text, also where folding
    changes lengths ("ß", "İ", "ﬁ"), and never separate a letter from its marks.
    """
    return spans_of(places(text, language), query, language)


def spans_of(places: Iterable[Place], query: str, language: str) -> list[tuple[int, int]]:
    """Return the spans of the places that have a word of a query."""
    terms = {term for word in query_terms(query, language) for term, _ in word.tokens}
    if stemmed_as(language) in compounds.LANGUAGES:
        places = [*places]
        lines = "".join([f"\n{place.term}\n" for place in places])
        terms |= {compound for part in terms for compound in compounds.parts(part, lines)}
    return joined_spans([place.span for place in places if place.term in terms])

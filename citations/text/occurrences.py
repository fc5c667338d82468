"""Where the words and quoted phrases of a search occur in a text: as they are typed, at the
beginning of words, or in other forms; and which of its sentences have several. Pure.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from citations.text.sentences import Span, split
from transcripts.text.forms import folded
from transcripts.text.stemming import stem
from transcripts.text.tokenizer import is_unspaced, tokenize

MAX_TERMS: Final = 10  # words and phrases of a search
_PARTS: Final = re.compile(r'["“„]([^"“”„]*)["“”]|([^\s"“”„]+)')
APOSTROPHE: Final = re.compile("['’‘ʼ]")
_BETWEEN: Final = re.compile(r"[\s\u00ad-]{1,4}")  # words that stand side by side
_WRITTEN: Final = re.compile(r"\w(?:[\w\u00ad\u0300-\u036f]|['’‘ʼ](?=\w))*")  # words, as written


class SearchTerm(NamedTuple):
    """A word or a phrase, and the other ``forms`` of a word that count, too."""

    text: str
    forms: tuple[str, ...] = ()

    @property
    def pattern(self) -> str:
        """The regular expression of what counts; a last word of one letter stands alone."""
        words = r"\s+".join(map(_spelt, self.text.split()))
        border = _border(self.text)
        typed = rf"{words}(?!\w)" if border and len(self.text.split()[-1]) == 1 else words
        forms = [rf"{_spelt(form)}(?!\w)" for form in self.forms]
        return f"{border}(?:{'|'.join([typed, *forms])})"


def split_terms(query: str, stops: Collection[str] = ()) -> tuple[SearchTerm, ...]:
    """Split a search into words and quoted phrases, without ``stops`` where there are others."""
    parts = _parts(query)
    telling = [(quoted, word) for quoted, word in parts if quoted or not _is_empty(word, stops)]
    texts = (" ".join((quoted or word).split()) for quoted, word in telling or parts)
    return tuple(SearchTerm(text) for text in dict.fromkeys(filter(None, texts)))[:MAX_TERMS]


def phrase_of(query: str, stops: Collection[str] = ()) -> SearchTerm | None:
    """Return the words of a search as a phrase, stop words, too; None where parts are quoted, or a
    single word tells something.
    """
    parts = _parts(query)
    words = [word for _, word in parts if word]
    is_single = len(split_terms(query, stops)) <= 1
    return None if is_single or any(quoted for quoted, _ in parts) else SearchTerm(" ".join(words))


def _parts(query: str) -> list[tuple[str, str]]:
    """Return the quoted phrases and the other words of a search; one of both is empty. Words lose
    the punctuation and the brackets around them.
    """
    parts = []
    for quoted, word in _PARTS.findall(query):
        bare = word.strip("?!.,;:…").lstrip("([{")
        is_call = any(bracket in bare for bracket in "([{")  # “f(x)” keeps its bracket
        parts.append((quoted, bare if is_call else bare.rstrip(")]}")))
    return parts


def _is_empty(word: str, stops: Collection[str]) -> bool:
    """Tell whether a word is a stop word, also with an apostrophe: “what's”."""
    tokens = tokenize(word)
    return not word or word.casefold() in stops or bool(tokens and all(t in stops for t in tokens))


def words_by_stem(text: str, language: str) -> dict[str, list[str]]:
    """Return the words of a text in lower case, otherwise as they are written, by their stems."""
    words: dict[str, list[str]] = {}
    for word in sorted({written.lower() for written in _WRITTEN.findall(text)}):
        tokens = tokenize(word)
        if len(tokens) == 1:
            for key in _keys(tokens[0], language):
                words.setdefault(key, []).append(word)
    return words


def with_forms(
    terms: Iterable[SearchTerm], words: Mapping[str, Sequence[str]], language: str
) -> tuple[SearchTerm, ...]:
    """Add to each word those of a text, by their stems, that have its stem: “run” to “running”."""
    return tuple(SearchTerm(term.text, _forms(term.text, words, language)) for term in terms)


def _forms(text: str, words: Mapping[str, Sequence[str]], language: str) -> tuple[str, ...]:
    tokens = tokenize(text)
    if len(tokens) != 1 or not _border(text):  # a phrase or a sign is looked for as it is
        return ()
    typed = APOSTROPHE.sub("'", text.lower())
    keys = sorted(_keys(tokens[0], language))
    forms = dict.fromkeys(form for key in keys for form in words.get(key, ()))
    return tuple(form for form in forms if not APOSTROPHE.sub("'", form).startswith(typed))


def _keys(token: str, language: str) -> set[str]:
    """Return the stems of a word with and without its accents."""
    return {stem(form, language) for form in (token, *folded(token))}


def find(text: str, terms: Sequence[SearchTerm]) -> list[Span]:
    """Return the spans of a text that have one of the terms, in any case, in order."""
    return [match.span() for match in _matches(text, terms)]


def find_runs(text: str, terms: Sequence[SearchTerm]) -> list[Span]:
    """Return the spans of ``find``, those of different terms side by side joined: “gradient
    descent” is a single place.
    """
    runs: list[Span] = []
    of_run: set[int | None] = set()
    for match in _matches(text, terms):
        first, last = match.span()
        end = runs[-1][1] if runs else -1
        # Within a word only where the script has no blanks.
        is_beside = (
            is_unspaced(text[first]) if end == first else _BETWEEN.fullmatch(text, end, first)
        )
        if runs and match.lastindex not in of_run and is_beside:
            runs[-1] = (runs[-1][0], last)
        else:
            runs.append((first, last))
            of_run.clear()
        of_run.add(match.lastindex)
    return runs


def _matches(text: str, terms: Sequence[SearchTerm]) -> Iterator[re.Match[str]]:
    """Yield the places of the terms; ``lastindex`` tells which."""
    longest_first = sorted(terms, key=lambda term: len(term.text), reverse=True)
    pattern = "|".join(f"({term.pattern})" for term in longest_first)
    yield from re.finditer(pattern, text, re.IGNORECASE) if terms else ()


def _spelt(word: str) -> str:
    """Return the pattern of a word with any of the apostrophes."""
    return APOSTROPHE.sub("['’‘ʼ]", re.escape(word))


def _border(text: str) -> str:
    """Return the pattern of the border before a text: the beginning of a word, if it has letters
    of a script with blanks between words.
    """
    first = text[0]
    return r"(?<!\w)" if (first.isalnum() or first == "_") and not is_unspaced(first) else ""


Place = tuple[Span, ...]  # the words that are marked together


def places(text: str, terms: Sequence[SearchTerm], *, fewest: int = 1) -> list[Place]:
    """Return the sentences with at least ``fewest`` of the terms, by their words; of 1, each word
    is a place of its own.
    """
    if fewest <= 1:
        return [(span,) for span in find_runs(text, terms)]
    return [
        tuple((first + start, first + stop) for start, stop in find_runs(text[first:last], terms))
        for (first, last), count in sorted(_counts(text, terms, fewest).items())
        if count >= fewest
    ]


def most_together(texts: Iterable[str], terms: Sequence[SearchTerm]) -> int:
    """Return how many of the terms a sentence of the texts has at most."""
    most = 0
    for text in texts:
        most = max([most, *_counts(text, terms, most + 1).values()])
    return most


def _counts(text: str, terms: Sequence[SearchTerm], fewest: int) -> Counter[Span]:
    """Return how many of the terms each sentence has that has one; none if the whole text has less
    than ``fewest``.
    """
    every = [[first for first, _ in find(text, [term])] for term in terms]
    if sum(map(bool, every)) < fewest:
        return Counter()
    spans = split(text)
    borders = [first for first, _ in spans]
    return Counter(
        spans[number]
        for starts in every
        for number in {max(0, bisect_right(borders, start) - 1) for start in starts}
    )

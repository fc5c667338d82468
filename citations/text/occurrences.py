"""Where the words and quoted phrases of a search occur in a text: as they are typed, at the
beginning of words, or in other forms. Pure.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from transcripts.stemming import stem
from transcripts.tokenizer import is_unspaced, tokenize

Span = tuple[int, int]  # characters [first, last)

MAX_TERMS: Final = 10  # words and phrases of a search
_PARTS: Final = re.compile(r'["“„]([^"“”„]*)["“”]|([^\s"“”„]+)')
APOSTROPHE: Final = re.compile("['’‘ʼ]")


class SearchTerm(NamedTuple):
    """A word or a phrase, and the other ``forms`` of a word that count, too."""

    text: str
    forms: tuple[str, ...] = ()

    @property
    def pattern(self) -> str:
        """The regular expression of what counts; a word of one letter stands alone."""
        words = r"\s+".join(APOSTROPHE.sub("['’‘ʼ]", re.escape(w)) for w in self.text.split())
        border = _border(self.text)
        typed = rf"{words}(?!\w)" if border and len(self.text) == 1 else words
        forms = [rf"{re.escape(form)}(?!\w)" for form in self.forms]
        return f"{border}(?:{'|'.join([typed, *forms])})"


def split_terms(query: str, stops: Collection[str] = ()) -> tuple[SearchTerm, ...]:
    """Split a search into words and quoted phrases, without ``stops`` where there are others."""
    texts = (quoted or word.strip("?!.,;:") for quoted, word in _PARTS.findall(query))
    distinct = list(dict.fromkeys(filter(None, (" ".join(text.split()) for text in texts))))
    telling = [text for text in distinct if text.casefold() not in stops] or distinct
    return tuple(SearchTerm(text) for text in telling[:MAX_TERMS])


def words_by_stem(text: str, language: str) -> dict[str, list[str]]:
    """Return the words of a text by their stems in a language."""
    words: dict[str, list[str]] = {}
    for word in sorted(set(tokenize(text))):
        words.setdefault(stem(word, language), []).append(word)
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
    forms = words.get(stem(tokens[0], language), [])
    return tuple(form for form in forms if not form.startswith(tokens[0]))


def find(text: str, terms: Sequence[SearchTerm]) -> list[Span]:
    """Return the spans of a text that have one of the terms, in any case, in order."""
    if not terms:
        return []
    longest_first = sorted(terms, key=lambda term: len(term.text), reverse=True)
    pattern = "|".join(term.pattern for term in longest_first)
    return [match.span() for match in re.finditer(pattern, text, re.IGNORECASE)]


def _border(text: str) -> str:
    """Return the pattern of the border before a text: the beginning of a word, if it has letters
    of a script with blanks between words.
    """
    first = text[0]
    return r"(?<!\w)" if (first.isalnum() or first == "_") and not is_unspaced(first) else ""

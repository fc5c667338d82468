"""Parse search queries: words to rank by, phrases that must occur, words that must not. Pure."""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from citations.text.passage_text import PassageText
from transcripts.core.sanitize import MAX_QUERY_CHARACTERS, clean
from transcripts.text.forms import names, query_words
from transcripts.text.tokenizer import MAX_QUERY_WORDS, is_lone, is_unspaced, tokenize, units

NOT_NOTE: Final = (
    "“NOT” was searched for as a word. To leave a word out, write a hyphen before it: -word."
)
MINUS_NOTE: Final = (
    'A hyphen before a number is a minus. To leave a number out, put it in quotation marks: -"40".'
)
MIN_VERBATIM: Final = 4  # words; fewer are in a passage by chance


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A parsed query. ``words`` is the text to rank by: all but quotation marks and exclusions."""

    text: str
    words: str
    phrases: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()

    @property
    def has_words(self) -> bool:
        """Whether there is a letter or digit to search for, not signs alone."""
        return any(mark.isalnum() for mark in self.words)

    @property
    def notes(self) -> tuple[str, ...]:
        """What looks like an exclusion and is none."""
        is_not = _NOT.search(self.text) is not None and not self.text.isupper()
        return (NOT_NOTE,) * is_not + (MINUS_NOTE,) * bool(_MINUS.search(self.text))

    @property
    def is_empty(self) -> bool:
        """Whether no word or sign is left to search for."""
        return not query_words(self.words)

    def admits(self, text: str) -> bool:
        """Tell whether a text holds every phrase, word for word, and nothing that is excluded.

        Words are those of ``tokenize`` with single letters and digits: "vitamin C" is not vitamin
        D. Case is ignored, the signs of names are not: "C++" is not C#.
        """
        if not self.phrases and not self.excluded:
            return True
        tokens = tokenize(text, shortest=1)
        joined = _joined(tokens)
        every = (*self.phrases, *self.excluded)
        signs = _signs(text) if any(map(_signs, every)) else frozenset()

        def occurs(phrase: str) -> bool:
            return _signs(phrase) <= signs and _occurs(phrase, tokens, joined)

        return all(map(occurs, self.phrases)) and not any(map(occurs, self.excluded))

    def is_verbatim_in(self, passage: PassageText) -> bool:
        """Tell whether an admitted passage holds the query itself: its phrases, or all its words in
        their order, at least ``MIN_VERBATIM``.
        """
        if self.phrases or len(_needle(self.words)) < MIN_VERBATIM:
            return bool(self.phrases)
        if not _words(self.words) <= passage.words:
            return False  # without looking at their order, which most passages need not
        tokens = tokenize(passage.text, shortest=1)
        return _occurs(self.words, tokens, _joined(tokens))


def parse(text: str) -> Query:
    """Parse a query of at most ``MAX_QUERY_CHARACTERS``; any text is valid.

    - "a phrase", “a phrase”, „a phrase“, «a phrase»: these words in this order. Unpaired quotation
      marks and those within a word (3.5") are ignored.
    - -word, -"a phrase": must not occur. The hyphen follows a blank and directly precedes a
      letter, an emoji, the point of a name such as ".NET" or a quotation mark: "state-of-the-art",
      "C - D", "--help" and "-40" exclude nothing, -"40" does. "-state-of-the-art" excludes these
      words in this order.

    What has no word and no sign of a name is neither a phrase nor excluded. At most
    ``MAX_QUERY_WORDS`` phrases and exclusions count.
    """
    text = clean(text, MAX_QUERY_CHARACTERS)
    ranked: list[str] = []
    phrases: dict[str, None] = {}
    excluded: dict[str, None] = {}
    end = 0
    for match in _PARTS.finditer(text):
        ranked.append(text[end : match.start()])
        end = match.end()
        variants = (match["straight"], match["curly"], match["low"], match["angled"])
        quoted = " ".join(next(filter(None, variants), "").split())
        if not match["minus"]:
            ranked.append(f" {quoted} ")
        parts, phrase = excluded if match["minus"] else phrases, quoted or match["word"] or ""
        if len(parts) < MAX_QUERY_WORDS and query_words(phrase):
            parts[phrase] = None
    ranked.append(text[end:])
    return Query(
        text=text,
        words=" ".join("".join(ranked).translate(_QUOTES).split()),
        phrases=tuple(phrases),
        excluded=tuple(excluded),
    )


_NOT: Final = re.compile(r"\S\s+NOT\s+[\w\"“„«]")
_MINUS: Final = re.compile(r"\S\s+[-−－]\d[\d.,]*(?!\S)")
_QUOTES = dict.fromkeys(map(ord, '"“”„«»'), " ")
_QUOTED = r"""
    (?<!\w)
    (?: "(?P<straight>[^"]*)" | “(?P<curly>[^“”]*)” | „(?P<low>[^„“”]*)[“”] | «(?P<angled>[^«»]*)» )
"""
# An exclusion starts with a hyphen, a minus or a full-width hyphen; its word may hold apostrophes
# and dots.
_PARTS = re.compile(
    rf"""
    (?P<minus>(?<!\S)[-−－](?=[^\W\d_]|["“„«]|\.\w|[^\w\s\x00-\x7f‐-―−]))?
    (?: {_QUOTED} | (?(minus)(?P<word>[^\s"“”„«»]+)|(?!)) )
    """,
    re.VERBOSE,
)


@lru_cache(maxsize=1024)
def _needle(phrase: str) -> tuple[str, ...]:
    return tuple(tokenize(phrase, shortest=1)[:MAX_QUERY_WORDS])


@lru_cache(maxsize=1024)
def _signs(text: str) -> frozenset[str]:
    """Return the names with signs and the signs of a text, “c++” and “§”."""
    signs = {name.signed or name.words[0] for name in names(text) if name.has_sign}
    return frozenset(signs)


@lru_cache(maxsize=1024)
def _words(phrase: str) -> frozenset[str]:
    """Return the words of a phrase that any passage with it has as words of its own."""
    return frozenset(word for word in _needle(phrase) if len(word) > 1 and not is_lone(word))


def _joined(tokens: list[str] | tuple[str, ...]) -> str:
    return "\0" + "\0".join(tokens) + "\0"


def _occurs(phrase: str, tokens: list[str], joined: str) -> bool:
    needle = _needle(phrase)
    if not needle:
        return True  # signs alone
    if not any(is_lone(word) for word in needle):
        return _joined(needle) in joined
    starts = range(len(tokens) - len(needle) + 1)
    return any(all(map(_is_same, needle, tokens[start : start + len(needle)])) for start in starts)


def _is_same(needle: str, token: str) -> bool:
    """Compare tokens; a character of an unspaced script is part of each pair that holds it."""
    return needle == token or (is_unspaced(token) and is_lone(needle) and needle in units(token))

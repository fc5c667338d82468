"""What people type into the search box: words to rank by, phrases that must occur, words that must not. Pure."""

import re
from dataclasses import dataclass
from functools import lru_cache

from transcripts.sanitize import clean
from transcripts.tokenizer import (
    MAX_QUERY_CHARACTERS,
    MAX_QUERY_WORDS,
    is_lone,
    is_unspaced,
    tokenize,
    units,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A question as it was understood. ``words`` is the text that is ranked by: all of it but the quotes and what is excluded."""

    text: str
    words: str
    phrases: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether nothing is left to look for: no letter and no digit that is not excluded."""
        return not any(mark.isalnum() for mark in self.words)

    def admits(self, text: str) -> bool:
        """Say whether every phrase occurs in the text, word after word, and nothing that is excluded.

        Words are those of ``tokenize``, single letters and digits with them: "vitamin C" is not vitamin D. Case does not matter.
        """
        if not self.phrases and not self.excluded:
            return True
        tokens = tokenize(text, shortest=1)
        joined = _joined(tokens)
        if not all(_occurs(phrase, tokens, joined) for phrase in self.phrases):
            return False
        return not any(_occurs(phrase, tokens, joined) for phrase in self.excluded)


def parse(text: str) -> Query:
    """Understand a query, as far as ``MAX_QUERY_CHARACTERS`` resolved; whatever it is, it means something.

    - "a phrase", “a phrase”, „a phrase“, «a phrase»: these words in this order. Quotes without an end, or inside a word (3.5"), are blanks.
    - -word, -"a phrase": must not occur. The hyphen stands after a blank and right before a letter or quotes: "state-of-the-art", "C - D", the option
      "--help" and the number "-40" exclude nothing; -"40" does. "-state-of-the-art" excludes these words in this order.

    What holds no word as ``tokenize`` sees it, like "C++", is neither a phrase nor excluded. At most ``MAX_QUERY_WORDS`` phrases and exclusions count.
    """
    text = clean(text, MAX_QUERY_CHARACTERS)
    ranked: list[str] = []
    phrases: dict[str, None] = {}
    excluded: dict[str, None] = {}
    place = 0
    for match in _PARTS.finditer(text):
        ranked.append(text[place : match.start()])
        place = match.end()
        quoted = " ".join(
            (match["straight"] or match["curly"] or match["low"] or match["angled"] or "").split()
        )
        if not match["minus"]:
            ranked.append(f" {quoted} ")
        _note(excluded if match["minus"] else phrases, quoted or match["word"] or "")
    ranked.append(text[place:])
    return Query(
        text=text,
        words=" ".join("".join(ranked).translate(_QUOTES).split()),
        phrases=tuple(phrases),
        excluded=tuple(excluded),
    )


_QUOTES = dict.fromkeys(map(ord, '"“”„«»'), " ")
_QUOTED = r"""
    (?<!\w) (?: "(?P<straight>[^"]*)" | “(?P<curly>[^“”]*)” | „(?P<low>[^„“”]*)[“”] | «(?P<angled>[^«»]*)» )
"""
# The sign of a word that is excluded is a hyphen, a minus or a full-width hyphen. An apostrophe or a dot inside belongs to the word.
_PARTS = re.compile(
    rf"""
    (?P<minus>(?<!\S)[-−－](?=[^\W\d_]|["“„«]))? (?: {_QUOTED} | (?(minus)(?P<word>[^\s"“”„«»]+)|(?!)) )
    """,
    re.VERBOSE,
)


def _note(kept: dict[str, None], phrase: str) -> None:
    if len(kept) < MAX_QUERY_WORDS and tokenize(phrase):
        kept[phrase] = None


@lru_cache(maxsize=1024)
def _needle(phrase: str) -> tuple[str, ...]:
    return tuple(tokenize(phrase, shortest=1)[:MAX_QUERY_WORDS])


def _joined(tokens: list[str] | tuple[str, ...]) -> str:
    return "\0" + "\0".join(tokens) + "\0"


def _occurs(phrase: str, tokens: list[str], joined: str) -> bool:
    wanted = _needle(phrase)
    if not any(is_lone(word) for word in wanted):
        return _joined(wanted) in joined
    places = range(len(tokens) - len(wanted) + 1)
    return any(all(map(_is_same, wanted, tokens[place : place + len(wanted)])) for place in places)


def _is_same(wanted: str, token: str) -> bool:
    """Compare two tokens; a single character of an unspaced script is found in every pair that holds it."""
    return wanted == token or (is_unspaced(token) and is_lone(wanted) and wanted in units(token))

"""The content words of a text, which say what it is about, and the function words of a language: a
closed class that tells nouns from verbs, and sentences that point back from others. Pure.
"""

import math
from collections import Counter
from configparser import ConfigParser
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from transcripts.text.stemming import primary_language
from transcripts.text.tokenizer import tokenize

Words = Counter[str]

FEW_WORDS: Final = 6  # content words; sentences with fewer rate lower
# Spoken fillers, and the remains of words with an apostrophe.
FILLERS: Final = frozenset(Path(__file__).with_name("fillers.txt").read_text().split())


def words_of(text: str, stops: frozenset[str]) -> Words:
    """Count the words of a text, without ``stops``, fillers and numbers."""
    return Words(
        word
        for word in tokenize(text)
        if word not in stops and word not in FILLERS and not word.isdigit()
    )


def rarity(having: int, among: int) -> float:
    """Return log(1 + n / df): how much a word tells that ``having`` of ``among`` texts have.

    Spärck Jones, "A statistical interpretation of term specificity" (1972). A word that no text has
    counts as if one had it.
    """
    return math.log(1 + among / (having or 1))


def currency(words: Words, counts: Words) -> float:
    """Rate a sentence's words by how often a whole text has them, of which ``counts`` are."""
    return sum(counts[word] for word in words) / math.sqrt(max(FEW_WORDS, words.total()))


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionWords:
    """The function words of a language, in lower case; empty where they are not known."""

    nominal: frozenset[str] = frozenset()  # stand before a noun
    verbal: frozenset[str] = frozenset()  # stand before a verb
    about: frozenset[str] = frozenset()  # name a subject
    joins: frozenset[str] = frozenset()  # stand within a noun phrase
    light: frozenset[str] = frozenset()  # nouns that name nothing by themselves
    pointing: frozenset[str] = frozenset()  # point back at earlier speech
    linking: frozenset[str] = frozenset()  # begin a sentence that continues another one
    starting: frozenset[str] = frozenset()  # begin a reply, a question or a fragment
    leading: frozenset[str] = frozenset()  # may be cut off at the beginning of a sentence
    own: frozenset[str] = frozenset()  # mean the speaker
    addressed: frozenset[str] = frozenset()  # “your”: what is asked is of who is spoken to
    opening: frozenset[str] = frozenset()  # begin a clause where there are no full stops
    itself: frozenset[str] = frozenset()  # “in this chapter”: what a text says of itself

    @property
    def general(self) -> frozenset[str]:
        """Those that name nothing by themselves."""
        others = (self.light, self.pointing, self.linking, self.starting, self.leading, self.own)
        return self.nominal.union(self.verbal, *others)


UNKNOWN: Final = FunctionWords()


@cache
def function_words(language: str) -> FunctionWords:
    """Return the function words of a language ("en", "de-AT"), none if they are not known; those of
    English for an unknown language, "".
    """
    lists = ConfigParser()
    lists.read(Path(__file__).with_name("function_words.ini"), encoding="utf-8")
    code = primary_language(language) or "en"
    if not lists.has_section(code):
        return UNKNOWN
    return FunctionWords(**{name: frozenset(text.split()) for name, text in lists.items(code)})

"""The function words of a language: a closed class that tells nouns from verbs, and sentences that
point back from those that do not. Pure.
"""

from configparser import ConfigParser
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from transcripts.text.stemming import primary_language


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
        return self.nominal.union(
            self.verbal,
            self.light,
            self.pointing,
            self.linking,
            self.starting,
            self.leading,
            self.own,
        )


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

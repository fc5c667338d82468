"""Stems: what the forms of a word have in common, as "connection" and "connected" have "connect".

By Snowball's stemmer for each language (PyStemmer). A stemmer changes only words of its script:
"python" in a Russian text stays as it is, and so do numbers and Chinese.
"""

import threading
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import Final, NamedTuple

import Stemmer

_ALIASES: Final = {"nb": "no", "nn": "no"}
_BY_SCRIPT: Final = {
    "LATIN": {
        **{"ca": "catalan", "cs": "czech", "da": "danish", "de": "german", "en": "english"},
        **{"es": "spanish", "fi": "finnish", "fr": "french", "hu": "hungarian", "id": "indonesian"},
        **{"it": "italian", "nl": "dutch", "no": "norwegian", "pl": "polish", "pt": "portuguese"},
        **{"ro": "romanian", "sv": "swedish", "tr": "turkish"},
    },
    "CYRILLIC": {"ru": "russian"},
    "ARABIC": {"ar": "arabic", "fa": "persian"},
    "GREEK": {"el": "greek"},
    "DEVANAGARI": {"hi": "hindi", "ne": "nepali"},
}


class Algorithm(NamedTuple):
    """A stemmer's name, and the script whose words it changes."""

    name: str
    script: str


ALGORITHMS: Final = {
    code: Algorithm(name, script)
    for script, names in _BY_SCRIPT.items()
    for code, name in names.items()
}
"""Every language that has a stemmer, by its code."""


def primary_language(tag: str) -> str:
    """Return the language of a tag such as "pt-BR" or "pt_BR"."""
    code = tag.replace("_", "-").partition("-")[0].casefold()
    return _ALIASES.get(code, code)


@lru_cache(maxsize=256)
def stemmed_as(language: str) -> str:
    """Return the code of the stemmer for a language tag, "" if there is none.

    Unknown languages are taken for English, as elsewhere: whatever the stemmer makes of a word, it
    makes the same of it in the query.
    """
    code = primary_language(language) or "en"
    return code if code in ALGORITHMS else ""


def stem(word: str, language: str) -> str:
    """Return the stem of a word of ``tokenize`` in the language of a tag."""
    return stem_by(stemmed_as(language), word) or word


def stems(words: Iterable[str], language: str) -> list[str]:
    """Return the stems of words in the language of a tag."""
    code = stemmed_as(language)
    return [stem_by(code, word) or word for word in words]


@lru_cache(maxsize=1 << 15)  # the same words come again and again
def stem_by(code: str, word: str) -> str:
    """Return what a stemmer of ``ALGORITHMS`` makes of a word, "" if it is not for the word."""
    if not code or not unicodedata.name(word[0], "").startswith(f"{ALGORITHMS[code].script} "):
        return ""
    own = vars(_stemmers)
    if code not in own:
        own[code] = Stemmer.Stemmer(ALGORITHMS[code].name)
    return str(own[code].stemWord(word))


_stemmers = threading.local()  # by code: threads must not share them

"""Sentences that were made in English, in the language of the page that shows them.

Errors, notes and steps of work are made and stored in English, by code that knows no page. The
catalogue has their sentences with ``{0}`` for what is filled in, which is read out of them here.
"""

import re
from functools import cache
from typing import Any

from django.conf import settings
from django.utils.translation import get_language, gettext
from django.utils.translation.trans_real import translation

from transcripts.core.errors import KnowledgeBaseError

MAX_SENTENCE = 1_000  # characters of a sentence; matching several values in more would take long
_SENTENCE_END = re.compile(r"(?<=[.!?]) ")
_QUOTED = re.compile("“([^“”]*)”")
_PLACE = re.compile(r"\{(\d)\}")


def translated(text: str) -> str:
    """Return a sentence in the active language, or as it is if it is not known."""
    language = get_language() or settings.LANGUAGE_CODE
    if not text or language == settings.LANGUAGE_CODE or len(text) > MAX_SENTENCE:
        return text
    if (exact := gettext(text)) != text:
        return exact
    for pattern, sentence in _sentences(language):
        if match := pattern.fullmatch(text):
            values = {name: _value(value) for name, value in match.groupdict().items()}
            return _PLACE.sub(lambda place: values[f"value{place[1]}"], sentence)  # noqa: B023
    parts = _SENTENCE_END.split(text)
    return " ".join(map(translated, parts)) if len(parts) > 1 else text


def translated_error(error: KnowledgeBaseError) -> str:
    """Return the message and the hint of an error in the active language."""
    return f"{translated(error.message)} {translated(error.hint)}".rstrip()


def quoted(words: object) -> str:
    """Return words in the quotation marks of the active language."""
    return gettext("“%(words)s”") % {"words": words}


def _value(value: str) -> str:
    """Return the inserted value: sentences in the active language, names as they are."""
    if match := _QUOTED.fullmatch(value):
        return quoted(match[1])
    return translated(value) if value.endswith(".") else value


@cache
def _sentences(language: str) -> list[tuple[re.Pattern[str], str]]:
    """Return patterns of English sentences and their translations, the longest first."""
    catalogue: Any = vars(translation(language))["_catalog"]
    pairs = [
        (english, sentence)
        for english, sentence in catalogue.items()
        if isinstance(english, str) and "{0}" in english and sentence
    ]
    pairs.sort(key=lambda pair: len(pair[0]), reverse=True)
    return [(_pattern(english), sentence) for english, sentence in pairs]


def _pattern(english: str) -> re.Pattern[str]:
    text, *rest = _PLACE.split(english)  # text and numbers in turns
    pattern = re.escape(text)
    for number, text in zip(rest[::2], rest[1::2], strict=True):
        value = f"(?P<value{number}>.*?)"
        pattern += f"(?P=value{number})" if value in pattern else value
        pattern += re.escape(text)
    return re.compile(pattern, re.DOTALL)

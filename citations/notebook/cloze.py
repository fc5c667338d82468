"""What a card asks for: the words of a sentence that are hidden. Pure."""

import re
from collections.abc import Collection, Mapping
from functools import partial
from typing import Final

from citations.text import sentences

Span = tuple[int, int]  # characters [first, last)

WINDOW: Final = 400  # characters beside a passage in which its sentence begins and ends
LONGEST: Final = 120  # characters that are hidden at most
_WORD: Final = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")
RARE: Final = 0.01  # share of a library's chunks; rarer words are no more telling


def sentence_around(text: str, passage: Span) -> Span:
    """Return the sentences of a text that a passage is in."""
    start, stop = max(0, passage[0] - WINDOW), min(len(text), passage[1] + WINDOW)
    spans = [(start + first, start + last) for first, last in sentences.split(text[start:stop])]
    touched = [span for span in spans if span[0] < passage[1] and span[1] > passage[0]]
    first = min((span[0] for span in touched), default=passage[0])
    last = max((span[1] for span in touched), default=passage[1])
    return first, first + len(text[first:last].rstrip())


def words_of(sentence: str) -> list[str]:
    """Return the words that could be asked for, in lower case."""
    return [match[0].casefold() for match in _WORD.finditer(sentence)]


def distinctions(times: Mapping[str, int], shares: Mapping[str, float]) -> dict[str, float]:
    """Return how much each word distinguishes a source, by how often it stands there and by the
    share of the library's chunks that have it.
    """
    return {word: count / (shares.get(word, 0.0) + RARE) for word, count in times.items()}


def hidden(
    sentence: str,
    passage: Span,
    stops: Collection[str] = (),
    distinctions: Mapping[str, float] | None = None,
) -> Span:
    """Return the words of a sentence to ask for: the passage itself where it is a part, else its
    most telling word: a number, then a name, then the word that distinguishes its source most, or
    the longest where none is known to. Stop words are not asked for.
    """
    first, last = passage
    quote = sentence[first:last]
    first, last = first + len(quote) - len(quote.lstrip()), last - len(quote) + len(quote.rstrip())
    if 0 < last - first <= min(LONGEST, 0.6 * len(sentence)):
        return first, last
    words = [match.span() for match in _WORD.finditer(sentence, first, last)]
    telling = [span for span in words if sentence[slice(*span)].casefold() not in stops]
    worth = partial(_worth, sentence, distinctions or {})
    return max(telling or words, key=worth, default=(first, last))


def _worth(sentence: str, distinctions: Mapping[str, float], span: Span) -> tuple[int, float, int]:
    word = sentence[slice(*span)]
    is_name = span[0] > 0 and word[0].isupper() and sentence[span[0] - 2] not in ".?!:"
    has_digit = any(letter.isdigit() for letter in word)
    return 2 * has_digit + is_name, distinctions.get(word.casefold(), 0.0), len(word)

"""What a card asks for: the words of a sentence that are hidden. Pure."""

import re
from collections.abc import Collection
from typing import Final

from citations.text import sentences

Span = tuple[int, int]  # characters [first, last)

WINDOW: Final = 400  # characters beside a passage in which its sentence begins and ends
LONGEST: Final = 120  # characters that are hidden at most
_WORD: Final = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")
# Words that fit into most sentences: who reads a card cannot know which is meant.
_GENERAL: Final = frozenset(
    re.findall(
        r"\w+",
        """answer answers case cases example examples fact facts idea ideas kind kinds moment part
        parts people person place places point points problem problems question questions reason
        reasons something sort stuff thing things time times way ways word words actually always
        basically course maybe perhaps probably really antwort beispiel fall frage fragen grund
        idee leute mensch menschen moment problem punkt sache sachen teil weise wort zeit
        eigentlich natürlich vielleicht wirklich""",
    )
)


def sentence_around(text: str, passage: Span) -> Span:
    """Return the sentences of a text that a passage is in."""
    start, stop = max(0, passage[0] - WINDOW), min(len(text), passage[1] + WINDOW)
    spans = [(start + first, start + last) for first, last in sentences.split(text[start:stop])]
    touched = [span for span in spans if span[0] < passage[1] and span[1] > passage[0]]
    first = min((span[0] for span in touched), default=passage[0])
    last = max((span[1] for span in touched), default=passage[1])
    return first, first + len(text[first:last].rstrip())


def hidden(sentence: str, passage: Span, stops: Collection[str] = ()) -> Span:
    """Return the words of a sentence to ask for: the passage itself where it is a part, else its
    most telling word: a number, then a name, then the longest word that is neither a stop word nor
    a general one such as “question”.
    """
    first, last = passage
    quote = sentence[first:last]
    first, last = first + len(quote) - len(quote.lstrip()), last - len(quote) + len(quote.rstrip())
    if 0 < last - first <= min(LONGEST, 0.6 * len(sentence)):
        return first, last
    words = [match.span() for match in _WORD.finditer(sentence, first, last)]
    telling = [span for span in words if sentence[slice(*span)].casefold() not in stops]
    return max(telling or words, key=lambda span: _worth(sentence, span), default=(first, last))


def _worth(sentence: str, span: Span) -> tuple[int, bool, int]:
    word = sentence[slice(*span)]
    is_name = span[0] > 0 and word[0].isupper() and sentence[span[0] - 2] not in ".?!:"
    is_special = word.casefold() not in _GENERAL
    return 2 * any(letter.isdigit() for letter in word) + is_name, is_special, len(word)

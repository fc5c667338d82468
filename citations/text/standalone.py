"""Tell how well a sentence stands alone, without the one before it and without small talk. Pure."""

import re
from collections.abc import Callable, Iterator, Sequence, Set
from itertools import pairwise
from typing import Final

from citations.text.function_words import FunctionWords
from citations.text.sentences import Span, asks, ends_with_stop, is_punctuated
from citations.text.speakers import LABEL

DEPENDENT: Final = 0.2  # rating of a sentence that cannot be understood alone
POINTING: Final = 0.15  # what each pronoun costs that points at something said elsewhere
PERSONAL: Final = 0.6  # factor on the rating of a sentence in which the speaker says “I”
SELF: Final = 0.4  # factor if it begins so
HESITATING: Final = 3.0  # how much of the rating each share of fillers and repetitions costs
LEADING: Final = 3  # words of a sentence's beginning in which a pronoun points back
MIN_LENGTH: Final = 40  # characters of a sentence that tells something

SAMPLE: Final = 50  # passages by which a text is judged

_BULLETS: Final = " \n\r\t-–—…•>"
_LATER_SPEAKER: Final = re.compile(rf"(?!^)(?:{LABEL.pattern}|>>)")
_WORD: Final = re.compile(r"\w+(?:['’]\w+)*")


def without_lead(sentence: str, leading: frozenset[str]) -> str:
    """Cut off who says a sentence, and words such as “Well, so” at its beginning."""
    sentence = LABEL.sub("", sentence, count=1) if LABEL.match(sentence) else sentence
    sentence = sentence.lstrip(_BULLETS)
    while (word := _WORD.match(sentence)) and word[0].casefold() in leading:
        sentence = sentence[word.end() :].lstrip("," + _BULLETS)
    return sentence


def is_whole(sentence: str) -> bool:
    """Tell whether a sentence has its beginning and its end."""
    return ends_with_stop(sentence) and not sentence[:1].islower()


def clauses(text: str, opening: frozenset[str]) -> list[Span]:
    """Return what stands between the ``opening`` words of a text without full stops, where clauses
    may begin.

    What comes before the first of them and after the last one is left out, as it may be broken.
    """
    openers = [match.span() for match in _WORD.finditer(text) if match[0].casefold() in opening]
    return [
        (first, last) for (_, first), (last, _) in pairwise(openers) if text[first:last].strip()
    ]


def has_stops(texts: Sequence[str], split: Callable[[str], list[Span]]) -> bool:
    """Tell whether texts have full stops, by the first ones."""
    return is_punctuated(text[slice(*span)] for text in texts[:SAMPLE] for span in split(text))


def standing(sentence: str, *, function_words: FunctionWords, fillers: frozenset[str]) -> float:
    """Rate how well a whole sentence stands alone, 0 to 1."""
    words = [word.casefold().replace("’", "'") for word in _WORD.findall(sentence)]
    if not words or _is_aside(sentence) or _continues(words, function_words):
        return DEPENDENT
    repeated = sum(word == other for word, other in pairwise(words))
    hesitation = (repeated + sum(word in fillers for word in words)) / len(words)
    rating: float = 1 - HESITATING * hesitation
    rating -= POINTING * sum(_pointing(words, function_words))
    if function_words.own.intersection(words):
        rating *= SELF if words[0] in function_words.own else PERSONAL
    return max(DEPENDENT, rating)


def introduces(sentence: str, function_words: FunctionWords) -> bool:
    """Tell whether a sentence speaks of the text that it stands in, or names a subject."""
    return _has_word(sentence, function_words.itself | function_words.about)


def speaks_of_itself(sentence: str, function_words: FunctionWords) -> bool:
    """Tell whether a sentence speaks of the text that it stands in: “in this lecture”, “today”."""
    return _has_word(sentence, function_words.itself)


def _has_word(sentence: str, words: Set[str]) -> bool:
    return not words.isdisjoint(word.casefold() for word in _WORD.findall(sentence))


def _pointing(words: Sequence[str], function_words: FunctionWords) -> Iterator[bool]:
    """Yield for each word whether it points at something said elsewhere."""
    for word, after in zip(words, [*words[1:], ""], strict=True):
        yield word in function_words.pointing and after not in function_words.itself


def _is_aside(sentence: str) -> bool:
    """Tell whether a sentence asks, announces, describes a sound, or has several speakers."""
    is_sound = sentence.startswith(("(", "[", "♪"))
    is_open = asks(sentence) or sentence.endswith((":", "…", "...", "--", "—"))
    return (
        is_sound or is_open or len(sentence) < MIN_LENGTH or bool(_LATER_SPEAKER.search(sentence))
    )


def _continues(words: Sequence[str], function_words: FunctionWords) -> bool:
    """Tell whether the beginning of a sentence points back at the one before it."""
    beginning = list(_pointing(words, function_words))[:LEADING]
    return words[0] in function_words.linking or any(beginning)

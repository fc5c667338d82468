"""What a card asks for: the words of a sentence that are hidden. Pure."""

import math
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Final

from citations.text import sentences
from citations.text.sentences import Span
from citations.text.speakers import LABEL
from transcripts.text.stemming import stem

WINDOW: Final = 400  # characters beside a passage in which its sentence begins and ends
MAX_GAP: Final = 120  # characters that are hidden at most
CAPITALS: Final = 0.8  # of a sentence's words, above which they tell no names
_WORD: Final = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")
# A quantity or a year: no part of a formula or a time, nor the number of a “Figure 12”.
_NUMBER: Final = re.compile(r"(?<![^\s(“\"'$€£])\d[\d.,]*\d%?(?=[.,;?!)”\"']*(?:\s|$))")
_OPERATOR: Final = re.compile(r"[=+*/<>≤≥≈^−-]\s$")
_NUMBERED: Final = re.compile(r"\b([A-ZÀ-ÖØ-Þ]\w*)\s$")
YEAR: Final = 4  # digits
_CAPITALISED: Final = r"[A-ZÀ-ÖØ-ÞĀ-ŽА-ЯΑ-Ω][\w'’-]*"
_NAME: Final = re.compile(rf"(?<!\w){_CAPITALISED}(?: {_CAPITALISED})*")
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
    return {
        word: -math.log(min(1.0, shares.get(word, 0.0) + RARE)) * math.log1p(count)
        for word, count in times.items()
    }


def hidden(
    sentence: str,
    passage: Span,
    general: Collection[str] = (),
    distinctions: Mapping[str, float] | None = None,
) -> Span:
    """Return the words of a sentence to ask for: the passage itself where it is a part, else its
    most telling words: a number, then a name, then the word that distinguishes its source most, or
    the longest where none is known to. Words that are general, and who speaks, are not asked for.
    """
    first, last = _speech(sentence, passage)
    if first == last:
        first, last = _speech(sentence, (0, len(sentence)))
    if 0 < last - first <= min(MAX_GAP, 0.6 * len(sentence)):
        return first, last
    passage, said = (first, last), _without_labels(sentence)
    words = [match.span() for match in _WORD.finditer(said, first, last)]
    numbers = [*_numbers(said, passage, general)]
    telling = [
        span
        for span in words
        if _is_in(span, numbers) or not _is_general(said[slice(*span)], general)
    ]
    capitals = [span for span in words if said[span[0]].isupper()]
    can_tell = len(capitals) <= CAPITALS * len(words)
    names = [*_names(said, passage, general)] if can_tell else []

    def worth(span: Span) -> tuple[int, float, int]:
        word = said[slice(*span)]
        rank = 2 * _is_in(span, numbers) + _is_in(span, names)
        return rank, (distinctions or {}).get(word.casefold(), 0.0), len(word)

    best = max(telling or words, key=worth, default=(first, last))
    return next((whole for whole in (*numbers, *names) if _is_in(best, [whole])), best)


def find(sentence: str, words: str) -> Span | None:
    """Return where words first stand in a sentence, whole ones before parts of others."""
    pattern = r"\s+".join(map(re.escape, words.split()))
    if not pattern:
        return None
    said = _without_labels(sentence)
    match = re.search(rf"(?<!\w){pattern}(?!\w)", said, re.IGNORECASE)
    match = match or re.search(pattern, said, re.IGNORECASE)
    return match.span() if match else None


def places(sentence: str, gap: Span, language: str) -> list[Span]:
    """Return the gap, and where else its words stand in the sentence, by their stems in a language:
    “Oracles” would give “Oracle” away.
    """
    stems = _stems(sentence[slice(*gap)], language)
    words = [match.span() for match in _WORD.finditer(_without_labels(sentence))]
    runs = [words[n : n + len(stems)] for n in range(len(words) - len(stems) + 1) if stems]
    spans = [gap]
    for span in [(run[0][0], run[-1][1]) for run in runs]:
        is_apart = all(span[1] <= first or span[0] >= last for first, last in spans)
        if is_apart and _stems(sentence[slice(*span)], language) == stems:
            spans.append(span)
    return sorted(spans)


def _without_labels(sentence: str) -> str:
    """Return a sentence as long as it is, with full stops in place of who says it."""
    return LABEL.sub(lambda label: "." * len(label[0]), sentence)


def _speech(sentence: str, within: Span) -> Span:
    """Return the longest part of a span that no label interrupts, without blanks around it."""
    first, last = within
    labels = [label.span() for label in LABEL.finditer(sentence)]
    borders = [first, *(min(max(border, first), last) for span in labels for border in span), last]
    parts = [*zip(borders[::2], borders[1::2], strict=True)]
    start, end = max(parts, key=lambda part: part[1] - part[0])
    text = sentence[start:end]
    speech = text.strip()
    start += text.find(speech)
    return start, start + len(speech)


def _stems(text: str, language: str) -> list[str]:
    return [stem(match[0].casefold(), language) for match in _WORD.finditer(text)]


def _is_general(word: str, general: Collection[str]) -> bool:
    """Tell whether a word, or each part of one such as “we're”, says nothing by itself."""
    parts = re.split("['’]", word.casefold())
    return all(part in general or len(part) == 1 or part.isdigit() for part in parts)


def _numbers(said: str, within: Span, general: Collection[str]) -> Iterator[Span]:
    for match in _NUMBER.finditer(said, *within):
        before = said[: match.start()]
        is_year = match[0].isdigit() and len(match[0]) >= YEAR
        label = None if is_year else _NUMBERED.search(before)
        is_label = (
            label is not None
            and not _begins_sentence(said, label.start())
            and not _is_general(label[1], general)
        )
        if not is_label and not _OPERATOR.search(before):
            yield match.span()


def _names(said: str, within: Span, general: Collection[str]) -> Iterator[Span]:
    """Yield words with capitals that follow each other; the first word of a sentence has one, too,
    and begins a name only where another follows it.
    """
    for match in _NAME.finditer(said, *within):
        start, (lead, *more) = match.start(), match[0].split(" ")
        if _begins_sentence(said, start):
            start += len(f"{lead} ") if _is_general(lead, general) else 0
            if not more:
                continue
        yield start, match.end()


def _begins_sentence(said: str, start: int) -> bool:
    before = said[:start].rstrip(" \n\t\"“„'(-–—")
    return not before or before[-1] in ".?!:"


def _is_in(span: Span, wholes: Collection[Span]) -> bool:
    return any(first <= span[0] and span[1] <= last for first, last in wholes)

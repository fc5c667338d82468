"""Cut a snippet of 100 to 200 characters out of a passage, at word borders. Pure."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from citations.text.sentences import SENTENCE_END
from transcripts.text.tokenizer import matched_spans

MIN_LENGTH: Final = 100
MAX_LENGTH: Final = 200
_BEFORE = 40  # characters of context before a matched word

_BLANK = re.compile(r"\s")


def snippet(text: str, words: str = "", language: str = "") -> str:
    """Return ``MIN_LENGTH`` to ``MAX_LENGTH`` characters of a text that hold most of ``words`` in
    any form of the text's language, or all of a shorter text.

    Line breaks become spaces. A snippet starts and ends at a word border, if possible at a sentence
    border; only a word longer than ``MIN_LENGTH`` characters is cut.
    """
    line = " ".join(text.split())
    if len(line) <= MAX_LENGTH:
        return line
    spans = matched_spans(line, words, language)
    ends = [match.end() for match in SENTENCE_END.finditer(line)]

    def worth(option: tuple[int, bool]) -> tuple[int, bool, int]:
        start, is_sentence = option
        matches = sum(start <= first and last <= start + MAX_LENGTH for first, last in spans)
        lead = next((first - start for first, _ in spans if first >= start), start)
        return matches, is_sentence, -lead

    start = max(_starts(line, spans, ends), key=worth)[0]
    return line[start : _end(line, start, ends)].strip()


def _starts(
    line: str, spans: Sequence[tuple[int, int]], ends: Sequence[int]
) -> Iterator[tuple[int, bool]]:
    """Yield possible starts, and whether a sentence starts there."""
    last = _border(line, len(line) - MAX_LENGTH)
    yield 0, True
    yield from ((at + (line[at] == " "), True) for at in ends if at < last)
    yield from ((min(_border(line, first - _BEFORE), last), False) for first, _ in spans)
    yield last, False


def _border(line: str, at: int) -> int:
    """Return the start of the next word, or ``at`` itself where no word ends nearby."""
    if at <= 0:
        return 0
    blank = _BLANK.search(line, at - 1, at + MIN_LENGTH - 1)
    return blank.end() if blank else at


def _end(line: str, start: int, ends: Sequence[int]) -> int:
    """Return where the last sentence that fits ends, else the last word."""
    if len(line) - start <= MAX_LENGTH:
        return len(line)
    whole = [at for at in ends if start + MIN_LENGTH <= at <= start + MAX_LENGTH]
    blank = line.rfind(" ", start + MIN_LENGTH, start + MAX_LENGTH + 1)
    return whole[-1] if whole else blank if blank > 0 else start + MAX_LENGTH

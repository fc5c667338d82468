"""Tell the marks of notes in a text, such as ¹ and [1] behind a word, from exponents and indexes.

Pure, linear time. Fails closed: what may be an exponent, an index or a number that was put into a
sentence is no mark. Stars and daggers behind words are no tokens anyway (see ``tokens``).
"""

import re
from itertools import count, takewhile
from typing import Final, NamedTuple

_RAISED: Final = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_TO_NUMBERS: Final = str.maketrans(_RAISED, "0123456789")
MARK: Final = re.compile(
    rf"(?P<raised>[{_RAISED}]{{1,3}}(?:[⁻,–-][{_RAISED}]{{1,3}}){{0,9}})"
    rf"(?![A-Za-z\d{_RAISED}⁺⁻ⁿ(^]|[ \u00a0]?[-+*/=×·÷<>≤≥])"
    r"|\[(?:(?:note|nb|fn)[ \u00a0])?"
    r"(?P<numbers>[1-9]\d{0,2}(?:[ \u00a0]?[,;–-][ \u00a0]?[1-9]\d{0,2}){0,9})\]"
    r"(?![\w(]|\.\w|[ \u00a0]{0,2}[-+*/]?=)"
)
_NUMBER: Final = re.compile(r"\d+")
_BASE: Final = re.compile(r"([^\w\s]? ?)(\w{1,40})(\s?)$")  # a word, with the sign before it
_ASIDE: Final = re.compile(r"(?:^|\s)\([^()]{1,46}\)$")
_NEARBY: Final = 48  # characters before a mark
_ENDS: Final = frozenset('.,;:!?”»"…')  # what ends words has neither exponent nor index
_OPERATORS: Final = frozenset("+-*/=×·÷<>≤≥∝^(√")
_RAISED_NAMES: Final = (
    "sin cos tan cot sec csc sinh cosh tanh log mol min max deg rad bar mile miles inch inches foot"
    " feet yard yards meter meters metre metres mètre mètres metro metros chi eta rho tau phi psi"
    " alpha beta gamma delta sigma lambda omega"
)
_INDEXED_NAMES: Final = (
    "array arr args argv list lists row rows column columns col cols data value values item items"
    " buffer buf vector vec matrix tuple string str char chars word words result results element"
    " elements index input output inputs outputs params part parts line lines table"
)
_INTERVAL_NAMES: Final = "in on over interval intervals range between from"
RAISED_BASES: Final = frozenset(_RAISED_NAMES.split())  # words that have exponents
INDEXED: Final = frozenset(_INDEXED_NAMES.split())
_BEFORE_INTERVALS: Final = frozenset(_INTERVAL_NAMES.split())


class NoteMark(NamedTuple):
    """A mark of a note: its characters [start, end) and its numbers.

    ``is_sure``: in this text it can be nothing else. ``is_attached``: in no text could it be, so
    that a quote may have it where its source has none.
    """

    start: int
    end: int
    numbers: tuple[int, ...]
    is_sure: bool
    is_attached: bool


def note_marks(text: str) -> list[NoteMark]:
    """Return what looks like a mark of a note, in order."""
    matches = list(MARK.finditer(text))
    numbers = [
        tuple(map(int, _NUMBER.findall(match[0].translate(_TO_NUMBERS)))) for match in matches
    ]
    bracketed = {
        number
        for match, own in zip(matches, numbers, strict=True)
        if match["numbers"]
        for number in own
    }
    series = len(list(takewhile(bracketed.__contains__, count(1))))
    marks: list[NoteMark] = []
    raised = 0  # the last number of the raised marks, which are counted
    for match, own in zip(matches, numbers, strict=True):
        start, end = match.span()
        base = _BASE.search(text, max(0, start - _NEARBY), start)
        sign, word, blank = base.groups() if base else ("", "", "")
        before = text[max(0, start - 1) : start]
        if match["raised"]:
            is_word = word.isalpha() and len(word) > 1 and not blank
            # Nothing is raised to the power of one.
            is_attached = before in _ENDS or (own[0] == 1 and (is_word or before == ")"))
            is_next = is_word and len(word) > 2 and own[0] == raised + 1 > 1
            is_no_power = word.casefold() not in RAISED_BASES and sign.strip() not in _OPERATORS
            is_sure = is_attached or (is_next and is_no_power)
            raised = own[-1] if is_sure else raised
        else:
            is_attached = before in _ENDS or (not blank and _is_annotated(word, sign))
            is_attached |= _ASIDE.search(text, max(0, start - _NEARBY), start) is not None
            is_attached |= bool(marks) and marks[-1].end == start and marks[-1].is_attached
            is_apart = bool(blank) or before == ")"
            is_counted = max(own) <= series > 1 and word.casefold() not in _BEFORE_INTERVALS
            is_only = own == (1,) and word.isalpha() and _is_annotated(word, sign)
            is_sure = is_attached or (is_apart and (is_counted or is_only))
        marks.append(NoteMark(start, end, own, is_sure, is_attached))
    return marks


def _is_annotated(word: str, sign: str) -> bool:
    """Tell whether a number in brackets behind a word is no index, as in argv[1] and items[2]."""
    is_plain = word[1:] in (word[1:].lower(), word[1:].upper())  # not as inCode
    is_name = word.casefold() in INDEXED or sign == "."
    return word.isdigit() or (word.isalpha() and len(word) > 1 and is_plain and not is_name)

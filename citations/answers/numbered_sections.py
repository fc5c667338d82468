"""Sections of a source by the numbers of its headings."""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from citations.answers.question.named_sections import KIND, Number, number_of

NUMBERED: Final = r"^\W*(\w+\s+)?[0-9]"  # in PostgreSQL: headings that may have a number
_HEADING: Final = re.compile(rf"\W*(?:{KIND}\s+)?(?P<number>\d+(?:\.\d+)*)(?!\w)", re.IGNORECASE)


class Heading(NamedTuple):
    """A heading, and the characters [first, last) of a passage below it."""

    text: str
    first: int
    last: int


def section_span(number: Number, headings: Sequence[Heading]) -> tuple[int, int] | None:
    """Return the characters of a section, from its first heading to the next higher number.

    ``headings`` are those of a source's passages in order; a passage without a number belongs to
    the section before it.
    """
    first = last = -1
    for heading in headings:
        match = _HEADING.match(heading.text)
        own = number_of(match["number"])[: len(number)] if match else ()
        if own == number and first < 0:
            first = heading.first
        elif own > number and first >= 0:
            break
        last = heading.last
    return (first, last) if first >= 0 else None

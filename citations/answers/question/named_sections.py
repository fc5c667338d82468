"""Sections that a question names by number: “chapter 4”, “section 2.3”, and where they stand."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from citations.answers.question.wording import any_of, without

NUMBERED: Final = r"^\W*(\w+\s+)?[0-9]"  # in PostgreSQL: headings that may have a number
_KIND: Final = any_of("numbered_sections")
_NAMED: Final = re.compile(
    rf"""(?<!\w)(?P<place>{any_of("places")}\s+)?
    (?P<name>{_KIND}\s+(?P<number>\d+(?:\.\d+)*))(?![\w.]*\d)
    (?:\s+(?:of|in|from|von|aus|de|du|del)\s+{any_of("articles")}\s+{any_of("kinds")}(?!\w))?""",
    re.VERBOSE | re.IGNORECASE,
)
_HEADING: Final = re.compile(rf"\W*(?:{_KIND}\s+)?(?P<number>\d+(?:\.\d+)*)(?!\w)", re.IGNORECASE)
Number = tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedSection:
    """A section's number, its name in the question, and the question without it."""

    number: Number
    name: str
    question: str


class Heading(NamedTuple):
    """A heading, and the characters [first, last) of a passage below it."""

    text: str
    first: int
    last: int


def find_named_section(question: str) -> NamedSection | None:
    """Return the first section that a question names."""
    named = _NAMED.search(question)
    if named is None:
        return None
    goes_on = re.match(r"\s+\w", question[named.end() :])
    pronoun = "it" if goes_on and not named["place"] else ""
    text = without(question, named.span(), pronoun)
    return NamedSection(number=_number(named["number"]), name=named["name"], question=text)


def section_span(number: Number, headings: Sequence[Heading]) -> tuple[int, int] | None:
    """Return the characters of a section, from its first heading to the next higher number.

    ``headings`` are those of a source's passages in order; a passage without a number belongs to
    the section before it.
    """
    first = last = -1
    for heading in headings:
        match = _HEADING.match(heading.text)
        own = _number(match["number"])[: len(number)] if match else ()
        if own == number and first < 0:
            first = heading.first
        elif own > number and first >= 0:
            break
        last = heading.last
    return (first, last) if first >= 0 else None


def _number(text: str) -> Number:
    """Return “2.3” as (2, 3)."""
    return tuple(int(part) for part in text.split(".") if part)

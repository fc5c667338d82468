"""Sections that a question names by number: “chapter 4”, “section 2.3”."""

import re
from dataclasses import dataclass
from typing import Final

from citations.answers.question.wording import any_of, without

KIND: Final = any_of("numbered_sections")
_NAMED: Final = re.compile(
    rf"""(?<!\w)(?P<place>{any_of("places")}\s+)?
    (?P<name>{KIND}\s+(?P<number>\d+(?:\.\d+)*))(?![\w.]*\d)
    (?:\s+(?:of|in|from|von|aus|de|du|del)\s+{any_of("articles")}\s+{any_of("kinds")}(?!\w))?""",
    re.VERBOSE | re.IGNORECASE,
)
Number = tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedSection:
    """A section's number, its name in the question, and the question without it."""

    number: Number
    name: str
    question: str


def find_named_section(question: str) -> NamedSection | None:
    """Return the first section that a question names."""
    named = _NAMED.search(question)
    if named is None:
        return None
    goes_on = re.match(r"\s+\w", question[named.end() :])
    pronoun = "it" if goes_on and not named["place"] else ""
    text = without(question, named.span(), pronoun)
    return NamedSection(number=number_of(named["number"]), name=named["name"], question=text)


def number_of(text: str) -> Number:
    """Return “2.3” as (2, 3)."""
    return tuple(int(part) for part in text.split(".") if part)

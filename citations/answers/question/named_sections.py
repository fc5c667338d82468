"""Sections that a question names by number: “chapter 4”, “section 2.3”."""

import re
from dataclasses import dataclass
from typing import Final

from citations.answers.question.wording import any_of

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
    rest = question[named.end() :]
    pronoun = "" if named["place"] or not re.match(r"\s+\w", rest) else "it"
    text = " ".join(f"{question[: named.start()].rstrip()} {pronoun}{rest}".split()).lstrip(" ,:;")
    text = re.sub(r" (?=[?.!,])", "", text)
    return NamedSection(
        number=number_of(named["number"]), name=named["name"], question=text[:1].upper() + text[1:]
    )


def number_of(text: str) -> Number:
    """Return “2.3” as (2, 3)."""
    return tuple(int(part) for part in text.split(".") if part)

"""Names, and numbers of something, in the sentences of a source. Pure."""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from citations.text.statements import Statement

NAMES: Final = 8
NUMBERS: Final = 5
REPEATED: Final = 2  # sentences that have a name
CAPITALS: Final = 0.4  # of the words within sentences, above which capitals tell nothing
RARELY: Final = 0.25  # how often a word of a name is written without its capital, at most
NAME_STANDS: Final = 0.8  # how well a sentence stands alone that is shown for a name, if one does
STANDS: Final = 0.9  # how well a sentence with a number must stand alone
MIN_NUMBER: Final = 10  # a smaller number rarely tells anything

_CAPITALISED: Final = r"[A-ZÀ-ÖØ-Þ][^\W\d_]+(?:[’'-][^\W\d_]+)*"
# Several words with capitals within a sentence: “Frank Rosenblatt”, “University of Oslo”.
_NAME: Final = re.compile(
    rf"(?<=[^\W\d_A-Z] |[,;] ){_CAPITALISED}(?: (?:[A-Z]\.|de|van|von|der|la))*"
    rf"(?: {_CAPITALISED}){{1,3}}(?: of(?: the)?(?: {_CAPITALISED})+)?(?!\w)"
)
_WITHIN: Final = re.compile(r"(?<=[^\W_] )([^\W\d_])[^\W\d_]{2,}")
_WORD: Final = re.compile(r"[^\W\d_]+")
_NUMBER: Final = re.compile(
    r"(?<![\w.,/+–-])(?P<number>\d{1,3}(?:,\d{3})+|\d+(?:\.\d+)?)"
    r"(?P<unit>\s?%|\s(?:percent|million|billion|thousand|trillion|Prozent|Millionen)\b)?"
    r"(?:\s(?P<noun>[^\W\d_]{3,}))?(?![\w.]*\d)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Name:
    text: str
    statement: Statement  # the first that has it and stands alone, or else the first
    count: int


def names(statements: Sequence[Statement], text: str) -> list[Name]:
    """Return the names of several words that occur repeatedly, the most frequent first.

    None in a text whose capitals tell nothing: in capitals, in title case, or without any.
    """
    if not _capitals_tell(statements):
        return []
    places: defaultdict[str, list[Statement]] = defaultdict(list)
    for statement in statements:
        for name in dict.fromkeys(_NAME.findall(statement.flat)):
            places[name].append(statement)
    lower, words = text.lower(), Counter(_WORD.findall(text))
    chosen = [
        Name(text=name, statement=_best(where), count=len(where))
        for name, where in places.items()
        if len(where) >= REPEATED
        and 2 * text.count(name) > lower.count(name.lower())
        and any(words[word.lower()] <= RARELY * words[word] for word in _WORD.findall(name))
    ]
    people: list[Name] = []
    for name in sorted(chosen, key=lambda name: (-name.count, name.statement.first)):
        if not any(name.text in other.text or other.text in name.text for other in people):
            people.append(name)
    return people[:NAMES]


def numbers(
    statements: Sequence[Statement], counts: Counter[str], stops: frozenset[str]
) -> list[Statement]:
    """Return sentences with a number of something, in their order."""
    able = [
        statement
        for statement in statements
        if statement.states(STANDS) and _counts_something(statement, stops)
    ]
    best = sorted(able, key=lambda number: -number.salience(counts))[:NUMBERS]
    return sorted(best, key=lambda number: number.first)


def _best(where: Sequence[Statement]) -> Statement:
    return next((place for place in where if place.standing >= NAME_STANDS), where[0])


def _counts_something(statement: Statement, stops: frozenset[str]) -> bool:
    for match in _NUMBER.finditer(statement.flat):
        noun = match["noun"] or ""
        before = statement.flat[: match.start()].split()[-1:]
        is_label = any(word[0].isupper() and word.casefold() not in stops for word in before)
        is_counted = noun.islower() and noun not in stops and not is_label  # “Figure 12 shows”
        if match["unit"] or (is_counted and float(match["number"].replace(",", "")) >= MIN_NUMBER):
            return True
    return False


def _capitals_tell(statements: Sequence[Statement]) -> bool:
    initials = [letter for statement in statements for letter in _WITHIN.findall(statement.flat)]
    capitals: int = sum(letter.isupper() for letter in initials)
    return 0 < capitals <= CAPITALS * len(initials)

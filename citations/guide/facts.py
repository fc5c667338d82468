"""What a source is about, its names and its numbers, in its own sentences. Pure."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final, TypeAlias

from citations.text.sentences import Span
from citations.text.statements import Statement, speaks_of_itself
from citations.text.words import FunctionWords, Words

SENTENCES: Final = 3
MIN_SENTENCES: Final = 2  # a single sentence that does not introduce its source rarely says it
STANDS: Final = 0.9  # how well each must stand alone, and a sentence with a number
OPENING_STANDS: Final = 0.5  # and one that introduces its source: “In this lecture I want to …”
BEGINNING: Final = 0.1  # of the text, in which a sentence may introduce it
MAX_BEGINNING: Final = 15_000  # characters
INTRODUCING: Final = 1.3  # times that a sentence is worth more that speaks of its text there
DEFINING: Final = 1.5  # the same of a sentence that says what the title means
WORTHWHILE: Final = 0.6  # of the best sentence's worth, that others need
CENTRAL: Final = 3  # of these words in a sentence that continues the one before it
FREQUENT: Final = 20  # of the text's content words, of which a sentence needs two or the title's
ALIKE: Final = 0.5  # share of the shorter sentence's words from which on two say the same

Rate: TypeAlias = Callable[[Sequence[Statement]], Sequence[float]]


def overview(
    statements: Sequence[Statement],
    *,
    summaries: Collection[Span],
    title: Words,
    definitions: Sequence[re.Pattern[str]],
    counts: Counter[str],
    length: int,
    is_talk: bool,
    function_words: FunctionWords,
    rate: Rate,
) -> list[Statement]:
    """Choose at most three sentences, in their order; none where too few stand alone.

    They are among the beginning and the ``summaries``, which the outline chose. ``title`` has the
    words of the title, whose ``definitions`` say what it means. ``rate`` tells how much a sentence
    says about the whole. In a talk that nobody introduces, only those with words of the title
    count: others are as often about an example.
    """
    beginning = min(BEGINNING * length, MAX_BEGINNING)
    frequent = {word for word, _ in counts.most_common(FREQUENT)}

    def shared(statement: Statement) -> int:
        return len(frequent.intersection(statement.words))

    def is_opening(statement: Statement) -> bool:
        return statement.first < beginning and speaks_of_itself(statement.text, function_words)

    def emphasis(statement: Statement) -> float:
        value = INTRODUCING if is_opening(statement) else 1.0
        if statement.first < beginning and any(rule.match(statement.flat) for rule in definitions):
            value *= DEFINING
        return value

    able = [
        statement
        for statement in statements
        if statement.states(OPENING_STANDS if is_opening(statement) else STANDS)
        and (not statement.is_begun or is_opening(statement) or shared(statement) >= CENTRAL)
        and (statement.span in summaries or statement.first < beginning)
        and (
            not title.keys().isdisjoint(statement.words)
            or shared(statement) > (0 if is_opening(statement) else 1)
        )
    ]
    if is_talk and not any(map(is_opening, able)):
        able = [each for each in able if not title.keys().isdisjoint(each.words)]
    rated = zip(rate(able), able, strict=True)
    worth = {statement.first: value * emphasis(statement) for value, statement in rated}
    best = sorted(able, key=lambda statement: -worth[statement.first])
    least = WORTHWHILE * max(worth.values(), default=0.0)
    chosen = list(islice(filter(is_opening, best), 1))
    for statement in best:
        mine, others = {*statement.words}, [{*other.words} for other in chosen]
        is_new = all(len(mine & its) < ALIKE * max(1, min(len(mine), len(its))) for its in others)
        if len(chosen) < SENTENCES and is_new and worth[statement.first] >= least:
            chosen.append(statement)
    is_enough = len(chosen) >= MIN_SENTENCES or any(map(is_opening, chosen))
    return sorted(chosen, key=lambda statement: statement.first) if is_enough else []


NAMES: Final = 8
NUMBERS: Final = 5
REPEATED: Final = 2  # sentences that have a name
CAPITALS: Final = 0.4  # of the words within sentences, above which capitals tell nothing
RARELY: Final = 0.25  # how often a word of a name is written without its capital, at most
NAME_STANDS: Final = 0.8  # how well a sentence stands alone that is shown for a name, if one does
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
    initials = [letter for statement in statements for letter in _WITHIN.findall(statement.flat)]
    if not 0 < sum(map(str.isupper, initials)) <= CAPITALS * len(initials):
        return []
    places: defaultdict[str, list[Statement]] = defaultdict(list)
    for statement in statements:
        for name in dict.fromkeys(_NAME.findall(statement.flat)):
            places[name].append(statement)
    lower, words = text.lower(), Counter(_WORD.findall(text))
    chosen = []
    for name, where in places.items():
        if (
            len(where) >= REPEATED
            and 2 * text.count(name) > lower.count(name.lower())
            and any(words[word.lower()] <= RARELY * words[word] for word in _WORD.findall(name))
        ):
            best = next((place for place in where if place.standing >= NAME_STANDS), where[0])
            chosen.append(Name(text=name, statement=best, count=len(where)))
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


def _counts_something(statement: Statement, stops: frozenset[str]) -> bool:
    for match in _NUMBER.finditer(statement.flat):
        noun = match["noun"] or ""
        before = statement.flat[: match.start()].split()[-1:]
        is_label = any(word[0].isupper() and word.casefold() not in stops for word in before)
        is_counted = noun.islower() and noun not in stops and not is_label  # “Figure 12 shows”
        if match["unit"] or (is_counted and float(match["number"].replace(",", "")) >= MIN_NUMBER):
            return True
    return False

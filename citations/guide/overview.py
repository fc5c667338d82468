"""What a source is about, in three of its sentences. Pure."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from itertools import islice
from typing import Final, TypeAlias

from citations.text.content_words import Words
from citations.text.function_words import FunctionWords
from citations.text.sentences import Span
from citations.text.statements import Statement, speaks_of_itself

SENTENCES: Final = 3
MIN_SENTENCES: Final = 2  # a single sentence that does not introduce its source rarely says it
STANDS: Final = 0.9  # how well each must stand alone
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


def choose(
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
        is_new = not any(_are_alike(statement, other) for other in chosen)
        if len(chosen) < SENTENCES and is_new and worth[statement.first] >= least:
            chosen.append(statement)
    is_enough = len(chosen) >= MIN_SENTENCES or any(map(is_opening, chosen))
    return sorted(chosen, key=lambda statement: statement.first) if is_enough else []


def _are_alike(statement: Statement, other: Statement) -> bool:
    mine, its = set(statement.words), set(other.words)
    return len(mine & its) >= ALIKE * max(1, min(len(mine), len(its)))

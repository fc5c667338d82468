"""How well a search finds what people say is right: gold lines, when a passage counts as found, and the usual scores. Pure."""

import json
import math
import random
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from statistics import fmean

from citations.errors import InvalidGold

MAX_CHARACTERS = 50_000_000  # of a gold file
MAX_LINES = 100_000
MAX_GOLD_QUERY = 10_000  # characters
MAX_RANGES = 1_000  # of one line
MAX_REFERENCE = 500  # characters of an id
LAST = 10_000_000  # the largest second or page: 115 days, more than any recording has

Range = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Gold:
    """A question and where its answers are: ``ranges`` in seconds of a recording, or ``pages`` (first, last) of a document; ``line`` counts from 1."""

    query: str
    source: str
    ranges: tuple[Range, ...] = ()
    pages: tuple[tuple[int, int], ...] = ()
    line: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldLocation:
    """Where a passage is: its source, and its seconds or its pages (both included)."""

    source: str
    start: float | None = None
    end: float | None = None
    page: int | None = None
    last_page: int | None = None


@dataclass(frozen=True, slots=True)
class Scores:
    """How good one ranking is, or many on average; each 0 to 1."""

    ndcg10: float
    hit1: float
    hit5: float
    recall5: float
    recall10: float
    mrr10: float


@dataclass(frozen=True, slots=True)
class ScoreDifference:
    """By how much scores changed on average, and the 95 % interval of that."""

    mean: float
    low: float
    high: float

    @property
    def is_loss(self) -> bool:
        """Whether it is a loss, beyond chance."""
        return self.high < 0


# Reading


def parse(data: str | bytes) -> list[Gold]:
    """Read gold lines: JSON objects {"query", "video" or "source", "gold": [[start, end], …] in seconds or "pages": [page or [first, last], …]}.

    Empty lines and further keys are passed over. Raises ``InvalidGold``, with the line's number, for anything else.
    """
    text = _decoded(data)
    if len(text) > MAX_CHARACTERS:
        raise InvalidGold(
            f"The gold file has more than {MAX_CHARACTERS:,} characters.", hint="Split it."
        )
    lines = text.split("\n")  # not splitlines: JSON may hold U+2028 and the like
    if len(lines) > MAX_LINES:
        raise InvalidGold(f"The gold file has more than {MAX_LINES:,} lines.", hint="Split it.")
    return [_gold(line, number) for number, line in enumerate(lines, start=1) if line.strip()]


def _decoded(data: str | bytes) -> str:
    if isinstance(data, str):
        return data.removeprefix("\ufeff")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        number = data.count(b"\n", 0, error.start) + 1
        raise _invalid(number, "it is not UTF-8", hint="Save the file as UTF-8.") from error


def _gold(line: str, number: int) -> Gold:
    try:
        row = json.loads(line)
    except (
        ValueError,
        RecursionError,
    ) as error:  # ValueError: also numbers of more digits than Python reads
        raise _invalid(number, "it is not JSON") from error
    if not isinstance(row, dict):
        raise _invalid(number, "it is not an object in braces")
    if ("gold" in row) == ("pages" in row):
        raise _invalid(number, "it needs either “gold” or “pages”")
    return Gold(
        query=_text(row.get("query"), number, name="query", limit=MAX_GOLD_QUERY),
        source=_source(row, number),
        ranges=tuple(_range(pair, number) for pair in _list(row["gold"], number, name="gold"))
        if "gold" in row
        else (),
        pages=tuple(_pages(pair, number) for pair in _list(row["pages"], number, name="pages"))
        if "pages" in row
        else (),
        line=number,
    )


def _invalid(number: int, what: str, *, hint: str = "") -> InvalidGold:
    usual = 'A line looks like {"query": "what is entropy", "video": "abcdefghijk", "gold": [[61.5, 90]]}.'
    return InvalidGold(
        f"Line {number} of the gold file cannot be used: {what}.", hint=hint or usual
    )


def _source(row: dict[str, object], number: int) -> str:
    named = [row[name] for name in ("source", "video") if name in row]
    if not named or any(other != named[0] for other in named):
        raise _invalid(number, "it needs either “video” or “source”")
    return _text(
        named[0], number, name="source" if "source" in row else "video", limit=MAX_REFERENCE
    )


def _text(value: object, number: int, *, name: str, limit: int) -> str:
    if not isinstance(value, str) or not value.strip():
        raise _invalid(number, f"“{name}” is no text")
    if len(value) > limit:
        raise _invalid(number, f"“{name}” has more than {limit:,} characters")
    return value.strip()


def _list(value: object, number: int, *, name: str) -> list[object]:
    if not isinstance(value, list) or not value:
        raise _invalid(number, f"“{name}” is no list with something in it")
    if len(value) > MAX_RANGES:
        raise _invalid(number, f"“{name}” has more than {MAX_RANGES:,} entries")
    return value


def _range(pair: object, number: int) -> Range:
    if (
        not isinstance(pair, list)
        or len(pair) != 2
        or not all(_is_number(moment) for moment in pair)
    ):
        raise _invalid(number, "“gold” holds something that is no [start, end] in seconds")
    start, end = pair
    if not start < end:
        raise _invalid(number, "a range of “gold” does not end after it starts")
    return float(start), float(end)


def _pages(value: object, number: int) -> tuple[int, int]:
    pair = value if isinstance(value, list) else [value, value]
    pages = [page for page in pair if isinstance(page, int) and _is_number(page) and page > 0]
    if len(pair) != 2 or len(pages) != 2:
        raise _invalid(
            number,
            "“pages” holds something that is neither a page, counted from 1, nor [first, last]",
        )
    first, last = pages
    if first > last:
        raise _invalid(number, "a range of “pages” ends before it starts")
    return first, last


def _is_number(value: object) -> bool:
    return (
        isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= LAST
    )  # which NaN is not


# Scoring


def is_relevant(place: GoldLocation, gold: Gold) -> bool:
    """Say whether a passage answers: it is in the source, and with one of the ranges it shares at least half of itself or half of the range."""
    if place.source != gold.source:
        return False
    if gold.pages:
        # Pages are whole: 3 to 4 are two of them.
        last = place.page if place.last_page is None else place.last_page
        return (
            place.page is not None
            and last is not None
            and any(_shares((place.page, last + 1), (first, end + 1)) for first, end in gold.pages)
        )
    return (
        place.start is not None
        and place.end is not None
        and any(_shares((place.start, place.end), answer) for answer in gold.ranges)
    )


def score(relevances: Sequence[bool], relevant: int) -> Scores:
    """Score a ranking: ``relevances`` says down the ranking what answers, ``relevant`` how many passages there are that would (at least 1).

    nDCG with gains of 0 and 1 and the discount log2(rank + 1): Järvelin and Kekäläinen, "Cumulated gain-based evaluation of IR techniques" (2002);
    the ideal ranking has all that is relevant first. Hits, recall and the reciprocal rank of the first answer are cut at the rank in their name.
    """
    if relevant < 1:
        raise ValueError("nothing is relevant: there is nothing to score")
    gain = sum(
        1 / math.log2(rank + 1) for rank, found in enumerate(relevances[:10], start=1) if found
    )
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(relevant, 10) + 1))
    first = next((rank for rank, found in enumerate(relevances[:10], start=1) if found), None)
    return Scores(
        ndcg10=gain / ideal,
        hit1=float(first == 1),
        hit5=float(first is not None and first <= 5),
        recall5=sum(relevances[:5]) / relevant,
        recall10=sum(relevances[:10]) / relevant,
        mrr10=1 / first if first else 0.0,
    )


def mean(rows: Sequence[Scores]) -> Scores:
    """Return the mean over queries, each of the same weight; zeros for no rows."""
    return (
        Scores(*(fmean(column) for column in zip(*map(astuple, rows), strict=True)))
        if rows
        else Scores(0, 0, 0, 0, 0, 0)
    )


def compare(
    before: Sequence[float], after: Sequence[float], *, rounds: int = 1_000
) -> ScoreDifference:
    """Compare two settings by the scores of the same queries, in the same order.

    The interval is the paired bootstrap's: the middle 95 % of the mean difference of ``rounds`` samples of the queries, drawn with replacement
    (Efron and Tibshirani, "An introduction to the bootstrap", 1993). It draws the same samples each time.
    """
    differences = [new - old for old, new in zip(before, after, strict=True)]
    if not differences:
        return ScoreDifference(0.0, 0.0, 0.0)
    chance = random.Random(0)
    means = sorted(fmean(chance.choices(differences, k=len(differences))) for _ in range(rounds))
    cut = rounds // 40
    return ScoreDifference(fmean(differences), means[cut], means[-1 - cut])


def _shares(one: Range, other: Range) -> bool:
    common = min(one[1], other[1]) - max(one[0], other[0])
    return common > 0 and 2 * common >= min(one[1] - one[0], other[1] - other[0])

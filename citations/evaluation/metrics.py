"""Retrieval metrics: gold lines, the rule of relevance, and the usual scores. Pure."""

import json
import math
import random
from codecs import BOM_UTF8
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
    """A query and its answers in seconds or pages (first, last). ``line`` counts from 1."""

    query: str
    source: str
    ranges: tuple[Range, ...] = ()
    pages: tuple[tuple[int, int], ...] = ()
    line: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldLocation:
    """The location of a passage: its source, and its seconds or pages (both included)."""

    source: str
    start: float | None = None
    end: float | None = None
    page: int | None = None
    last_page: int | None = None


@dataclass(frozen=True, slots=True)
class Scores:
    """The quality of a ranking, or the mean of several; each value 0 to 1."""

    ndcg10: float
    hit1: float
    hit5: float
    recall5: float
    recall10: float
    mrr10: float


@dataclass(frozen=True, slots=True)
class ScoreDifference:
    """The mean change of a score and its 95 % confidence interval."""

    mean: float
    low: float
    high: float

    @property
    def is_loss(self) -> bool:
        """Whether the score fell significantly."""
        return self.high < 0


@dataclass(frozen=True, slots=True)
class GoldFile:
    """The usable lines of a file, and the fault of each of the others."""

    lines: tuple[Gold, ...]
    rejected: tuple[InvalidGold, ...]


def parse(data: str | bytes) -> GoldFile:
    """Read gold lines: JSON objects with "query", "video" or "source", and "gold": [[start, end],
    …] in seconds or "pages": [page or [first, last], …].

    Ignores empty lines and other keys. Raises ``InvalidGold`` if no line can be used, or if there
    are too many.
    """
    if len(data) > MAX_CHARACTERS:
        raise InvalidGold(
            f"The gold file has more than {MAX_CHARACTERS:,} characters.", hint="Split it."
        )
    encoded = data.encode(errors="surrogatepass") if isinstance(data, str) else data
    # Not splitlines: JSON may hold U+2028 and the like.
    lines = encoded.removeprefix(BOM_UTF8).split(b"\n")
    if len(lines) > MAX_LINES:
        raise InvalidGold(f"The gold file has more than {MAX_LINES:,} lines.", hint="Split it.")
    gold, rejected = [], []
    for number, line in enumerate(lines, start=1):
        try:
            if line.strip():
                gold.append(_gold(line, number))
        except InvalidGold as error:
            rejected.append(error)
    if rejected and not gold:
        raise rejected[0]
    return GoldFile(tuple(gold), tuple(rejected))


def _gold(line: bytes, number: int) -> Gold:
    try:
        row = json.loads(line.decode())
    except UnicodeDecodeError as error:
        raise _invalid(number, "it is not UTF-8", hint="Save the file as UTF-8.") from error
    except (ValueError, RecursionError) as error:  # ValueError: also numbers with too many digits
        raise _invalid(number, "it is not JSON") from error
    if not isinstance(row, dict):
        raise _invalid(number, "it is not an object in braces")
    if ("gold" in row) == ("pages" in row):
        raise _invalid(number, "it needs either “gold” or “pages”")
    return Gold(
        query=_text(row.get("query"), number, name="query", limit=MAX_GOLD_QUERY),
        source=_source(row, number),
        ranges=tuple(_range(pair, number) for pair in _list(row, number, name="gold")),
        pages=tuple(_pages(pair, number) for pair in _list(row, number, name="pages")),
        line=number,
    )


_EXAMPLE = '{"query": "what is entropy", "video": "abcdefghijk", "gold": [[61.5, 90]]}'


def _invalid(number: int, cause: str, *, hint: str = "") -> InvalidGold:
    return InvalidGold(
        f"Line {number} of the gold file cannot be used: {cause}.",
        hint=hint or f"A line looks like {_EXAMPLE}.",
    )


def _source(row: dict[str, object], number: int) -> str:
    references = [row[name] for name in ("source", "video") if name in row]
    if not references or references[0] != references[-1]:
        raise _invalid(number, "it needs either “video” or “source”")
    name = "source" if "source" in row else "video"
    return _text(references[0], number, name=name, limit=MAX_REFERENCE)


def _text(value: object, number: int, *, name: str, limit: int) -> str:
    if not isinstance(value, str) or not value.strip():
        raise _invalid(number, f"“{name}” is not text")
    if len(value) > limit:
        raise _invalid(number, f"“{name}” has more than {limit:,} characters")
    return value.strip()


def _list(row: dict[str, object], number: int, *, name: str) -> list[object]:
    if name not in row:
        return []
    value = row[name]
    if not isinstance(value, list) or not value:
        raise _invalid(number, f"“{name}” is not a list with entries")
    if len(value) > MAX_RANGES:
        raise _invalid(number, f"“{name}” has more than {MAX_RANGES:,} entries")
    return value


def _range(pair: object, number: int) -> Range:
    if not isinstance(pair, list) or len(pair) != 2 or not all(map(_is_number, pair)):
        raise _invalid(number, "an entry of “gold” is not [start, end] in seconds")
    start, end = pair
    if not start < end:
        raise _invalid(number, "a range of “gold” does not end after its start")
    return float(start), float(end)


def _pages(value: object, number: int) -> tuple[int, int]:
    pair = value if isinstance(value, list) else [value, value]
    pages = [page for page in pair if isinstance(page, int) and _is_number(page) and page > 0]
    if len(pair) != 2 or len(pages) != 2:
        cause = "an entry of “pages” is neither a page, counted from 1, nor [first, last]"
        raise _invalid(number, cause)
    first, last = pages
    if first > last:
        raise _invalid(number, "a range of “pages” ends before it starts")
    return first, last


def _is_number(value: object) -> bool:
    # NaN fails the comparison.
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= LAST


def is_relevant(location: GoldLocation, gold: Gold) -> bool:
    """Tell whether a passage shares half of itself, or of a gold range, with such a range."""
    if location.source != gold.source:
        return False
    if gold.pages:
        # Pages 3 to 4 are two whole pages.
        last = location.page if location.last_page is None else location.last_page
        return (
            location.page is not None
            and last is not None
            and any(
                _shares((location.page, last + 1), (first, end + 1)) for first, end in gold.pages
            )
        )
    return (
        location.start is not None
        and location.end is not None
        and any(_shares((location.start, location.end), answer) for answer in gold.ranges)
    )


def score(relevances: Sequence[bool], relevant: int) -> Scores:
    """Score a ranking: ``relevances`` tells which ranks answer, ``relevant`` how many passages
    would (at least 1).

    nDCG with gains 0 and 1 and discount log2(rank + 1): Järvelin and Kekäläinen, "Cumulated
    gain-based evaluation of IR techniques" (2002). The ideal ranking has all relevant passages
    first. Other scores are cut at the rank in their name.
    """
    if relevant < 1:
        raise ValueError("nothing is relevant, so nothing can be scored")
    hits = [rank for rank, is_hit in enumerate(relevances[:10], start=1) if is_hit]
    gain = sum(1 / math.log2(rank + 1) for rank in hits)
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(relevant, 10) + 1))
    first = hits[0] if hits else None
    return Scores(
        ndcg10=gain / ideal,
        hit1=float(first == 1),
        hit5=float(first is not None and first <= 5),
        recall5=sum(relevances[:5]) / relevant,
        recall10=sum(relevances[:10]) / relevant,
        mrr10=1 / first if first else 0.0,
    )


def mean(rows: Sequence[Scores]) -> Scores:
    """Return the mean over queries; zeros for no rows."""
    if not rows:
        return Scores(0, 0, 0, 0, 0, 0)
    return Scores(*(fmean(column) for column in zip(*map(astuple, rows), strict=True)))


def compare(
    before: Sequence[float], after: Sequence[float], *, rounds: int = 1_000
) -> ScoreDifference:
    """Compare two settings by the scores of the same queries, in the same order.

    The interval is the middle 95 % of ``rounds`` paired bootstrap samples (Efron and Tibshirani,
    "An introduction to the bootstrap", 1993). The samples are the same in each call.
    """
    differences = [new - old for old, new in zip(before, after, strict=True)]
    if not differences:
        return ScoreDifference(0.0, 0.0, 0.0)
    chance = random.Random(0)
    means = sorted(fmean(chance.choices(differences, k=len(differences))) for _ in range(rounds))
    cut = rounds // 40
    return ScoreDifference(fmean(differences), means[cut], means[-1 - cut])


def _shares(left: Range, right: Range) -> bool:
    common = min(left[1], right[1]) - max(left[0], right[0])
    return common > 0 and 2 * common >= min(left[1] - left[0], right[1] - right[0])

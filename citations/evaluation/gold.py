"""Gold lines: queries with the places in the sources that answer them. Pure."""

import json
from codecs import BOM_UTF8
from dataclasses import dataclass

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

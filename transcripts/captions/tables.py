"""Tables of recognisers: rows of start, end and text between tabs or commas, under their names."""

import csv
from collections.abc import Iterator
from typing import Final

from transcripts.captions.builder import Captions, settle
from transcripts.captions.json_rows import drafts_of
from transcripts.core.errors import CaptionError

_STARTS: Final = frozenset({"start", "begin", "start_time", "starttime", "start time", "from"})
_TEXTS: Final = frozenset({"text", "transcript", "sentence", "content", "caption", "body"})
_HEAD: Final = 1_000  # characters of the line of names
_MOST: Final = 100_000  # characters of a cell


def is_table(text: str) -> bool:
    """Return whether the first line names columns of times and text."""
    names = {name.strip().lower() for name in _cells(text)}
    return not names.isdisjoint(_STARTS) and not names.isdisjoint(_TEXTS)


def read_table(text: str) -> Captions:
    """Read the rows, in seconds, milliseconds or as clock times. Raises ``CaptionError``."""
    csv.field_size_limit(_MOST)
    mark = _mark(text)
    quote = None if mark == "\t" else '"'  # between tabs, it is text
    lines = text.lstrip().splitlines(keepends=True)
    try:
        rows = [
            {(name or "").strip().replace(" ", "_"): value for name, value in row.items() if name}
            for row in csv.DictReader(
                lines,
                delimiter=mark,
                quotechar=quote,
                quoting=csv.QUOTE_MINIMAL if quote else csv.QUOTE_NONE,
            )
        ]
    except csv.Error as error:
        raise CaptionError(f"This table cannot be read: {error}.") from None
    return settle(drafts_of(rows), format="tsv")


def _cells(text: str) -> Iterator[str]:
    head = text.lstrip()[:_HEAD].partition("\n")[0]
    yield from (name.strip().strip('"') for name in head.split(_mark(text)))


def _mark(text: str) -> str:
    """Return what stands between the cells of the first line."""
    head = text.lstrip()[:_HEAD].partition("\n")[0]
    return max("\t,;", key=head.count)

"""Highlights as a table that Readwise imports."""

import csv
import io
from collections.abc import Iterable
from typing import IO, Final

from django.utils import timezone

from citations.notebook.highlights import PlacedHighlight
from transcripts.conf import absolute

# As Readwise demands them; it has no column whose text Cuebase would write in a language.
COLUMNS: Final = ("Highlight", "Title", "Author", "URL", "Note", "Location", "Date")
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")


def write(highlights: Iterable[PlacedHighlight], file: IO[bytes]) -> None:
    """Write a row for each highlight; a location is a second or a page."""
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    table = csv.writer(text)
    table.writerow(COLUMNS)
    table.writerows(map(_row, highlights))
    text.flush()
    text.detach()


def _row(placed: PlacedHighlight) -> tuple[object, ...]:
    row = placed.row
    tags = " ".join(f".{''.join(tag.split())}" for tag in row.tags)  # as Readwise writes them
    said_by = f"— {row.attribution}" if row.attribution else ""
    note = "\n".join(filter(None, (said_by, row.note)))
    at = placed.locator
    second = at.start // 1000 if at and at.start is not None else None
    return (
        _cell(row.quote),
        _cell(row.source.title),
        _cell(row.source.author),
        absolute(placed.link),
        _cell(" ".join(filter(None, (tags, note)))),
        second if second is not None else (at.page if at else None),
        f"{timezone.localtime(row.created_at):%Y-%m-%d %H:%M:%S}",
    )


def _cell(text: str) -> str:
    """Keep a spreadsheet from taking a text for a formula."""
    return f"'{text}" if text.startswith(_FORMULA) else text

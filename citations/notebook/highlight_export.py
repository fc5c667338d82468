"""Export highlights for other programs."""

import csv
import io
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import IO, Final

from django.contrib.auth.models import User
from django.utils import timezone

from citations.notebook import anki, highlights, obsidian, web_annotations
from citations.notebook.highlights import HighlightFilter, PlacedHighlight
from transcripts.conf import absolute
from transcripts.core import audit
from transcripts.core.audit import Action
from transcripts.core.errors import TooLarge
from transcripts.core.scope import Scope

MAX_HIGHLIGHTS: Final = 20_000  # highlights of one export
IN_MEMORY: Final = 4 << 20  # bytes of a file; a larger one is on the disk until it is sent


class HighlightFormat(StrEnum):
    OBSIDIAN = "obsidian"
    READWISE = "readwise"
    ANKI = "anki"
    WEB_ANNOTATIONS = "jsonld"


@dataclass(frozen=True, slots=True, kw_only=True)
class HighlightFile:
    """A file of highlights, at its beginning; the caller closes it."""

    file: IO[bytes]
    media_type: str
    name: str


# As Readwise demands them; it has no column whose text Cuebase would write in a language.
COLUMNS: Final = ("Highlight", "Title", "Author", "URL", "Note", "Location", "Date")
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")


def _write_readwise(highlights: Iterable[PlacedHighlight], file: IO[bytes]) -> None:
    """Write a table that Readwise imports: a row for each highlight; a location is a second or a
    page.
    """
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    table = csv.writer(text)
    table.writerow(COLUMNS)
    for placed in highlights:
        row, at = placed.row, placed.locator
        tags = " ".join(f".{''.join(tag.split())}" for tag in row.tags)  # as Readwise writes them
        said_by = f"— {row.attribution}" if row.attribution else ""
        note = "\n".join(filter(None, (said_by, row.note)))
        second = at.start // 1000 if at and at.start is not None else None
        cells = (
            row.quote,
            row.source.title,
            row.source.author,
            absolute(placed.link),
            " ".join(filter(None, (tags, note))),
            second if second is not None else (at.page if at else None),
            f"{timezone.localtime(row.created_at):%Y-%m-%d %H:%M:%S}",
        )
        # A spreadsheet would take a text for a formula.
        table.writerow(f"'{cell}" if str(cell).startswith(_FORMULA) else cell for cell in cells)
    text.flush()
    text.detach()


_Write = Callable[[Iterable[PlacedHighlight], IO[bytes]], None]
_FORMATS: Final[Mapping[HighlightFormat, tuple[_Write, str, str]]] = {
    HighlightFormat.OBSIDIAN: (obsidian.write, "application/zip", "zip"),
    HighlightFormat.READWISE: (_write_readwise, "text/csv; charset=utf-8", "csv"),
    HighlightFormat.ANKI: (anki.write, "application/vnd.anki", "apkg"),
    HighlightFormat.WEB_ANNOTATIONS: (web_annotations.write, "application/ld+json", "jsonld"),
}


def export(
    scope: Scope, user: User | None, filter: HighlightFilter, form: HighlightFormat
) -> HighlightFile:
    """Write the highlights of a filter that a user may see, source by source.

    Raises ``TooLarge``, and what ``highlights.matching`` raises.
    """
    rows = highlights.matching(scope, user, filter).order_by("source_id", "span_start", "pk")
    if (count := rows.count()) > MAX_HIGHLIGHTS:
        raise TooLarge(
            f"These are {count:,} highlights; at most {MAX_HIGHLIGHTS:,} are exported at once.",
            hint="Choose a source, a tag or days.",
        )
    audit.record(Action.EXPORT, "highlights", form=form)
    write, media_type, name = _FORMATS[form]
    if form == HighlightFormat.OBSIDIAN and filter.source:
        write, media_type, name = obsidian.write_one, "text/markdown; charset=utf-8", "md"
    file = tempfile.SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115  # its reader closes it
    write(highlights.place(rows.iterator(chunk_size=200)), file)
    file.seek(0)
    return HighlightFile(file=file, media_type=media_type, name=f"highlights.{name}")

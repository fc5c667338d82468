"""Export highlights for other programs."""

import csv
import hashlib
import io
import itertools
import sqlite3
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from html import escape
from typing import IO, Final

import genanki
from django.contrib.auth.models import User
from django.utils import timezone

from citations.notebook import gaps, highlights, obsidian, web_annotations
from citations.notebook.gaps import CardGap
from citations.notebook.highlights import AT_ONCE, HighlightFilter, PlacedHighlight
from citations.notebook.obsidian import color_tag
from citations.reading.places import place
from transcripts.conf import absolute
from transcripts.core import audit
from transcripts.core.audit import Action
from transcripts.core.errors import TooLarge
from transcripts.core.scope import Scope

# Ids and names are the same in every export and every language: Anki knows a note type by its id,
# and takes one whose fields or cards have other names for another, whose notes it does not update.
_CARD: Final = genanki.Model(
    1_725_043_118,
    "Cuebase passage",
    fields=[{"name": "Text"}, {"name": "Place"}, {"name": "Note"}],
    templates=[
        {
            "name": "Gap",
            "qfmt": "{{cloze:Text}}",
            "afmt": "{{cloze:Text}}<hr id=answer>{{Note}}<p>{{Place}}</p>",
        }
    ],
    css=".card { font: 20px/1.5 system-ui, sans-serif; max-width: 40em; margin: auto; }\n"
    ".cloze { font-weight: 700; }",
    model_type=genanki.Model.CLOZE,
)


def _write_anki(highlights: Iterable[PlacedHighlight], file: IO[bytes]) -> None:
    """Write a package with a deck for each collection; ids are those of the highlights."""
    decks: dict[str, genanki.Deck] = {}
    remaining = iter(highlights)
    while batch := [*itertools.islice(remaining, AT_ONCE)]:
        own_gaps = gaps.gaps_of((each.row, each.locator) for each in batch)
        for placed, gap in zip(batch, own_gaps, strict=True):
            collection = placed.row.source.collection
            digest = hashlib.sha256(f"cuebase {collection.slug}".encode()).digest()
            number = int.from_bytes(digest[:4], "big") % 2**30 + 2**30  # the same in every export
            deck = genanki.Deck(number, f"Cuebase::{collection.name}")
            decks.setdefault(collection.slug, deck).add_note(_card(placed, gap))
    with sqlite3.connect(":memory:") as database:
        now = time.time()
        package = genanki.Package([*decks.values()])
        package.write_to_db(database.cursor(), now, itertools.count(int(now * 1000)))
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("collection.anki2", database.serialize())
        archive.writestr("media", "{}")
    database.close()


def _card(placed: PlacedHighlight, gap: CardGap) -> genanki.Note:
    row = placed.row
    at = place(placed.locator) if placed.locator else ""
    where = ", ".join(filter(None, (row.source.title, at)))
    said_by = f"{_field(row.speaker)}, " if row.speaker else ""
    link = f'{said_by}<a href="{_field(absolute(placed.link))}">{_field(where)}</a>'
    cloze = "".join(
        f"{{{{c1::{_field(text)}}}}}" if is_hidden else _field(text)
        for text, is_hidden in gap.parts
    )
    return genanki.Note(
        model=_CARD,
        guid=genanki.guid_for(str(row.uuid)),
        fields=[cloze, link, _field(row.note)],
        tags=["-".join(tag.split()) for tag in (*row.tags, "::".join(color_tag(row)))],
    )


def _field(text: str) -> str:
    """Escape a text, and the signs that Anki takes for gaps, formulas and sounds; keep lines."""
    html = escape(text).replace("\n", "<br>")
    for sign in "{}:[]\\":
        html = html.replace(sign, f"&#{ord(sign)};")
    return html


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
    HighlightFormat.ANKI: (_write_anki, "application/vnd.anki", "apkg"),
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

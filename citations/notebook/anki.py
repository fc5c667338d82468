"""Highlights as cards of Anki: a sentence with a gap; who says it, where, its note on the back."""

import hashlib
import itertools
import sqlite3
import time
import zipfile
from collections.abc import Iterable, Iterator
from html import escape
from typing import IO, Final

import genanki

from citations.notebook import color_tags, gaps
from citations.notebook.gaps import CardGap
from citations.notebook.highlights import AT_ONCE, PlacedHighlight
from citations.reading.places import place
from transcripts.conf import absolute

# Ids and names are the same in every export and every language: Anki knows a note type by its id,
# and takes one whose fields or cards have other names for another, whose notes it does not update.
MODEL: Final = genanki.Model(
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


def write(highlights: Iterable[PlacedHighlight], file: IO[bytes]) -> None:
    """Write a package with a deck for each collection; ids are those of the highlights."""
    decks: dict[str, genanki.Deck] = {}
    for placed, gap in _with_gaps(highlights):
        collection = placed.row.source.collection
        deck = decks.setdefault(
            collection.slug, genanki.Deck(_stable(collection.slug), f"Cuebase::{collection.name}")
        )
        deck.add_note(_note(placed, gap))
    with sqlite3.connect(":memory:") as database:
        now = time.time()
        package = genanki.Package([*decks.values()])
        package.write_to_db(database.cursor(), now, itertools.count(int(now * 1000)))
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("collection.anki2", database.serialize())
        archive.writestr("media", "{}")
    database.close()


def _with_gaps(highlights: Iterable[PlacedHighlight]) -> Iterator[tuple[PlacedHighlight, CardGap]]:
    remaining = iter(highlights)
    while batch := [*itertools.islice(remaining, AT_ONCE)]:
        yield from zip(batch, gaps.gaps_of((each.row, each.locator) for each in batch), strict=True)


def _note(placed: PlacedHighlight, gap: CardGap) -> genanki.Note:
    row = placed.row
    at = place(placed.locator) if placed.locator else ""
    where = ", ".join(filter(None, (row.source.title, at)))
    said_by = f"{_field(row.speaker)}, " if row.speaker else ""
    link = f'{said_by}<a href="{_field(absolute(placed.link))}">{_field(where)}</a>'
    return genanki.Note(
        model=MODEL,
        guid=genanki.guid_for(str(row.uuid)),
        fields=[_cloze(gap), link, _field(row.note)],
        tags=["-".join(tag.split()) for tag in (*row.tags, "::".join(color_tags.path_of(row)))],
    )


def _cloze(gap: CardGap) -> str:
    """Return the sentence of a card with its hidden words in braces."""
    return "".join(
        f"{{{{c1::{_field(text)}}}}}" if is_hidden else _field(text)
        for text, is_hidden in gap.parts
    )


def _field(text: str) -> str:
    """Escape a text, and the signs that Anki takes for gaps, formulas and sounds; keep lines."""
    html = escape(text).replace("\n", "<br>")
    for sign in "{}:[]\\":
        html = html.replace(sign, f"&#{ord(sign)};")
    return html


def _stable(name: str) -> int:
    digest = hashlib.sha256(f"cuebase {name}".encode()).digest()
    return int.from_bytes(digest[:4], "big") % 2**30 + 2**30

"""Highlights as cards of Anki: a sentence with a gap; who says it, where, its note on the back."""

import hashlib
import itertools
import sqlite3
import time
import zipfile
from collections.abc import Iterable
from html import escape
from typing import IO, Final

import genanki

from citations.notebook import gaps
from citations.notebook.gaps import CardGap
from citations.notebook.highlights import AT_ONCE, PlacedHighlight
from citations.notebook.obsidian import color_tag
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
    remaining = iter(highlights)
    while batch := [*itertools.islice(remaining, AT_ONCE)]:
        own_gaps = gaps.gaps_of((each.row, each.locator) for each in batch)
        for placed, gap in zip(batch, own_gaps, strict=True):
            collection = placed.row.source.collection
            digest = hashlib.sha256(f"cuebase {collection.slug}".encode()).digest()
            number = int.from_bytes(digest[:4], "big") % 2**30 + 2**30  # the same in every export
            deck = genanki.Deck(number, f"Cuebase::{collection.name}")
            decks.setdefault(collection.slug, deck).add_note(_note(placed, gap))
    with sqlite3.connect(":memory:") as database:
        now = time.time()
        package = genanki.Package([*decks.values()])
        package.write_to_db(database.cursor(), now, itertools.count(int(now * 1000)))
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("collection.anki2", database.serialize())
        archive.writestr("media", "{}")
    database.close()


def _note(placed: PlacedHighlight, gap: CardGap) -> genanki.Note:
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
        model=MODEL,
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

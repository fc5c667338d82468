"""Highlights as cards of Anki: a sentence with a gap; who says it, where, its note on the back."""

import hashlib
import itertools
import sqlite3
import time
import zipfile
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from html import escape
from typing import IO, Final

import genanki

from citations.lexical import index as lexical_index
from citations.library.filters import Filter, resolve
from citations.models import Source
from citations.notebook import cloze
from citations.notebook.highlights import PlacedHighlight
from citations.passages import place
from citations.providers.languages import stop_words
from citations.quotes import source_texts
from citations.text.function_words import function_words
from citations.text.key_sentences import FILLERS
from transcripts.conf import absolute
from transcripts.scope import Scope
from transcripts.stemming import primary_language
from transcripts.tokenizer import tokenize

FEW: Final = 100  # chunks of a collection that tell little about how common a word is
MODEL: Final = genanki.Model(
    1_725_043_118,  # the same in every export: Anki updates the cards that it has
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
    for placed in highlights:
        collection = placed.row.source.collection
        deck = decks.setdefault(
            collection.slug, genanki.Deck(_stable(collection.slug), f"Cuebase::{collection.name}")
        )
        deck.add_note(_note(placed))
    with sqlite3.connect(":memory:") as database:
        now = time.time()
        package = genanki.Package([*decks.values()])
        package.write_to_db(database.cursor(), now, itertools.count(int(now * 1000)))
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("collection.anki2", database.serialize())
        archive.writestr("media", "{}")
    database.close()


def _note(placed: PlacedHighlight) -> genanki.Note:
    row = placed.row
    at = place(placed.locator) if placed.locator else ""
    where = ", ".join(filter(None, (row.source.title, at)))
    said_by = f"{_field(row.speaker)}, " if row.speaker else ""
    link = f'{said_by}<a href="{_field(absolute(placed.link))}">{_field(where)}</a>'
    return genanki.Note(
        model=MODEL,
        guid=genanki.guid_for(str(row.uuid)),
        fields=[_gap(placed), link, _field(row.note)],
        tags=["-".join(tag.split()) for tag in (*row.tags, row.color)],
    )


def _gap(placed: PlacedHighlight) -> str:
    """Return the sentence of a passage; of a lost one, the stored text around it."""
    row = placed.row
    if placed.locator is None:
        text = row.prefix + row.quote + row.suffix
        passage = (len(row.prefix), len(row.prefix) + len(row.quote))
    else:
        text, passage = source_texts.of(row.source).text, placed.locator.span
    first, last = cloze.sentence_around(text, passage)
    sentence = text[first:last]
    inside = (max(0, passage[0] - first), min(last, passage[1]) - first)
    distinctions = _distinctions(row.source, text, cloze.words_of(sentence))
    start, stop = cloze.hidden(sentence, inside, _general(row.source.language), distinctions)
    parts, end = "", 0
    for first, last in cloze.places(sentence, (start, stop), row.source.language):
        parts += f"{_field(sentence[end:first])}{{{{c1::{_field(sentence[first:last])}}}}}"
        end = last
    return parts + _field(sentence[end:])


@lru_cache(maxsize=16)
def _general(language: str) -> frozenset[str]:
    """Return the words of a language that no card asks for."""
    grammar = function_words(primary_language(language) or "en")
    return stop_words(language) | grammar.general | FILLERS


def _distinctions(source: Source, text: str, words: list[str]) -> dict[str, float]:
    """Return how much each word distinguishes a text from the collection of its source; nothing
    where that is small.
    """
    every = resolve(Scope(readable=frozenset({source.collection_id})), Filter())
    if every.chunks < FEW:
        return {}
    times = Counter(tokenize(text))
    shares = lexical_index.shares(words, resolved=every)
    return cloze.distinctions({word: times[word] for word in words}, shares)


def _field(text: str) -> str:
    """Escape a text, and the signs that Anki takes for gaps, formulas and sounds; keep lines."""
    html = escape(text).replace("\n", "<br>")
    for sign in "{}:[]\\":
        html = html.replace(sign, f"&#{ord(sign)};")
    return html


def _stable(name: str) -> int:
    digest = hashlib.sha256(f"cuebase {name}".encode()).digest()
    return int.from_bytes(digest[:4], "big") % 2**30 + 2**30

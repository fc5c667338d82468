"""Other titles that items of the library may have: from their files, headings and guides."""

from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any, Final

from django.db.models import Q

from citations.ingest.item_details import MAX_TITLE
from citations.models import Chunk, Document, Guide, Source
from transcripts.adding.files import readable
from transcripts.captions import id_at_end
from transcripts.models import Video
from transcripts.text.tokenizer import tokenize

MOST: Final = 3  # titles of an item


def of(rows: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the titles proposed for items, by their references, without those that they have.

    In this order: the name of the file, the first heading, what the guide says it is about.
    """
    items = {(type(row), row.pk): reference for reference, row in rows.items()}
    sources = Source.objects.filter(
        Q(video__in=[pk for kind, pk in items if kind is Video])
        | Q(pk__in=[pk for kind, pk in items if kind is Source])
    )
    proposals: dict[str, list[str]] = {reference: [] for reference in rows}
    references = {
        source: items[(Video, video) if video else (Source, source)]
        for source, video in sources.values_list("pk", "video")
    }
    for source, title in (*_of_files(references), *_headings(references), *_subjects(references)):
        reference, text = references[source], " ".join(title.split())[:MAX_TITLE]
        known = map(tokenize, (str(rows[reference]), *proposals[reference]))
        if tokenize(text) not in ([], *known):
            proposals[reference].append(text)
    return {reference: titles[:MOST] for reference, titles in proposals.items()}


def _of_files(sources: Mapping[int, str]) -> Iterator[tuple[int, str]]:
    documents = Document.objects.filter(source__in=sources)
    for source, name in documents.values_list("source", "name"):
        yield source, readable(PurePath(name).stem)
    own = Source.objects.filter(pk__in=sources, transcript__isnull=False)
    for source, key in own.values_list("pk", "video__key"):
        yield source, readable(id_at_end(key)[0])


def _headings(sources: Mapping[int, str]) -> Iterator[tuple[int, str]]:
    chunks = Chunk.objects.filter(source__in=sources).exclude(heading="")
    first = chunks.order_by("source", "ordinal").distinct("source")
    yield from first.values_list("source", "heading")


def _subjects(sources: Mapping[int, str]) -> Iterator[tuple[int, str]]:
    guides = Guide.objects.made().filter(source__in=sources)
    for source, items in guides.values_list("source", "items"):
        phrases = [term["label"] for term in items.get("terms", ()) if " " in term["label"]]
        for phrase in phrases[:1]:  # a single word is too little
            yield source, phrase[:1].upper() + phrase[1:]

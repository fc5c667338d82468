"""Highlights in the Web Annotation Data Model (https://www.w3.org/TR/annotation-model/)."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC
from typing import IO, Any, Final

from citations.models import HighlightColor
from citations.notebook.gaps import MAX_HIDDEN
from citations.notebook.highlights import (
    MAX_NOTE,
    MAX_QUOTE,
    MAX_TAGS,
    HighlightNotes,
    PlacedHighlight,
)
from citations.quotes.anchoring import AROUND, SelectedText
from citations.schemas.filters import MAX_TAG
from transcripts.conf import absolute
from transcripts.core.errors import InvalidInput, TooLarge
from transcripts.core.sanitize import clean

CONTEXT: Final = "http://www.w3.org/ns/anno.jsonld"
MEDIA_FRAGMENTS: Final = "http://www.w3.org/TR/media-frags/"
PDF_FRAGMENTS: Final = "http://tools.ietf.org/rfc/rfc3778"
MAX_BYTES: Final = 10 << 20
MAX_ANNOTATIONS: Final = 2_000  # annotations of a file
MAX_PARTS: Final = 50  # of a list within an annotation

_TIME: Final = "%Y-%m-%dT%H:%M:%SZ"  # as the model has it
_ASKED_FOR: Final = {"type": "SpecificResource", "purpose": "questioning"}  # bodies of cards
_SECONDS: Final = re.compile(r"^t=(?:npt:)?(\d{1,7}(?:\.\d{1,6})?)")
_PAGE: Final = re.compile(r"^page=(\d{1,7})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotation:
    """An annotation of a file: its passage, where, and what was added; ``sources`` are addresses or
    ids that it may be in.
    """

    number: int  # in the file, from 1
    sources: tuple[str, ...]
    selected: SelectedText
    notes: HighlightNotes
    start: int | None = None  # ms
    page: int | None = None


def write(highlights: Iterable[PlacedHighlight], file: IO[bytes]) -> None:
    """Write a page of annotations, one after another."""
    page = {"@context": CONTEXT, "id": absolute("/highlights/"), "type": "AnnotationPage"}
    head = json.dumps(page)
    file.write(f'{head[:-1]}, "items": ['.encode())
    for number, placed in enumerate(highlights):
        text = json.dumps(annotation(placed), ensure_ascii=False)
        file.write(f"{',' if number else ''}\n{text}".encode())
    file.write(b"\n]}\n")


def annotation(placed: PlacedHighlight) -> dict[str, Any]:
    """Return a highlight as an annotation."""
    row = placed.row
    bodies = [{"type": "TextualBody", "purpose": "tagging", "value": tag} for tag in row.tags]
    if row.note:
        note = {"type": "TextualBody", "purpose": "commenting", "format": "text/markdown"}
        bodies.insert(0, {**note, "value": row.note})
    source = absolute(f"/sources/{row.source.uuid}/")
    if row.hidden_words:  # the card asks for these words of the source
        words = {"type": "TextQuoteSelector", "exact": row.hidden_words}
        bodies.append({**_ASKED_FOR, "source": source, "selector": words})
    person = {"type": "Person", "name": row.speaker}
    return {
        "id": f"urn:uuid:{row.uuid}",
        "type": "Annotation",
        "motivation": "highlighting",
        "created": f"{row.created_at.astimezone(UTC):{_TIME}}",
        "modified": f"{row.updated_at.astimezone(UTC):{_TIME}}",
        "body": bodies,
        "target": {
            "type": "SpecificResource",
            "source": {
                "id": source,
                "type": "Video" if row.source.video_id else "Text",
                "title": row.source.title,
                "url": row.source.url,
            },
            **({"creator": person} if row.speaker else {}),  # of the words: who says them
            "styleClass": [row.color, *(["card"] if row.is_card else [])],
            "selector": [*_selectors(placed)],
        },
    }


def _selectors(placed: PlacedHighlight) -> Iterator[dict[str, Any]]:
    row, at = placed.row, placed.locator
    around = {"prefix": row.prefix, "suffix": row.suffix}
    yield {"type": "TextQuoteSelector", "exact": row.quote, **around}
    fragment: dict[str, Any] = {"type": "FragmentSelector"}
    if at is not None and at.start is not None:
        until = f",{at.end / 1000:g}" if at.end is not None else ""
        moment = f"t={at.start / 1000:.3f}".rstrip("0").rstrip(".")
        yield {**fragment, "conformsTo": MEDIA_FRAGMENTS, "value": moment + until}
    elif at is not None and at.page is not None:
        yield {**fragment, "conformsTo": PDF_FRAGMENTS, "value": f"page={at.page}"}


# Reading


def read(data: bytes) -> tuple[list[Annotation], int]:
    """Return the annotations of a file that quote something, and how many others it has.

    Raises ``InvalidInput`` and ``TooLarge``.
    """
    if len(data) > MAX_BYTES:
        raise TooLarge(f"The file is larger than {MAX_BYTES >> 20} MB.", hint="Import it in parts.")
    try:
        whole = json.loads(data)
    except (ValueError, RecursionError):
        raise InvalidInput(
            "The file is not JSON.", hint="Import Web Annotations (JSON-LD), as exported here."
        ) from None
    return read_json(whole)


def read_json(whole: object) -> tuple[list[Annotation], int]:
    """Return the annotations of a parsed file. Raises what ``read`` raises."""
    items = _items(whole)
    if len(items) > MAX_ANNOTATIONS:
        raise TooLarge(
            f"The file has {len(items):,} annotations;"
            f" at most {MAX_ANNOTATIONS:,} are imported at once.",
            hint="Import it in parts.",
        )
    annotations = [_annotation(number, item) for number, item in enumerate(items, start=1)]
    readable = [annotation for annotation in annotations if annotation is not None]
    return readable, len(items) - len(readable)


def _items(whole: object) -> list[Any]:
    """Return the annotations of a page, a collection, a list, or of one annotation alone."""
    if isinstance(whole, Mapping):
        first = whole.get("first")
        page = first if isinstance(first, Mapping) else whole
        items = page.get("items")
        if isinstance(items, list):
            return items
        if "target" in whole:
            return [whole]
    if isinstance(whole, list):
        return whole
    raise InvalidInput(
        "The file has no annotations.", hint="Import Web Annotations (JSON-LD), as exported here."
    )


def _annotation(number: int, item: object) -> Annotation | None:
    target = next(iter(_parts(item, "target")), None)
    if not isinstance(item, Mapping) or not isinstance(target, Mapping):
        return None
    selectors = _objects(target, "selector")
    refined = (selector.get("refinedBy") for selector in selectors)
    selectors += [part for part in refined if isinstance(part, Mapping)]
    quotes = (part for part in selectors if part.get("type") == "TextQuoteSelector")
    quote = next(quotes, None)
    if quote is None:
        return None
    selected = SelectedText(
        exact=clean(quote.get("exact"), MAX_QUOTE + 1),
        prefix=clean(quote.get("prefix"), 10 * AROUND)[-AROUND:],
        suffix=clean(quote.get("suffix"), AROUND),
    )
    source = target.get("source")
    named = [source.get("id"), source.get("url")] if isinstance(source, Mapping) else [source]
    fragments = [clean(selector.get("value"), 100) for selector in selectors]
    seconds = next(filter(None, map(_SECONDS.match, fragments)), None)
    page = next(filter(None, map(_PAGE.match, fragments)), None)
    return Annotation(
        number=number,
        sources=tuple(filter(None, (clean(name, 500) for name in named))),
        selected=selected,
        notes=_notes(item, target),
        start=round(float(seconds[1]) * 1000) if seconds else None,
        page=int(page[1]) if page else None,
    )


def _notes(item: Mapping[str, Any], target: Mapping[str, Any]) -> HighlightNotes:
    tags, texts, asked_for = list[str](), list[str](), list[str]()
    for body in _objects(item, "body"):
        if body.get("purpose") == "tagging":
            tags.append(clean(body.get("value"), MAX_TAG))
        else:
            texts.append(clean(body.get("value"), MAX_NOTE))
        if body.items() >= _ASKED_FOR.items():
            selectors = _objects(body, "selector")[:1]
            asked_for += [clean(selector.get("exact"), MAX_HIDDEN) for selector in selectors]
    classes = [clean(name, 40) for name in _parts(target, "styleClass")]
    colors = [name for name in classes if name in HighlightColor.values]
    return HighlightNotes(
        color=colors[0] if colors else HighlightColor.YELLOW,
        note="\n\n".join(filter(None, texts))[:MAX_NOTE],
        tags=tuple(dict.fromkeys(filter(None, tags)))[:MAX_TAGS],
        is_card="card" in classes,
        hidden_words=next(filter(None, asked_for), ""),
    )


def _objects(whole: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    return [part for part in _parts(whole, name) if isinstance(part, Mapping)]


def _parts(whole: object, name: str) -> list[Any]:
    """Return a property that may be a list, one value or absent."""
    value = whole.get(name) if isinstance(whole, Mapping) else None
    if isinstance(value, list):
        return value[:MAX_PARTS]
    return [] if value is None else [value]

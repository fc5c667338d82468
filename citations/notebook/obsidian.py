"""Highlights as Markdown for Obsidian: a file a source, with front matter and links."""

import json
import re
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import IO, Final

from django.utils.translation import gettext as _

from citations.models import Source
from citations.notebook import color_tags
from citations.notebook.highlights import PlacedHighlight
from citations.reading.places import place
from citations.text.markdown import escape_markdown
from transcripts.conf import absolute

LONGEST: Final = 100  # characters of a file's name
_FORBIDDEN: Final = re.compile(r'[\\/:*?"<>|#^\[\]\x00-\x1f]+')  # by systems, and by Obsidian
MOST_BYTES: Final = 200  # of a file's name: systems take 255, with number and ending
# Names that Windows gives to devices, whatever follows a point.
_DEVICE: Final = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)", re.IGNORECASE)
_NO_TAG: Final = re.compile(r"[^\w/-]+")


def write(highlights: Iterable[PlacedHighlight], file: IO[bytes]) -> None:
    """Write a ZIP with a file for each source; ``highlights`` come source by source."""
    names = FileNames()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for source, members in groupby(highlights, key=lambda placed: placed.row.source):
            archive.writestr(f"{names.of(source.title)}.md", of_source(source, [*members]))


def write_one(highlights: Iterable[PlacedHighlight], file: IO[bytes]) -> None:
    """Write the highlights of one source, without a ZIP around it."""
    for source, members in groupby(highlights, key=lambda placed: placed.row.source):
        file.write(of_source(source, [*members]).encode())


def of_source(source: Source, highlights: Sequence[PlacedHighlight]) -> str:
    """Return the file of a source."""
    parts = [front_matter(source, tags=["cuebase"]), f"# {escape_markdown(source.title)}\n"]
    return "\n".join([*parts, *map(_passage, highlights)])


def front_matter(source: Source, **more: object) -> str:
    """Return YAML that tells what a source is; JSON's strings and lists are YAML's.

    Names of properties are English in every language: queries over a vault name them.
    """
    about = {
        "title": source.title,
        "author": source.author,
        "kind": source.kind,
        "url": source.url,
        "cuebase": absolute(f"/sources/{source.uuid}/"),
        "collection": source.collection.name,
        "language": source.language,
        "published": source.published_at.date().isoformat() if source.published_at else "",
        **more,
    }
    lines = (
        f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in about.items() if value
    )
    return "\n".join(["---", *lines, "---", ""])


def passages(source: Source, highlights: Iterable[PlacedHighlight]) -> Iterator[str]:
    """Yield the parts of a page that shows the highlights of a source, without what only Obsidian
    reads.
    """
    yield f"# {escape_markdown(source.title)}\n"
    for placed in highlights:
        yield _passage(placed, has_reference=False)


def _passage(placed: PlacedHighlight, *, has_reference: bool = True) -> str:
    return "\n\n".join(_lines(placed, has_reference=has_reference)) + "\n"


def _lines(placed: PlacedHighlight, *, has_reference: bool) -> Iterator[str]:
    row = placed.row
    if placed.locator is None:
        gone = _("Not in the source any more")
        yield f"## {gone}"
    else:
        where = place(placed.locator) or _("Passage")
        yield f"## [{where[0].upper() + where[1:]}]({absolute(placed.link)})"
    said_by = ["", f"— {row.attribution}"] if row.attribution else []
    lines = map(escape_markdown, [*row.quote.splitlines(), *said_by])
    yield "\n".join(f"> {line}".rstrip() for line in lines)
    if has_reference:
        yield f"^{row.uuid}"  # refers to the block above it: the quote
    if row.note:
        yield row.note
    tags = (*row.tags, "/".join(color_tags.path_of(row)))
    yield " ".join(f"#{_NO_TAG.sub('-', tag).strip('-')}" for tag in tags)


class FileNames:
    """Names of files by titles, each once."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def of(self, title: str) -> str:
        """Return a name that every system takes, without an ending."""
        stem = " ".join(_FORBIDDEN.sub(" ", title).split()).strip(". ")[:LONGEST]
        stem = stem.encode()[:MOST_BYTES].decode(errors="ignore").strip(". ") or _("Untitled")
        if _DEVICE.match(stem):
            stem = f"_{stem}"
        name, count = stem, 1
        while name.casefold() in self._taken:
            count += 1
            name = f"{stem} ({count})"
        self._taken.add(name.casefold())
        return name

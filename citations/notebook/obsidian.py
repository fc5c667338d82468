"""Highlights as Markdown for Obsidian: a file a source, with front matter and links."""

import json
import re
import zipfile
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import IO, Final

from django.utils.translation import gettext as _

from citations.models import Highlight, Source
from citations.notebook.highlights import PlacedHighlight
from citations.reading.places import place
from citations.text.markdown import escape_markdown
from citations.text.speakers import label_length
from transcripts.conf import absolute

MAX_FILE_NAME: Final = 100  # characters of a file's name
_FORBIDDEN: Final = re.compile(r'[\\/:*?"<>|#^\[\]\x00-\x1f]+')  # by systems, and by Obsidian
MAX_BYTES: Final = 200  # of a file's name: systems take 255, with number and ending
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
    for placed in highlights:
        tags = (*placed.row.tags, "/".join(color_tag(placed.row)))
        named = " ".join(f"#{_NO_TAG.sub('-', tag).strip('-')}" for tag in tags)
        parts.append(f"{passage(placed, reference=f'^{placed.row.uuid}')}\n{named}\n")
    return "\n".join(parts)


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


def passage(placed: PlacedHighlight, *, reference: str = "") -> str:
    """Return the Markdown of a highlight: its place, its words below who says them, its note; and
    after the words a reference to them, which Obsidian alone reads.
    """
    row, heading = placed.row, _("Not in the source any more")
    if placed.locator is not None:
        where = place(placed.locator) or _("Passage")
        heading = f"[{where[0].upper() + where[1:]}]({absolute(placed.link)})"
    said_by = [f"**{escape_markdown(row.speaker)}**", ""] if row.speaker else []
    words = row.quote[label_length(row.quote, row.speaker) :]
    lines = [*said_by, *map(escape_markdown, words.splitlines())]
    quote = "\n".join(f"> {line}".rstrip() for line in lines)
    notes = filter(None, (reference, row.note))
    return "\n\n".join((f"## {heading}", quote, *notes)) + "\n"


class FileNames:
    """Names of files by titles, each once."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def of(self, title: str) -> str:
        """Return a name that every system takes, without an ending."""
        stem = " ".join(_FORBIDDEN.sub(" ", title).split()).strip(". ")[:MAX_FILE_NAME]
        stem = stem.encode()[:MAX_BYTES].decode(errors="ignore").strip(". ") or _("Untitled")
        if _DEVICE.match(stem):
            stem = f"_{stem}"
        name, count = stem, 1
        while name.casefold() in self._taken:
            count += 1
            name = f"{stem} ({count})"
        self._taken.add(name.casefold())
        return name


def color_tag(row: Highlight) -> tuple[str, str]:
    """Return the tag of all highlights, and that of a colour below it, in the reader's language.

    “yellow” by itself would be one of the reader's own tags.
    """
    return _("highlight"), row.get_color_display()

"""The folders of an archive: files, a page beside each Markdown file, and the index of all."""

import json
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import IO, Any, Final, NamedTuple
from urllib.parse import quote

from django.utils import timezone
from django.utils.formats import date_format
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from citations.notebook import archive_pages
from citations.notebook.obsidian import FileNames
from transcripts.core.alphabet import alphabet_key

IN_MEMORY: Final = 4 << 20  # bytes of a JSON file; a larger one is on the disk until it is packed


class _Entry(NamedTuple):
    """A page in the index."""

    title: str
    path: str
    collection: str


class ArchiveFolders:
    """A ZIP that is written; names are unique in their folder."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._names: dict[str, FileNames] = {}
        self._index: dict[str, list[_Entry]] = {}  # by folders

    def name(self, folder: str, title: str) -> str:
        """Return a name that no other file of the folder has."""
        return self._names.setdefault(folder, FileNames()).of(title)

    def open(self, path: str, compression: int = zipfile.ZIP_DEFLATED) -> IO[bytes]:
        """Begin a file, which is dated today. A ZIP takes one file at a time."""
        about = zipfile.ZipInfo(path, timezone.localtime().timetuple()[:6])
        about.compress_type = compression
        return self._archive.open(about, "w", force_zip64=True)

    def write_text(
        self,
        folder: str,
        title: str,
        parts: Sequence[str],
        *,
        page: Iterable[str] | None = None,
        links: Mapping[str, str] = MappingProxyType({}),
        language: str = "",
        collection: str = "",
    ) -> str:
        """Write a Markdown file, and beside it a page of the same parts, or of ``page``; return the
        path of the file in the ZIP.
        """
        name = self.name(folder, title)
        path = f"{folder.lower()}/{name}.md"
        with self.open(path) as file:
            for part in parts:
                file.write(f"{part}\n".encode())
        shown = archive_pages.page(
            title,
            parts if page is None else page,
            links={_("All"): "../index.html", **links, "Markdown": f"{name}.md"},
            language=language,
        )
        with self.open(page_path(path)) as file:
            for text in shown:
                file.write(text.encode())
        self._index.setdefault(folder, []).append(_Entry(title, page_path(path), collection))
        return path

    def write_json(self, path: str, rows: Iterable[dict[str, Any]]) -> None:
        """Write rows; each may write files of its own before it is there."""
        with tempfile.SpooledTemporaryFile(IN_MEMORY) as spool:
            for number, row in enumerate(rows):
                text = json.dumps(row, ensure_ascii=False)
                spool.write(f"{',' if number else '['}\n{text}".encode())
            spool.write(b"\n]\n" if spool.tell() else b"[]\n")
            spool.seek(0)
            with self.open(path) as file:
                shutil.copyfileobj(spool, file)

    def write_index(self, title: str, *, player: Callable[[str], SafeString]) -> None:
        """Write the page that leads to all pages, with the player of each that has one."""
        about = _(
            "Written on %(day)s. Each page is also there as a Markdown file, and this one as JSON "
            "files."
        ) % {"day": date_format(timezone.localdate(), "DATE_FORMAT")}
        headings = {
            "Sources": _("Sources"),
            "Highlights": _("Highlights"),
            "Notes": _("Notes"),
            "Questions": _("Questions"),
        }
        entries = [entry for members in self._index.values() for entry in members]
        is_one_collection = len({entry.collection for entry in entries} - {""}) < 2
        with self.open("index.html") as file:
            file.write(archive_pages.beginning(title).encode())
            file.write(format_html("<h1>{}</h1><p>{}</p>\n", title, about).encode())
            for folder, members in self._index.items():
                file.write(format_html("<h2>{}</h2><ul>\n", headings[folder]).encode())
                for entry in sorted(members, key=lambda entry: alphabet_key(entry.title)):
                    collection = "" if is_one_collection else entry.collection
                    file.write(_line(entry, collection, player(entry.path)).encode())
                file.write(b"</ul>\n")
            file.write(archive_pages.END.encode())


def page_path(path: str) -> str:
    """Return the path of the page beside a Markdown file."""
    return f"{path.removesuffix('.md')}.html"


def _line(entry: _Entry, collection: str, player: SafeString) -> str:
    """Return a line of the index."""
    link = format_html('<a href="{}">{}</a>', quote(entry.path), entry.title)
    about = format_html(' <span class="about">· {}</span>', collection) if collection else ""
    return format_html("<li>{}{}{}</li>\n", link, about, player)

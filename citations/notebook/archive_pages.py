"""The folders of an archive, and its pages: beside each Markdown file what browsers show instead of
it, without scripts, and the index of all.
"""

import json
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import IO, Any, Final, NamedTuple
from urllib.parse import quote

from django.conf import settings
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import capfirst
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from citations.models import Page, Source
from citations.notebook import obsidian
from citations.notebook.highlights import PlacedHighlight
from citations.notebook.obsidian import FileNames
from citations.readers.markup.mathml import set_formulas
from citations.readers.markup.rendering import render_text
from citations.readers.markup.sanitizer import below_title, sanitize
from citations.reading import transcript as reading
from citations.reading.places import page_place
from citations.text.markdown import escape_markdown
from transcripts.core.alphabet import alphabet_key
from transcripts.library import exports
from transcripts.models import Transcript, Video

BATCH: Final = 50  # pages of a document that are read at once
Text = str  # Markdown, or a SafeString of HTML

_STYLE: Final = """
body {
  font: 1rem/1.6 system-ui, sans-serif; max-width: 44rem; margin: 2rem auto; padding: 0 1rem 4rem;
  overflow-wrap: anywhere; color: light-dark(#1b1c1f, #e8e6e1);
  background: light-dark(#fff, #141518);
}
a { color: light-dark(#0b6b5c, #6fd0c2); }
h1 { line-height: 1.25; }
h2 { font-size: 1.15rem; margin-top: 2rem; }
nav, .about, .page-number { color: light-dark(#5c5e66, #a3a19b); font-size: .9rem; }
.page-number { margin-top: 2.5rem; border-top: 1px solid currentcolor; padding-top: .3rem; }
.page-text { white-space: pre-wrap; }
blockquote { margin: 1rem 0; padding-left: 1rem; border-left: 3px solid; font-size: 1.05rem; }
pre { overflow-x: auto; }
table { border-collapse: collapse; display: block; overflow-x: auto; }
td, th { border: 1px solid; padding: .3rem .6rem; text-align: left; }
audio, video { width: 100%; max-width: 30rem; }
mark { color: inherit; padding: .1rem .4rem; border-radius: .2rem; }
mark.yellow { background: light-dark(#fff0a3, #4f4300); }
mark.green { background: light-dark(#cfeecb, #1c4623); }
mark.blue { background: light-dark(#cfe5fc, #163b63); }
mark.pink { background: light-dark(#fbd7e5, #5c1f3c); }
"""
_BEGINNING: Final = """<!doctype html>
<html lang="{language}">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark"><title>{title}</title><style>{style}</style></head>
<body>
"""
END: Final = "</body></html>\n"


def beginning(title: str) -> SafeString:
    language = get_language() or settings.LANGUAGE_CODE
    return format_html(_BEGINNING, language=language, title=title, style=mark_safe(_STYLE))


def html_page(
    title: str, parts: Iterable[Text], *, links: Mapping[str, str], language: str = ""
) -> Iterator[str]:
    """Yield a page: links by their names, then the parts."""
    yield beginning(title)
    named = ((quote(address), name) for name, address in links.items())
    yield format_html("<nav>{}</nav>\n", format_html_join(" · ", '<a href="{}">{}</a>', named))
    lang = format_html(' lang="{}"', language) if language else SafeString()
    yield format_html('<main dir="auto"{}>\n', lang)
    for part in parts:
        if isinstance(part, SafeString):
            yield f"{part}\n"
        else:
            yield from render_text(part)
    yield f"</main>\n{END}"


def of_source(source: Source, *, file: str = "", original: str = "") -> Iterator[Text]:
    """Yield the text of a source; ``file`` plays there, and the times lead into it."""
    if source.transcript and source.video:
        if file:
            yield player(file, is_audio=source.video.media.is_audio)
        yield of_recording(source.video, source.transcript, file=quote(file))
        return
    yield format_html("<h1>{}</h1>", source.title)
    yield _about(source, original)
    pages = Page.objects.filter(document__source=source).order_by("number")
    for leaf in pages.iterator(chunk_size=BATCH):
        name = capfirst(page_place(leaf.number, source))
        yield format_html('<p class="page-number" id="page-{}">{}</p>', leaf.number, name)
        if leaf.html:
            yield mark_safe(set_formulas(below_title(sanitize(leaf.html))))
        else:
            yield format_html('<p class="page-text">{}</p>', leaf.text)


def of_highlights(source: Source, highlights: Iterable[PlacedHighlight]) -> Iterator[Text]:
    """Yield the highlights of a source, each with the word of its colour and its tags."""
    yield f"# {escape_markdown(source.title)}\n"
    for placed in highlights:
        yield obsidian.passage(placed)
        row = placed.row
        color = format_html('<mark class="{}">{}</mark>', row.color, row.get_color_display())
        parts = ((part,) for part in (color, *(f"#{tag}" for tag in row.tags)))
        yield format_html('<p class="about">{}</p>', format_html_join(" · ", "{}", parts))


def of_recording(video: Video, transcript: Transcript, *, file: str = "") -> str:
    """Return the Markdown of a recording, a paragraph a turn; its times lead into ``file``."""
    text = reading.read(transcript)
    borders = [*text.offsets, len(text.text)]

    def paragraphs(first: int, count: int) -> Iterator[tuple[int, str]]:
        for spoken in text.paragraphs(borders[first], borders[first + count], breaks=()):
            yield spoken[0].start, text.text[spoken[0].first : spoken[-1].last].strip()

    return exports.to_markdown(video, transcript, file=file, paragraphs=paragraphs)


def player(file: str, *, is_audio: bool) -> SafeString:
    """Return what plays a file."""
    name = "audio" if is_audio else "video"
    return format_html('<{0} controls preload="none" src="{1}"></{0}>', name, quote(file))


def _about(source: Source, original: str) -> SafeString:
    day = f"{source.published_at:%Y-%m-%d}" if source.published_at else ""
    facts = [part for part in (source.author, source.collection.title, day) if part]
    if source.url.startswith(("https://", "http://")):
        facts.append(format_html('<a href="{0}" rel="noreferrer">{0}</a>', source.url))
    if original:
        name = original.rpartition("/")[2]
        facts.append(format_html('<a href="../{}">{}</a>', quote(original), name))
    rows = ((fact,) for fact in facts)
    return format_html('<p class="about">{}</p>', format_html_join(" · ", "{}", rows))


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
            file.writelines(f"{part}\n".encode() for part in parts)
        shown = html_page(
            title,
            parts if page is None else page,
            links={_("All"): "../index.html", **links, "Markdown": f"{name}.md"},
            language=language,
        )
        with self.open(page_path(path)) as file:
            file.writelines(text.encode() for text in shown)
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
            file.write(beginning(title).encode())
            file.write(format_html("<h1>{}</h1><p>{}</p>\n", title, about).encode())
            for folder, members in self._index.items():
                file.write(format_html("<h2>{}</h2><ul>\n", headings[folder]).encode())
                for entry in sorted(members, key=lambda entry: alphabet_key(entry.title)):
                    link = format_html('<a href="{}">{}</a>', quote(entry.path), entry.title)
                    named = format_html(' <span class="about">· {}</span>', entry.collection)
                    about = "" if is_one_collection or not entry.collection else named
                    line = format_html("<li>{}{}{}</li>\n", link, about, player(entry.path))
                    file.write(line.encode())
                file.write(b"</ul>\n")
            file.write(END.encode())


def page_path(path: str) -> str:
    """Return the path of the page beside a Markdown file."""
    return f"{path.removesuffix('.md')}.html"

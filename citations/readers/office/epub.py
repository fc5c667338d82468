"""Books (EPUB 2 and 3): the chapters in reading order, called as the navigation calls them.

Cover, navigation and printed page numbers are not read.
"""

import codecs
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from html import escape
from typing import Final, NamedTuple
from xml.etree.ElementTree import Element

from selectolax.lexbor import LexborHTMLParser, LexborNode

from citations.errors import DocumentBroken, DocumentEncrypted
from citations.readers import omissions
from citations.readers.headings import key_of
from citations.readers.markup.walker import Piece, Walker
from citations.readers.office import navigation
from citations.readers.office.archive import (
    Package,
    attribute,
    child,
    descendants,
    local,
    parts,
    resolve,
)
from citations.readers.office.navigation import Entry

_FACTS: Final = {"title": "title", "creator": "author", "language": "language", "date": "published"}
_PAGES: Final = ("application/xhtml+xml", "text/html", "application/x-dtbook+xml")
_FONTS: Final = (  # ways to hide a font, which is no protection of the text
    "http://www.idpf.org/2008/embedding",
    "http://ns.adobe.com/pdf/enc#RC",
)
_LOWEST: Final = 6  # level of a heading
# XHTML closes an empty element in its tag, which HTML takes for the beginning of one.
_EMPTY: Final = re.compile(
    r"<(?!(?:area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr)[\s/])"
    r"([A-Za-z][\w:.-]*)(\s[^<>]*)?/>"
)
# HTML knows no prefixes of names.
_PREFIX: Final = re.compile(r"""\bxmlns:([A-Za-z][\w-]{0,20})=["']http://www\.w3\.org/1998/Math/""")
_ENCODING: Final = re.compile(rb"<\?xml[^>]{0,100}?encoding\s*=\s*[\"']([\w.:-]{1,40})")


class _Item(NamedTuple):
    """A file of the book."""

    name: str
    media_type: str
    properties: tuple[str, ...]


def read(archive: Package) -> tuple[dict[str, str], Iterator[Piece]]:
    """Return a book's facts, and its pieces. Raises ``DocumentBroken``, ``DocumentEncrypted``."""
    rootfile = next(descendants(archive.xml("META-INF/container.xml"), "rootfile"), None)
    package_name = attribute(rootfile, "full-path")
    package = archive.xml(package_name)
    book = _Book(archive, package_name, package)
    pieces = [*book.pieces()]
    return {**_facts(package), "note": book.note()}, iter(pieces)


def _facts(package: Element) -> dict[str, str]:
    facts: dict[str, list[str]] = defaultdict(list)
    for element in parts(child(package, "metadata")):
        text = " ".join((element.text or "").split())
        if text and (fact := _FACTS.get(local(element.tag))):
            facts[fact].append(text)
    return {
        fact: ", ".join(texts) if fact == "author" else texts[0] for fact, texts in facts.items()
    }


class _Book:
    def __init__(self, archive: Package, name: str, package: Element) -> None:
        self.archive, self.package = archive, package
        items = {
            attribute(row, "id"): _Item(
                resolve(name, attribute(row, "href")),
                attribute(row, "media-type"),
                tuple(attribute(row, "properties").split()),
            )
            for row in parts(child(package, "manifest"), "item")
        }
        spine = child(package, "spine")
        ids = [attribute(row, "idref") for row in parts(spine, "itemref")]
        self.files = [items[own] for own in ids if own in items]
        if not self.files:
            raise DocumentBroken("The book does not say in which order its files are read.")
        self._refuse_protected()
        self.omitted: Counter[str] = Counter()
        self.missing = 0  # files of the spine
        ncx = items.get(attribute(spine, "toc"))
        nav = next((item for item in items.values() if "nav" in item.properties), None)
        self.entries, self.left_out = self._navigation(nav, ncx)
        self.left_out |= {
            resolve(name, attribute(row, "href"))
            for row in parts(child(package, "guide"), "reference")
            if attribute(row, "type") in ("cover", "toc")
        }

    def _navigation(self, nav: _Item | None, ncx: _Item | None) -> tuple[list[Entry], set[str]]:
        """Return the entries, and the files that are no content."""
        if nav and nav.name in self.archive:
            html = decode(self.archive.read(nav.name))
            left_out = {nav.name, *navigation.landmarks(html, nav.name, "cover", "toc")}
            return navigation.of_nav(html, nav.name), left_out
        if ncx:
            return navigation.of_ncx(self.archive.optional_xml(ncx.name), ncx.name), set()
        return [], set()

    def _refuse_protected(self) -> None:
        protected = self.archive.optional_xml("META-INF/encryption.xml")
        names = {item.name for item in self.files}
        for row in descendants(protected, "EncryptedData"):
            way = attribute(child(row, "EncryptionMethod"), "Algorithm")
            name = attribute(next(descendants(row, "CipherReference"), None), "URI")
            if way not in _FONTS and resolve("", name) in names:
                raise DocumentEncrypted(
                    "The book is protected against copying (DRM).",
                    hint="Add a copy that its publisher sells or gives without this protection.",
                )

    def pieces(self) -> Iterator[Piece]:
        """Yield the pieces of all chapters."""
        by_file: dict[str, list[Entry]] = defaultdict(list)
        for entry in self.entries:
            by_file[entry.file].append(entry)
        levels = _Levels()
        for item in self.files:
            if item.name in self.left_out:
                continue
            if item.name not in self.archive:
                self.missing += 1
            elif item.media_type in _PAGES:
                yield from self._file(item.name, by_file[item.name], levels)
            else:
                self.omitted[omissions.PICTURE] += item.media_type.startswith("image/")

    def _file(self, name: str, entries: Sequence[Entry], levels: "_Levels") -> Iterator[Piece]:
        body = LexborHTMLParser(decode(self.archive.read(name))).body
        if body is None or "cover" in _types(body):
            return
        self._prepare(body)
        targets: dict[str, list[Entry]] = defaultdict(list)
        for entry in entries:
            targets[entry.fragment].append(entry)
        walker = Walker(targets={fragment for fragment in targets if fragment})
        begun = targets.pop("", [])
        for piece in walker.pieces(body):
            begun += [entry for own in walker.reached for entry in targets.pop(own, ())]
            walker.reached.clear()
            yield from levels.with_titles(piece, begun)
            begun = []
        self.omitted.update(walker.omitted)

    def _prepare(self, body: LexborNode) -> None:
        """Write the marks of notes in brackets, leave out printed page numbers, count pictures."""
        self.omitted[omissions.PICTURE] += len(body.css("img, svg image"))
        for node in body.css("[epub\\:type], [role]"):
            types = (*_types(node), node.attributes.get("role") or "")
            if {"pagebreak", "doc-pagebreak"} & set(types):
                node.decompose()
            elif {"noteref", "doc-noteref"} & set(types):
                mark = " ".join(node.text().split()).strip("[]()")
                node.replace_with(f"[{mark}]")

    def note(self) -> str:
        """Return what the user should know."""
        notes = []
        layouts = (
            (row.text or "").strip()
            for row in parts(child(self.package, "metadata"), "meta")
            if attribute(row, "property") == "rendition:layout"
        )
        if "pre-paginated" in layouts:
            notes.append(
                "This book fixes where its words stand on pages, and is read without its layout."
            )
        if self.missing:
            notes.append(f"Files that this book names, and that it does not have: {self.missing}.")
        return " ".join((*notes, omissions.note_of(self.omitted))).strip()


class _Levels:
    """Gives headings the levels of the navigation, whose chapters are often files of their own."""

    def __init__(self) -> None:
        self._level = self._shift = 0  # of the chapter; of the headings in it

    def with_titles(self, piece: Piece, entries: Sequence[Entry]) -> Iterator[Piece]:
        """Yield the piece at which entries of the navigation begin, below titles it lacks."""
        level, text, html = piece
        for entry in entries[:-1]:
            yield _heading(entry.level, entry.title)
        if not entries:
            if level:
                level = max(level + self._shift, self._level + 1)
            yield min(level, _LOWEST), text, html
            return
        entry = entries[-1]
        self._level, self._shift = entry.level, entry.level - level if level else 0
        if level or key_of(text) == key_of(entry.title):
            yield _heading(entry.level, text)
        else:
            yield _heading(entry.level, entry.title)
            yield piece


def _heading(level: int, title: str) -> Piece:
    return level, title, f"<h{level}>{escape(title)}</h{level}>"


def _types(node: LexborNode) -> list[str]:
    return (node.attributes.get("epub:type") or "").split()


def decode(data: bytes) -> str:
    """Return a file of XHTML as text that a parser of HTML reads alike."""
    declared = _ENCODING.match(data)
    encoding = declared[1].decode() if declared else "utf-8"
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "utf-16"
    try:
        text = data.decode(encoding, errors="replace")
    except LookupError:
        text = data.decode(errors="replace")
    for prefix in {declared[1] for declared in _PREFIX.finditer(text)}:
        text = re.sub(rf"(</?){re.escape(prefix)}:", r"\1", text)
    return _EMPTY.sub(r"<\1\2></\1>", text.removeprefix("\ufeff"))

"""A document that is a ZIP archive of XML files: its parts, within limits. Nothing is unpacked."""

import posixpath
import zlib
from collections.abc import Iterator, Mapping
from typing import IO, Final, NamedTuple
from urllib.parse import unquote
from xml.etree.ElementTree import Element
from zipfile import BadZipFile, ZipFile

from defusedxml.ElementTree import ParseError, fromstring, iterparse

from citations.errors import DocumentBroken, DocumentEncrypted, DocumentTooLarge

MAX_PART: Final = 400_000_000  # bytes of a part
MAX_TOTAL: Final = 500_000_000  # bytes of all that is read of an archive
_DAMAGED: Final = (BadZipFile, zlib.error, EOFError, OSError, NotImplementedError)
_MALFORMED: Final = (ParseError, ValueError, LookupError)  # defusedxml raises ValueError


class Relation(NamedTuple):
    """What a part refers to: the last word of the relation's type, and the part's name.

    The name is empty where the relation leads out of the archive.
    """

    kind: str
    part: str


class Package:
    """The parts of an archive by name. Reading them raises ``DocumentBroken`` for what is damaged,
    ``DocumentEncrypted``, and ``DocumentTooLarge`` for more bytes than ``MAX_TOTAL``.
    """

    def __init__(self, file: IO[bytes]) -> None:
        try:
            self._zip = ZipFile(file)
        except (*_DAMAGED, ValueError) as error:
            raise DocumentBroken("The archive that the file is cannot be opened.") from error
        self._left = MAX_TOTAL
        self.names = {info.filename: info for info in self._zip.infolist()}

    def __contains__(self, name: str) -> bool:
        return name in self.names

    def read(self, name: str) -> bytes:
        """Return the bytes of a part."""
        with self._open(name) as part:
            try:
                return part.read()
            except _DAMAGED as error:
                raise _damaged(name) from error

    def xml(self, name: str) -> Element:
        """Return the root of a part in XML."""
        try:
            root: Element = fromstring(self.read(name))
        except _MALFORMED as error:
            raise _damaged(name) from error
        return root

    def optional_xml(self, name: str) -> Element:
        """Return the root of a part in XML; an empty one if there is none, or it is damaged."""
        try:
            return self.xml(name) if name in self else Element("missing")
        except DocumentBroken:
            return Element("missing")

    def children(self, name: str, *path: str) -> Iterator[Element]:
        """Yield what stands within the first element at a path of a part, such as ``document``,
        ``body``. Each is gone when the next is read, so that long parts take little memory.
        """
        with self._open(name) as part:
            try:
                yield from _within(part, path)
            except (*_MALFORMED, *_DAMAGED) as error:
                raise _damaged(name) from error

    def relations(self, name: str) -> Mapping[str, Relation]:
        """Return what a part refers to, by id, in the form of Open Packaging Conventions."""
        folder, base = posixpath.split(name)
        rows = self.optional_xml(posixpath.join(folder, "_rels", f"{base}.rels"))
        return {
            row.get("Id", ""): Relation(
                row.get("Type", "").rpartition("/")[2],
                "" if row.get("TargetMode") == "External" else resolve(name, row.get("Target", "")),
            )
            for row in rows
        }

    def related(self, name: str, kind: str) -> str:
        """Return the first part of a kind that a part refers to, "" if there is none."""
        parts = (part for own, part in self.relations(name).values() if own == kind)
        return next((part for part in parts if part in self), "")

    def _open(self, name: str) -> IO[bytes]:
        info = self.names.get(name)
        if info is None:
            raise DocumentBroken(f"A part of the file is missing: {name[:100]}.")
        if info.flag_bits & 1:
            raise DocumentEncrypted("The file opens only with a password.")
        self._left -= info.file_size  # no more can be read of it, whatever is packed
        if info.file_size > MAX_PART or self._left < 0:
            raise DocumentTooLarge(f"Unpacked, it has more than {MAX_TOTAL:,} bytes.")
        try:
            return self._zip.open(info)
        except _DAMAGED as error:
            raise _damaged(name) from error


def _within(part: IO[bytes], path: tuple[str, ...]) -> Iterator[Element]:
    open_elements: list[Element] = []
    for event, element in iterparse(part, events=("start", "end")):
        if event == "start":
            open_elements.append(element)
            continue
        open_elements.pop()
        if len(open_elements) == len(path) and path == tuple(
            local(part.tag) for part in open_elements
        ):
            yield element
            open_elements[-1].remove(element)


def _damaged(name: str) -> DocumentBroken:
    return DocumentBroken(f"A part of the file is damaged: {name[:100]}.")


def resolve(name: str, target: str) -> str:
    """Return the name of the part that a part's link leads to, without its fragment.

    >>> resolve("ppt/slides/slide1.xml", "../media/a%20b.png#x"), resolve("a/b.xml", "/c.xml")
    ('ppt/media/a b.png', 'c.xml')
    """
    path = unquote(target.partition("#")[0])
    return posixpath.normpath(posixpath.join("/", posixpath.dirname(name), path)).lstrip("/")


def local(tag: object) -> str:
    """Return a tag or the name of an attribute without its namespace; "" of a comment."""
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def attribute(element: Element | None, name: str, default: str = "") -> str:
    """Return an attribute by its name without namespace."""
    if element is not None:
        for key, value in element.attrib.items():
            if key == name or key.endswith("}" + name):
                return value
    return default


def parts(element: Element | None, name: str = "") -> Iterator[Element]:
    """Yield the elements directly within one; with a name, those that have it."""
    for part in element if element is not None else ():
        if not name or local(part.tag) == name:
            yield part


def child(element: Element | None, *path: str) -> Element | None:
    """Return the first element at a path of names without namespaces."""
    for name in path:
        element = next(parts(element, name), None)
    return element


def descendants(element: Element, *names: str) -> Iterator[Element]:
    """Yield the elements within one, at any depth, that have one of these names."""
    return (part for part in element.iter() if local(part.tag) in names)

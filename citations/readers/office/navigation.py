"""The navigation of a book (EPUB): its chapters' titles, and where in which file they begin."""

from collections.abc import Iterator
from typing import Final, NamedTuple
from xml.etree.ElementTree import Element

from selectolax.lexbor import LexborHTMLParser, LexborNode

from citations.readers.office.archive import attribute, child, parts, resolve

MAX_ENTRIES: Final = 5_000
DEEPEST: Final = 6


class Entry(NamedTuple):
    """An entry; level from 1. It leads to the beginning of a file if it has no fragment."""

    level: int
    title: str
    file: str
    fragment: str


def of_nav(html: str, name: str) -> list[Entry]:
    """Return the entries of a navigation document (EPUB 3) with this name in the archive."""
    tree = LexborHTMLParser(html)
    navs = tree.css("nav")
    nav = next((element for element in navs if "toc" in _types(element)), None)
    entries = _links(nav, name) if nav else iter(())
    return [entry for entry, _ in zip(entries, range(MAX_ENTRIES), strict=False)]


def landmarks(html: str, name: str, *types: str) -> set[str]:
    """Return the files that a navigation document calls by one of these types, such as “cover”."""
    return {
        resolve(name, link.attributes.get("href") or "")
        for link in LexborHTMLParser(html).css("nav a[href]")
        if set(types) & set(_types(link))
    }


def of_ncx(root: Element, name: str) -> list[Entry]:
    """Return the entries of an NCX (EPUB 2) with this name in the archive."""
    entries = _points(child(root, "navMap"), name, 1)
    return [entry for entry, _ in zip(entries, range(MAX_ENTRIES), strict=False)]


def _types(node: LexborNode) -> list[str]:
    return (node.attributes.get("epub:type") or "").split()


def _links(nav: LexborNode, name: str) -> Iterator[Entry]:
    for link in nav.css("a[href]"):
        title = " ".join(link.text().split())
        if title:
            yield _entry(_depth(link, nav), title, name, link.attributes.get("href") or "")


def _depth(link: LexborNode, nav: LexborNode) -> int:
    depth, node = 0, link.parent
    while node is not None and node.mem_id != nav.mem_id and depth < DEEPEST:
        depth += node.tag == "ol"
        node = node.parent
    return max(1, depth)


def _points(above: Element | None, name: str, level: int) -> Iterator[Entry]:
    for point in parts(above, "navPoint"):
        label = child(point, "navLabel", "text")
        title = " ".join((label.text or "").split()) if label is not None else ""
        if title:
            yield _entry(level, title, name, attribute(child(point, "content"), "src"))
        if level < DEEPEST:
            yield from _points(point, name, level + 1)


def _entry(level: int, title: str, name: str, target: str) -> Entry:
    return Entry(level, title, resolve(name, target), target.partition("#")[2])

"""Text documents of OpenDocument (ODT, ISO/IEC 26300) as HTML: their text as it is once all tracked
changes are accepted. Headers, footers and tables of contents are not read, comments are counted.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from html import escape
from typing import Final
from xml.etree.ElementTree import Element, tostring

from citations.errors import DocumentEncrypted
from citations.readers import omissions
from citations.readers.markup.item_numbers import written
from citations.readers.markup.walker import Piece, pieces_of
from citations.readers.office.archive import (
    Package,
    attribute,
    child,
    descendants,
    local,
    parts,
    resolve,
)
from citations.readers.office.blocks import Blocks

_PROPERTIES: Final = {  # the last one that is there tells a fact
    "title": "title",
    "creator": "author",
    "initial-creator": "author",
    "language": "language",
    "creation-date": "published",
    "date": "published",
}
_CONTENT: Final = "content.xml"
_LOWEST: Final = 6  # level of a heading
_MAX_SPACES: Final = 100
_ALONE: Final = re.compile(r"(?s)\A\s*(<math)((?:(?!<math).)*</math>)\s*\Z")  # in a paragraph
_HIDDEN: Final = "hidden"  # in place of a tag
_TAGS: Final = {"bold": "strong", "italic": "em", "super": "sup", "sub": "sub"}


def read(archive: Package) -> tuple[dict[str, str], Iterator[Piece]]:
    """Return a document's facts, and its pieces. Raises ``DocumentEncrypted``."""
    manifest = archive.optional_xml("META-INF/manifest.xml")
    if next(descendants(manifest, "encryption-data"), None) is not None:
        raise DocumentEncrypted("The file opens only with a password.")
    document = _Document(archive)
    pieces = [*pieces_of(document.segments(), document.omitted)]
    facts = _facts(archive)
    facts["title"] = facts.get("title") or document.title
    return {**facts, "note": omissions.note_of(document.omitted)}, iter(pieces)


def _facts(archive: Package) -> dict[str, str]:
    rows = parts(child(archive.optional_xml("meta.xml"), "meta"))
    said = {local(row.tag): (row.text or "").strip() for row in rows}
    return {fact: said[name] for name, fact in _PROPERTIES.items() if said.get(name)}


@dataclass(slots=True)
class _Styles:
    """What the styles say of paragraphs, words, lists and headings, by their names."""

    parents: dict[str, str] = field(default_factory=dict)
    tags: dict[str, list[str]] = field(default_factory=dict)
    numbers: dict[tuple[str, int], str] = field(default_factory=dict)  # formats, by list and level
    headings: dict[int, tuple[str, int]] = field(default_factory=dict)  # format, levels shown

    def add(self, root: Element | None) -> None:
        for style in parts(root):
            name = attribute(style, "name")
            if local(style.tag) == "style":
                self.parents[name] = attribute(style, "parent-style-name")
                self.tags[name] = _tags(child(style, "text-properties"))
            elif local(style.tag) in ("list-style", "outline-style"):
                self._add_levels(style, name)

    def _add_levels(self, style: Element, name: str) -> None:
        for row in style:
            level, format = attribute(row, "level"), attribute(row, "num-format")
            if not level.isdigit() or not format:
                continue
            if local(style.tag) == "outline-style":
                shown = attribute(row, "display-levels", "1")
                self.headings[int(level)] = format, int(shown) if shown.isdigit() else 1
            elif local(row.tag) == "list-level-style-number":
                self.numbers[name, int(level)] = format

    def is_title(self, name: str) -> bool:
        return "Title" in (name, self.parents.get(name))


def _tags(properties: Element | None) -> list[str]:
    if attribute(properties, "display") == "none":
        return [_HIDDEN]
    position = attribute(properties, "text-position").partition(" ")[0]
    said = (attribute(properties, "font-weight"), attribute(properties, "font-style"), position)
    struck = attribute(properties, "text-line-through-style", "none") != "none"
    return [*(_TAGS[value] for value in said if value in _TAGS), *(["s"] if struck else [])]


@dataclass(slots=True)
class _Document:
    archive: Package
    omitted: Counter[str] = field(default_factory=Counter)
    title: str = ""
    _blocks: Blocks = field(default_factory=Blocks)
    _styles: _Styles = field(default_factory=_Styles)
    _counts: dict[int, int] = field(default_factory=dict)  # of headings, by level
    _lists: list[str] = field(default_factory=list)  # the styles of the open lists
    _items: list[int] = field(default_factory=list)  # the numbers of their last items
    _last_items: dict[str, int] = field(default_factory=dict)  # of lists that ended, by style
    _is_new_item: bool = False
    _after: list[str] = field(default_factory=list)  # what is set below the open block

    def segments(self) -> Iterator[str]:
        """Yield the HTML of the text."""
        styles = self.archive.optional_xml("styles.xml")
        self._styles.add(child(styles, "styles"))
        for style in self.archive.children(_CONTENT, "document-content", "automatic-styles"):
            self._styles.add(_only(style))
        for element in self.archive.children(_CONTENT, "document-content", "body", "text"):
            self._add(element)
            for html in self._after:
                self._blocks.add(html)
            self._after.clear()
            yield from self._blocks.take_full()
        yield self._blocks.take()

    # Blocks

    def _add(self, element: Element) -> None:
        if add := _BLOCKS.get(local(element.tag)):
            add(self, element)

    def _add_each(self, elements: Iterable[Element]) -> None:
        for part in elements:
            self._add(part)

    def _add_section(self, element: Element) -> None:
        if attribute(element, "display") != "none":
            self._add_each(element)

    def _add_heading(self, element: Element) -> None:
        level = attribute(element, "outline-level", "1")
        depth = min(int(level), 10) if level.isdigit() else 1
        tag = f"h{min(max(depth, 1), _LOWEST)}"
        self._blocks.add(f"<{tag}>{self._heading_number(depth)} {self._inside(element)}</{tag}>")

    def _heading_number(self, level: int) -> str:
        """Count a heading; return its number, "" if its level has none."""
        self._counts = {own: count for own, count in self._counts.items() if own <= level}
        self._counts[level] = self._counts.get(level, 0) + 1
        format, shown = self._styles.headings.get(level, ("", 0))
        numbers = (
            written(self._counts.get(own, 1), self._styles.headings.get(own, ("", 0))[0])
            for own in range(max(1, level - shown + 1), level + 1)
        )
        return ".".join(numbers) if format else ""

    def _add_paragraph(self, element: Element) -> None:
        inner = _ALONE.sub(r'\1 display="block"\2', self._inside(element))
        if self._styles.is_title(attribute(element, "style-name")):
            self.title = self.title or " ".join(re.sub(r"<[^>]*>", "", inner).split())
            self._blocks.add(f"<h1>{inner}</h1>")
        elif self._lists:
            self._add_item(inner)
        else:
            self._blocks.add(f"<p>{inner}</p>")

    def _add_item(self, inner: str) -> None:
        level = len(self._lists)
        if not self._is_new_item:
            self._blocks.add_below(inner, level - 1)
            return
        self._is_new_item = False
        format = self._styles.numbers.get((self._lists[-1], level), "")
        self._blocks.add_item(inner, level - 1, self._items[-1] if format else 0, format)

    def _add_list(self, element: Element) -> None:
        above = self._lists[-1] if self._lists else ""
        self._lists.append(attribute(element, "style-name") or above)
        start = attribute(next(parts(element, "list-item"), None), "start-value")
        goes_on = attribute(element, "continue-numbering") == "true"
        goes_on = goes_on or bool(attribute(element, "continue-list"))
        before = self._last_items.get(self._lists[-1], 0) if goes_on else 0
        self._items.append(int(start) - 1 if start.isdigit() and len(start) < 6 else before)
        for item in element:
            self._items[-1] += local(item.tag) == "list-item"
            self._is_new_item = True
            self._add_each(item)
        self._is_new_item = False
        self._last_items[self._lists.pop()] = self._items.pop()

    def _add_table(self, element: Element) -> None:
        outer, self._lists = self._lists, []
        html = "".join(self._rows(element, "td"))
        self._lists = outer
        self._blocks.add(f"<table>{html}</table>")

    def _rows(self, element: Element, tag: str) -> Iterator[str]:
        for part in element:
            name = local(part.tag)
            if name == "table-row":
                cells = parts(part, "table-cell")
                yield f"<tr>{''.join(self._cell(cell, tag) for cell in cells)}</tr>"
            elif name in ("table-header-rows", "table-rows", "table-row-group"):
                yield from self._rows(part, "th" if name == "table-header-rows" else tag)

    def _cell(self, cell: Element, tag: str) -> str:
        span = attribute(cell, "number-columns-spanned")
        columns = f' colspan="{span}"' if span.isdigit() and span != "1" else ""
        return f"<{tag}{columns}>{self._within(cell)}</{tag}>"

    def _within(self, elements: Iterable[Element]) -> str:
        """Return the blocks within an element as HTML."""
        outer, self._blocks = self._blocks, Blocks()
        self._add_each(elements)
        inner, self._blocks = self._blocks.take(), outer
        return inner

    # Text

    def _inside(self, element: Element) -> str:
        """Return the text of an element, and what stands within it, as HTML."""
        texts = [escape(element.text or "")]
        for part in element:
            convert = _TEXTS.get(local(part.tag), _Document._inside)
            texts += (convert(self, part), escape(part.tail or ""))
        return "".join(texts)

    def _span(self, element: Element) -> str:
        tags = self._styles.tags.get(attribute(element, "style-name"), ())
        if _HIDDEN in tags or attribute(element, "is-hidden") == "true":
            self.omitted[omissions.HIDDEN] += 1
            return ""
        inner = self._inside(element)
        for tag in tags:
            inner = f"<{tag}>{inner}</{tag}>" if inner.strip() else inner
        return inner

    def _spaces(self, element: Element) -> str:
        count = attribute(element, "c", "1")
        return " " * min(int(count) if count.isdigit() else 1, _MAX_SPACES)

    def _note(self, element: Element) -> str:
        """Return the mark of a note, which is set below the block."""
        citation = child(element, "note-citation")
        mark = f"[{self._inside(citation).strip() if citation is not None else '*'}]"
        outer, self._lists = self._lists, []
        inner = self._within(parts(child(element, "note-body"))).removeprefix("<p>")
        self._lists = outer
        self._after.append(f"<p>{mark} {inner}")
        return mark

    def _comment(self, _: Element) -> str:
        self.omitted[omissions.COMMENT] += 1
        return ""

    # Drawings

    def _add_frame(self, element: Element) -> None:
        if inner := self._frame(element):
            self._blocks.add(f"<p>{inner}</p>")

    def _frame(self, element: Element) -> str:
        """Return an equation or a picture's description; boxes of text are set below the block."""
        for part in element:
            name = local(part.tag)
            if name == "text-box":
                self._after.append(self._within(part))
            elif name in ("object", "object-ole"):
                return self._object(part)
            elif name == "image":
                self.omitted[omissions.PICTURE] += 1
                described = child(element, "desc")
                described = described if described is not None else child(element, "title")
                text = (described.text or "") if described is not None else ""
                return f'<img alt="{escape(text)}">' if text else ""
        return ""

    def _shape(self, element: Element) -> str:
        self._after.append(self._within(element))
        return ""

    def _object(self, element: Element) -> str:
        """Return an equation; count anything else."""
        name = f"{resolve(_CONTENT, attribute(element, 'href'))}/{_CONTENT}"
        root = child(element, "math")
        root = root if root is not None else self.archive.optional_xml(name)
        if local(root.tag) == "math":
            for part in root.iter():
                part.tag = local(part.tag)
                part.attrib = {local(name): value for name, value in part.attrib.items()}
            root.attrib.pop("display", None)  # a program sets "block" within lines, too
            return tostring(root, encoding="unicode")
        is_chart = next(descendants(root, "chart"), None) is not None
        self.omitted[omissions.CHART if is_chart else omissions.EMBEDDED] += 1
        return ""


def _only(style: Element) -> Element:
    """Return an element with nothing but a style."""
    styles = Element("styles")
    styles.append(style)
    return styles


_SHAPES: Final = ("custom-shape", "rect", "ellipse", "circle", "polygon", "path", "g")
_BLOCKS: Final[dict[str, Callable[[_Document, Element], None]]] = {
    "h": _Document._add_heading,
    "p": _Document._add_paragraph,
    "list": _Document._add_list,
    "table": _Document._add_table,
    "section": _Document._add_section,
    "frame": _Document._add_frame,
    **dict.fromkeys(("numbered-paragraph", "bibliography", "index-body"), _Document._add_each),
    **dict.fromkeys(_SHAPES, _Document._add_each),
}
_TEXTS: Final[dict[str, Callable[[_Document, Element], str]]] = {  # of others, what is in them
    **dict.fromkeys(("span", "hidden-text"), _Document._span),
    "s": _Document._spaces,
    "tab": lambda *_: " ",
    "line-break": lambda *_: "<br>",
    "note": _Document._note,
    "annotation": _Document._comment,
    "frame": _Document._frame,
    **dict.fromkeys(_SHAPES, _Document._shape),
    **dict.fromkeys(("ruby-text", "page-number", "page-count"), lambda *_: ""),
}

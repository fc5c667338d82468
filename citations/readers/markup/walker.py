"""Walks HTML: its headings, paragraphs, lists, tables and code as pieces, without navigation."""

import html
import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from selectolax.lexbor import LexborHTMLParser, LexborNode

from citations.readers import omissions
from citations.readers.markup import formulas, item_numbers, raised

Piece = tuple[int, str, str]  # level (1–6 of a heading, else 0), text, HTML

_HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
_DROPPED_NAMES = (
    "script style nav noscript template svg iframe object embed canvas audio video head "
    "button select textarea input dialog menu rp rt"
)
_BLOCK_NAMES = (
    "address article aside blockquote body caption center dd details div dl dt fieldset figcaption "
    "figure footer form header hgroup hr html li main ol p pre section summary table tbody td "
    "tfoot th thead tr ul"
)
_DROPPED = frozenset(_DROPPED_NAMES.split())
_BLOCKS = _HEADINGS | frozenset(_BLOCK_NAMES.split())
_DROPPED_ROLES = frozenset(("navigation", "menu", "menubar", "search"))
_MAX_INDENT = 9
_HIDING = ("display:none", "visibility:hidden")
_STRUCK = frozenset(("del", "s", "strike"))
_FILE_NAME = re.compile(r"\S+\.(?:png|jpe?g|gif|svg|webp|bmp|tiff?|[ew]mf)", re.IGNORECASE)
_LEAST_HIDDEN = 20  # characters; fewer are the name of an icon or of a button
_INLINE_NAMES = "b cite code em i kbd q strong"
_INLINE = frozenset(_INLINE_NAMES.split())
_MAX_INLINE = 8  # elements within one another
_MAX_MARKUP = 6  # characters of HTML per character of text; more is not kept
_MAX_PIECE = 2_400  # characters of a list or table, after which its rest is another piece


def pieces_of(segments: Iterable[str], omitted: Counter[str]) -> Iterator[Piece]:
    """Yield the pieces of HTML without heads; count in ``omitted`` what they leave out."""
    for segment in segments:
        if body := LexborHTMLParser(segment).body:
            yield from Walker(omitted=omitted).pieces(body)


@dataclass(slots=True)
class _List:
    """An open list: the number of its next item, -1 for bullets, and how it is written."""

    next: int
    type: str = "1"

    @property
    def tag(self) -> str:
        kind = "" if self.type == "1" else f' type="{self.type}"'
        return "<ul>" if self.next < 0 else f'<ol start="{self.next}"{kind}>'

    def marker(self) -> str:
        """Count an item, and return what stands before it."""
        if self.next < 0:
            return "• "
        self.next += 1
        return f"{item_numbers.written(self.next - 1, self.type)}. "


@dataclass(slots=True)
class Walker:
    """Walks a tree in order, without recursion, as elements may be nested a million deep.

    What has ``html`` in its name is the same in HTML; ``html_lines`` has the tags of lists, too.
    """

    parts: list[str] = field(default_factory=list)  # of the open paragraph, item or cell
    html_parts: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)  # of the open list or table
    html_lines: list[str] = field(default_factory=list)
    row: list[str] = field(default_factory=list)
    html_row: list[str] = field(default_factory=list)
    lists: list[_List] = field(default_factory=list)
    tables: int = 0
    verbatim: int = 0
    quotes: int = 0
    inline: int = 0
    omitted: Counter[str] = field(default_factory=Counter)
    scripts: list[tuple[int, int, bool]] = field(default_factory=list)  # where they begin in parts
    marker: str = ""
    targets: Container[str] = ()  # ids of elements that are looked out for
    reached: list[str] = field(default_factory=list)  # of these, since it was last emptied

    def pieces(self, root: LexborNode) -> Iterator[Piece]:
        for node, enters in nodes(root, self.omitted):
            tag = str(node.tag)
            if tag == "-text":
                self._add_text(node.text_content or "")
            elif tag in ("br", "img") or formulas.is_formula(node):
                self._add_leaf(node, tag, enters)
            elif tag in ("sub", "sup"):
                self._add_script(node, tag, enters)
            elif tag in _INLINE:
                self._add_inline(tag, enters)
            elif tag in _BLOCKS:
                yield from self._enter(node, tag) if enters else self._leave(tag)
            self._reach(node, enters)
        yield from self._end_paragraph(0)
        yield from self._flush()

    def _reach(self, node: LexborNode, enters: bool) -> None:
        if enters and self.targets and node.is_element_node:
            name = node.attributes.get("id")
            if name and name in self.targets:
                self.reached.append(name)

    def _add_leaf(self, node: LexborNode, tag: str, enters: bool) -> None:
        if not enters:
            return
        if formulas.is_formula(node):
            self._add_formula(formulas.source_of(node))
        elif tag == "img":
            alt = node.attributes.get("alt") or ""
            self._add_text(" " if _FILE_NAME.fullmatch(alt) else f" {alt} ")
        else:
            self.parts.append("\n" if self.verbatim else "\0")
            self.html_parts.append("\n" if self.verbatim else "<br>")

    def _add_text(self, text: str) -> None:
        self.parts.append(text)
        self.html_parts.append(html.escape(text))

    def _add_formula(self, formula: formulas.Formula) -> None:
        """Add a formula in a line or several; in HTML, <var> says that it is TeX."""
        source = formula.source
        self.omitted[omissions.INCOMPLETE] += bool(formula.unknown)
        self.parts.append(source.replace("\n", "\0"))
        markup = html.escape(source).replace("\n", "<br>")
        self.html_parts.append(f"<var>{markup}</var>" if formula.is_tex and source else markup)

    def _add_inline(self, tag: str, enters: bool) -> None:
        self.inline += 1 if enters else -1
        if self.inline + (not enters) > _MAX_INLINE:
            return
        self.html_parts.append(f"<{tag}>" if enters else f"</{tag}>")

    def _add_script(self, node: LexborNode, tag: str, enters: bool) -> None:
        """Write a script, once it has ended, so that it is told from what stands before it."""
        is_deep = len(self.scripts) >= _MAX_INLINE + (not enters)
        if enters:
            is_note = not is_deep and raised.is_note(node)
            self.scripts.append((len(self.parts), len(self.html_parts), is_note))
            return
        first, html_first, is_note = self.scripts.pop()
        if is_deep:
            return
        script = "".join(self.parts[first:])
        base = "".join(self.parts[max(0, first - 3) : first])
        text = raised.written(base, script, is_raised=tag == "sup", is_note=is_note)
        if text != script:
            self.parts[first:] = [text]
            self.html_parts[html_first:] = [html.escape(text)]

    def _enter(self, node: LexborNode, tag: str) -> Iterator[Piece]:
        if tag not in ("td", "th", "tr"):
            yield from self._end_paragraph(0)
        if tag == "table":
            self.tables += 1
            self.html_lines += ["<table>"] if self.tables == 1 else []
        elif tag == "tr" and (caption := self._take_text()):
            self.lines.append(caption)
            self.html_lines.append(f"<caption>{self._take_html()}</caption>")
        elif tag in ("ul", "ol"):
            self.lists.append(_List(-1) if tag == "ul" else _numbered(node))
            self._open_list()
        elif tag == "li":
            self._enter_item()
        elif tag == "pre":
            self.verbatim += 1
        elif tag == "blockquote":
            self.quotes += 1

    def _open_list(self) -> None:
        if not self.tables and len(self.lists) <= _MAX_INDENT:
            self.html_lines.append(self.lists[-1].tag)

    def _close_list(self) -> None:
        if not self.tables and len(self.lists) <= _MAX_INDENT:
            self.html_lines.append("</ul>" if self.lists[-1].next < 0 else "</ol>")

    def _enter_item(self) -> None:
        self.marker = self.lists[-1].marker() if self.lists else "• "
        if self.lists and not self.tables:
            self.html_lines.append("<li>")

    def _leave(self, tag: str) -> Iterator[Piece]:
        if tag in ("td", "th"):
            self.row.append(" ".join(self._take_text().split()))
            self.html_row.append(f"<{tag}>{self._take_html()}</{tag}>")
            return
        yield from self._end_paragraph(int(tag[1]) if tag in _HEADINGS else 0)
        if tag == "tr":
            yield from self._leave_row()
        elif tag == "table":
            self.tables -= 1
            self.html_lines += ["</table>"] if not self.tables else []
        elif tag in ("ul", "ol") and self.lists:
            self._close_list()
            self.lists.pop()
        elif tag == "li" and self.lists:
            yield from self._leave_item()
        self.verbatim -= tag == "pre"
        self.quotes -= tag == "blockquote"
        if tag in ("table", "ul", "ol") and not self.lists and not self.tables:
            yield from self._flush()

    def _leave_row(self) -> Iterator[Piece]:
        if any(self.row):
            self.lines.append(" | ".join(self.row))
            self.html_lines.append(f"<tr>{''.join(self.html_row)}</tr>")
        self.row, self.html_row = [], []
        if self.tables == 1 and not self.lists and self._is_long():
            self.html_lines.append("</table>")
            yield from self._flush()
            self.html_lines.append("<table>")

    def _leave_item(self) -> Iterator[Piece]:
        if not self.tables:
            self.html_lines.append("</li>")
        if len(self.lists) == 1 and not self.tables and self._is_long():
            self._close_list()
            yield from self._flush()
            self._open_list()

    def _is_long(self) -> bool:
        return sum(map(len, self.lines)) > _MAX_PIECE

    def _end_paragraph(self, level: int) -> Iterator[Piece]:
        """Add the paragraph to the open table or list, or yield it."""
        text, markup = self._take_text(), self._take_html()
        if not text.strip():
            return
        if self.tables:
            self.parts, self.html_parts = [text, " "], [markup, " "]  # a paragraph in a cell
        elif self.lists:
            indent = "  " * min(len(self.lists) - 1, _MAX_INDENT)
            first, *others = text.split("\n")
            self.lines += (indent + self.marker + first, *(indent + line for line in others))
            self.html_lines.append(self._element(markup, 0))
            self.marker = ""
        else:
            yield self._piece(level, text, self._element(markup, level))

    def _element(self, markup: str, level: int) -> str:
        tag = "pre" if self.verbatim else f"h{level}" if level else "p"
        element = f"<{tag}>{markup}</{tag}>"
        return f"<blockquote>{element}</blockquote>" if self.quotes > 0 else element

    def _take_html(self) -> str:
        markup = "".join(self.html_parts)
        self.html_parts = []
        return markup.strip("\n") if self.verbatim else markup.strip()

    def _take_text(self) -> str:
        text = "".join(self.parts)
        self.parts = []
        if self.verbatim:
            return text.strip("\n").rstrip()
        return "\n".join(" ".join(line.split()) for line in text.split("\0")).strip()

    def _flush(self) -> Iterator[Piece]:
        if self.lines:
            yield self._piece(0, "\n".join(self.lines), "".join(self.html_lines))
        self.lines, self.html_lines = [], []

    def _piece(self, level: int, text: str, markup: str) -> Piece:
        is_kept = len(markup) <= _MAX_MARKUP * len(text) + 1_000
        return level, text, markup if is_kept else ""


def _numbered(node: LexborNode) -> _List:
    start, kind = (str(node.attributes.get(name) or "1") for name in ("start", "type"))
    is_number = start.isascii() and start.isdigit() and len(start) < 7
    return _List(int(start) if is_number else 1, kind if kind in ("a", "A", "i", "I") else "1")


def nodes(
    root: LexborNode, omitted: Counter[str] | None = None
) -> Iterator[tuple[LexborNode, bool]]:
    """Yield each node that has text as it begins (True), each element as it ends (False).

    ``omitted`` counts texts that the page hides, and those that are struck out.
    """
    path: list[LexborNode] = []
    node = root.child
    while node is not None or path:
        if node is None:
            node = path.pop()
            yield node, False
            node = node.next
        elif (reason := _dropped(node)) is not None:
            if omitted is not None and reason and _has_words(node, reason):
                omitted[reason] += 1
            node = node.next
        else:
            yield node, True
            if node.is_element_node and node.child and not formulas.is_formula(node):
                path.append(node)
                node = node.child
            else:
                if node.is_element_node:
                    yield node, False
                node = node.next


def _dropped(node: LexborNode) -> str | None:
    """Return the kind of omission of a node that is left out, "" if it is no text of the page; None
    for one that is read.
    """
    if not node.is_element_node:
        return None if node.is_text_node else ""
    if formulas.is_formula(node):
        return None
    attributes: Any = node.attributes
    style = (attributes.get("style") or "").replace(" ", "").lower()
    if (
        node.tag in _DROPPED
        or attributes.get("aria-hidden") == "true"
        or attributes.get("role") in _DROPPED_ROLES
    ):
        return ""
    if "hidden" in attributes or any(way in style for way in _HIDING):
        return omissions.HIDDEN
    return omissions.STRUCK if node.tag in _STRUCK or "line-through" in style else None


def _has_words(node: LexborNode, reason: str) -> bool:
    least = _LEAST_HIDDEN if reason == omissions.HIDDEN else 1
    return len(node.text().strip()) >= least

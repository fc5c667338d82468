"""Word documents (DOCX, ECMA-376 part 1, 17) as HTML: their text as it is once all tracked changes
are accepted. Headers, footers and printed tables of contents are not read, comments are counted.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from html import escape
from typing import Final
from xml.etree.ElementTree import Element

from citations.readers import omissions
from citations.readers.markup.item_numbers import written
from citations.readers.markup.walker import Piece, pieces_of
from citations.readers.office import equations, packaging
from citations.readers.office.archive import Package, attribute, child, descendants, local, parts
from citations.readers.office.blocks import Blocks
from citations.readers.office.numbering import Numbering
from citations.readers.office.styles import (
    ParagraphStyle,
    list_of,
    outline_level,
    read_styles,
    undefined,
)

_PLAIN_NUMBER: Final = re.compile(r"(\d{1,6})[.)]?")
_OFF: Final = ("0", "false", "none")
_EQUATION_EDITORS: Final = ("Equation", "MathType")
_MARKS: Final = {"b": "strong", "i": "em", "strike": "s", "dstrike": "s"}
_SIGNS: Final[dict[str, dict[int, str]]] = {  # of fonts' own that documents use, by their codes
    "Symbol": dict(
        zip(
            (*range(0x41, 0x5B), *range(0x61, 0x7B), *b"\xa3\xa5\xae\xb0\xb1\xb3\xb4\xb7\xb9\xbb"),
            "ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖαβχδεφγηιϕκλμνοπθρστυϖωξψζ≤∞→°±≥×•≠≈",
            strict=True,
        )
    ),
    "Wingdings": dict(zip(b"\x6c\x6f\xa7\xa8\xe0\xfb\xfc\xfd\xfe", "●☐▪☐→✗✓☒☑", strict=True)),
}
_RAISED: Final = {"superscript": "sup", "subscript": "sub"}


def read(archive: Package) -> tuple[dict[str, str], Iterator[Piece]]:
    """Return a document's facts, and its pieces."""
    document = _Document(archive, packaging.main_part(archive))
    pieces = [*pieces_of(document.segments(), document.omitted)]
    facts = packaging.core_facts(archive)
    facts["title"] = facts.get("title") or document.title
    return {**facts, "note": omissions.note_of(document.omitted)}, iter(pieces)


@dataclass(slots=True)
class _Document:
    archive: Package
    part: str
    omitted: Counter[str] = field(default_factory=Counter)
    title: str = ""
    _blocks: Blocks = field(default_factory=Blocks)
    _styles: dict[str, ParagraphStyle] = field(default_factory=dict)
    _numbering: Numbering = field(default_factory=Numbering)
    _notes: dict[tuple[str, str], Element] = field(default_factory=dict)
    _marks: Counter[str] = field(default_factory=Counter)  # of notes, by kind
    _after: list[str] = field(default_factory=list)  # what is set below the open block
    _joined: str = ""  # a paragraph whose end was deleted

    def __post_init__(self) -> None:
        related = {
            kind: self.archive.related(self.part, kind)
            for kind in ("styles", "numbering", "footnotes", "endnotes")
        }
        self._styles = read_styles(self.archive.optional_xml(related["styles"]))
        self._numbering = Numbering.read(self.archive.optional_xml(related["numbering"]))
        for kind in ("footnote", "endnote"):
            for note in self.archive.optional_xml(related[f"{kind}s"]):
                self._notes[kind, attribute(note, "id")] = note

    def segments(self) -> Iterator[str]:
        """Yield the HTML of the body."""
        for element in self.archive.children(self.part, "document", "body"):
            self._add(element)
            for html in self._after:
                self._blocks.add(html)
            self._after.clear()
            yield from self._blocks.take_full()
        yield self._blocks.take()

    # Blocks

    def _add(self, element: Element) -> None:
        add = _BLOCKS.get(local(element.tag))
        if add:
            add(self, element)

    def _add_each(self, element: Element | None) -> None:
        for part in parts(element):
            self._add(part)

    def _add_control(self, element: Element) -> None:
        gallery = child(element, "sdtPr", "docPartObj", "docPartGallery")
        is_empty = child(element, "sdtPr", "showingPlcHdr") is not None  # it says what to enter
        if attribute(gallery, "val") != "Table of Contents" and not is_empty:
            self._add_each(child(element, "sdtContent"))

    def _add_chosen(self, element: Element) -> None:
        self._add_each(packaging.chosen(element))

    def _add_equation(self, element: Element) -> None:
        self._blocks.add(f"<p>{self._equation(element)}</p>")

    def _add_foreign(self, _: Element) -> None:
        self.omitted[omissions.EMBEDDED] += 1

    def _add_paragraph(self, element: Element) -> None:
        properties = child(element, "pPr")
        style_id = attribute(child(properties, "pStyle"), "val")
        style = self._styles.get(style_id) or undefined(style_id)
        if style.is_contents:
            return
        inner, self._joined = self._joined + self._inline(element), ""
        is_initial = attribute(child(properties, "framePr"), "dropCap") in ("drop", "margin")
        if is_initial or child(properties, "rPr", "del") is not None:
            self._joined = inner
            return
        own_level = outline_level(properties)
        level = style.level if own_level is None else own_level
        list_id, list_level = list_of(properties)
        list_id = list_id or style.list_id
        depth = style.list_level if list_level is None else list_level
        label = self._numbering.next_label(list_id, depth)
        if style.is_title:
            self.title = self.title or _plain(inner)
            level = level or 1
        if level:
            self._blocks.add(f"<h{level}>{escape(label)} {inner}</h{level}>")
        elif list_id in self._numbering.lists:
            self._add_item(inner, depth, label)
        else:
            self._blocks.add(f"<p>{inner}</p>")

    def _add_item(self, inner: str, depth: int, label: str) -> None:
        number = _PLAIN_NUMBER.fullmatch(label)
        text = inner if number or not label else f"{escape(label)} {inner}"
        self._blocks.add_item(text, depth, int(number[1]) if number else 0)

    def _add_table(self, element: Element) -> None:
        rows = (row for row in self._rows(element) if child(row, "trPr", "del") is None)
        self._blocks.add(f"<table>{''.join(map(self._row, rows))}</table>")

    def _rows(self, element: Element) -> Iterator[Element]:
        for part in element:
            if local(part.tag) == "tr":
                yield part
            elif local(part.tag) in ("sdt", "sdtContent", "customXml", "ins", "moveTo"):
                yield from self._rows(part)

    def _row(self, row: Element) -> str:
        header = child(row, "trPr", "tblHeader")
        tag = "th" if header is not None and _is_on(header) else "td"
        return f"<tr>{''.join(self._cell(cell, tag) for cell in _cells(row))}</tr>"

    def _cell(self, cell: Element, tag: str) -> str:
        span = attribute(child(cell, "tcPr", "gridSpan"), "val")
        columns = f' colspan="{span}"' if span.isdigit() and span != "1" else ""
        return f"<{tag}{columns}>{self._within(cell)}</{tag}>"

    def _within(self, element: Element) -> str:
        """Return the blocks within an element as HTML."""
        outer, self._blocks = self._blocks, Blocks()
        self._add_each(element)
        inner, self._blocks = self._blocks.take(), outer
        return inner

    # Text

    def _inline(self, elements: Iterable[Element]) -> str:
        return "".join(map(self._text_of, elements))

    def _text_of(self, element: Element) -> str:
        name = local(element.tag)
        if name in _SKIPPED:
            return ""
        convert = _TEXTS.get(name)
        return convert(self, element) if convert else self._inline(element)

    def _run(self, element: Element) -> str:
        properties = child(element, "rPr")
        if properties is None:
            return self._inline(element)
        if any(_is_set(properties, name) for name in ("vanish", "webHidden")):
            self.omitted[omissions.HIDDEN] += 1
            return ""
        inner = self._inline(element)
        raised = _RAISED.get(attribute(child(properties, "vertAlign"), "val"), "")
        tags = [tag for name, tag in _MARKS.items() if _is_set(properties, name)]
        for tag in (*tags, raised) if inner.strip() else ():
            inner = f"<{tag}>{inner}</{tag}>" if tag else inner
        return inner

    def _symbol(self, element: Element) -> str:
        """Return a sign, that of a font's own if it is a known one; others are counted."""
        code = int(attribute(element, "char", "0"), 16)
        if not 0xE000 <= code < 0xF900:
            return escape(chr(code))
        sign = _SIGNS.get(attribute(element, "font"), {}).get(code & 0xFF, "")
        self.omitted[omissions.SIGN] += not sign
        return sign

    def _box(self, element: Element) -> str:
        """Return a box of a form as it is ticked."""
        state = child(element, "checked")
        state = child(element, "default") if state is None else state
        return "☑" if state is not None and _is_on(state) else "☐"

    def _note_mark(self, element: Element) -> str:
        """Return the mark of a note, which is set below the block."""
        kind = local(element.tag).removesuffix("Reference")
        note = self._notes.pop((kind, attribute(element, "id")), None)
        if note is None:
            return ""
        self._marks[kind] += 1
        mark = written(self._marks[kind], "decimal" if kind == "footnote" else "lowerRoman")
        inner = self._within(note).removeprefix("<p>")
        self._after.append(f"<p>[{mark}] {inner}")
        return f"[{mark}]"

    def _comment(self, _: Element) -> str:
        self.omitted[omissions.COMMENT] += 1
        return ""

    def _equation(self, element: Element) -> str:
        return equations.to_mathml(element)

    def _chosen(self, element: Element) -> str:
        return self._inline(parts(packaging.chosen(element)))

    # Drawings

    def _drawing(self, element: Element) -> str:
        """Return the description of a picture; boxes of text are set below the block."""
        about = next(descendants(element, "docPr", "shape"), None)
        described = attribute(about, "descr") or attribute(about, "alt")
        self._look_into(element)
        return f'<img alt="{escape(described)}">' if described else ""

    def _look_into(self, element: Element) -> None:
        name = local(element.tag)
        if name == "txbxContent":
            self._after.append(self._within(element))
        elif name == "AlternateContent":
            if (choice := packaging.chosen(element)) is not None:
                self._look_into(choice)
        elif name == "relIds":
            items = packaging.diagram_items(self.archive, self.part, element)
            self._after.append(f"<ul>{''.join(f'<li>{item}</li>' for item in items)}</ul>")
        elif words := attribute(element, "string") if name == "textpath" else "":
            self._after.append(f"<p>{escape(words)}</p>")
        elif name in _COUNTED:
            self.omitted[_COUNTED[name]] += 1
        else:
            for part in element:
                self._look_into(part)

    def _object(self, element: Element) -> str:
        program = attribute(next(descendants(element, "OLEObject"), None), "ProgID")
        is_equation = program.startswith(_EQUATION_EDITORS)
        self.omitted[omissions.EQUATION if is_equation else omissions.EMBEDDED] += 1
        return ""


_Add = Callable[[_Document, Element], None]
_Convert = Callable[[_Document, Element], str]

_BLOCKS: Final[dict[str, _Add]] = {
    "p": _Document._add_paragraph,
    "tbl": _Document._add_table,
    "sdt": _Document._add_control,
    "AlternateContent": _Document._add_chosen,
    "oMathPara": _Document._add_equation,
    "altChunk": _Document._add_foreign,
    **dict.fromkeys(("customXml", "ins", "moveTo", "sdtContent"), _Document._add_each),
}
_TEXTS: Final[dict[str, _Convert]] = {
    "t": lambda _, element: escape(element.text or ""),
    "r": _Document._run,
    **dict.fromkeys(("tab", "ptab"), lambda *_: " "),
    **dict.fromkeys(("br", "cr"), lambda *_: "<br>"),
    "noBreakHyphen": lambda *_: "-",
    "sym": _Document._symbol,
    "checkBox": _Document._box,
    **dict.fromkeys(("footnoteReference", "endnoteReference"), _Document._note_mark),
    "commentReference": _Document._comment,
    **dict.fromkeys(("oMath", "oMathPara"), _Document._equation),
    "AlternateContent": _Document._chosen,
    **dict.fromkeys(("drawing", "pict"), _Document._drawing),
    "object": _Document._object,
}
_SKIPPED: Final = frozenset(
    ("pPr", "rPr", "del", "moveFrom", "delText", "instrText", "delInstrText", "rt", "sdtPr")
)
_COUNTED: Final = {
    "pic": omissions.PICTURE,
    "imagedata": omissions.PICTURE,
    "chart": omissions.CHART,
}


def _cells(row: Element) -> Iterator[Element]:
    for part in row:
        if local(part.tag) == "tc":
            yield part
        elif local(part.tag) in ("sdt", "sdtContent", "customXml"):
            yield from _cells(part)


def _is_set(properties: Element, name: str) -> bool:
    element = child(properties, name)
    return element is not None and _is_on(element)


def _is_on(element: Element) -> bool:
    return attribute(element, "val") not in _OFF


def _plain(html: str) -> str:
    return " ".join(re.sub(r"<[^>]*>", "", html).split())

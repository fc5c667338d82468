"""Presentations (PPTX, ECMA-376 part 1, 19) as HTML, slide by slide: title, text, tables, notes.

Numbers, dates and footers of slides are not read, nor hidden shapes; hidden slides are. What the
speaker notes say is a quotation below the slide.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from html import escape
from typing import Final
from xml.etree.ElementTree import Element

from citations.readers import omissions
from citations.readers.markup.walker import pieces_of
from citations.readers.office import equations, packaging
from citations.readers.office.archive import Package, attribute, child, descendants, local, parts
from citations.readers.office.blocks import Blocks

_TITLES: Final = ("title", "ctrTitle")
_LEFT_OUT: Final = ("sldNum", "dt", "ftr", "hdr", "sldImg")
_BODY: Final = ("body", "obj", "")  # placeholders whose paragraphs are items of a list
_FIELDS: Final = ("slidenum", "datetime")
_BULLETS: Final = ("buChar", "buAutoNum", "buBlip")
_SHOWN_NUMBERS: Final = 8  # of hidden slides in a note


def read(archive: Package) -> tuple[dict[str, str], Iterator[tuple[int, str, str, int]]]:
    """Return a presentation's facts, and the pieces of its slides with the slides' numbers."""
    part = packaging.main_part(archive)
    relations = archive.relations(part)
    ids = map(_relation_id, parts(child(archive.xml(part), "sldIdLst"), "sldId"))
    slides = [_Slide(archive, relations[own].part) for own in ids if own in relations]
    omitted: Counter[str] = Counter()
    pieces: list[tuple[int, str, str, int]] = []
    for number, slide in enumerate(slides, 1):
        pieces += ((*piece, number) for piece in pieces_of([slide.html()], omitted))
        omitted += slide.omitted
    hidden = [str(number) for number, slide in enumerate(slides, 1) if slide.is_hidden]
    facts = packaging.core_facts(archive)
    facts["note"] = _note(hidden, any(slide.has_notes for slide in slides), omitted)
    facts["pages"] = str(len(slides))
    return facts, iter(pieces)


def _relation_id(row: Element) -> str:
    """Return the attribute ``r:id``; a slide has an ``id`` of its own, too."""
    return next((value for key, value in row.attrib.items() if key.endswith("}id")), "")


def _note(hidden: list[str], has_notes: bool, omitted: Counter[str]) -> str:
    notes = []
    if hidden:
        numbers = ", ".join(hidden[:_SHOWN_NUMBERS]) + (", …" * (len(hidden) > _SHOWN_NUMBERS))
        notes.append(f"Slides that are hidden when it is shown, and read all the same: {numbers}.")
    if has_notes:
        notes.append("The speaker notes are set off below their slides.")
    return " ".join((*notes, omissions.note_of(omitted))).strip()


@dataclass(slots=True)
class _Slide:
    archive: Package
    part: str
    omitted: Counter[str] = field(default_factory=Counter)
    is_hidden: bool = False
    has_notes: bool = False
    _blocks: Blocks = field(default_factory=Blocks)

    def html(self) -> str:
        """Return the slide, its title first, and its notes."""
        root = self.archive.xml(self.part)
        self.is_hidden = attribute(root, "show") in ("0", "false")
        shapes = [*parts(child(root, "cSld", "spTree"))]
        titles = [shape for shape in shapes if _placeholder(shape) in _TITLES]
        for shape in titles:
            inner = " ".join(map(self._text, _paragraphs(shape)))
            self._blocks.add(f"<h1>{inner}</h1>")
        for shape in shapes:
            if _placeholder(shape) not in _TITLES:
                self._add(shape)
        return self._blocks.take() + self._notes()

    def _notes(self) -> str:
        if comments := self.archive.related(self.part, "comments"):
            rows = parts(self.archive.optional_xml(comments), "cm")
            self.omitted[omissions.COMMENT] += sum(1 for _ in rows)
        part = self.archive.related(self.part, "notesSlide")
        root = self.archive.optional_xml(part)
        for shape in parts(child(root, "cSld", "spTree")):
            if _placeholder(shape) == "body":
                for paragraph in _paragraphs(shape):
                    if text := self._text(paragraph):
                        self._blocks.add(f"<p>{text}</p>")
        notes = self._blocks.take()
        self.has_notes = bool(notes)
        return f"<blockquote>{notes}</blockquote>" if notes else ""

    def _add(self, shape: Element) -> None:
        name = local(shape.tag)
        if any(attribute(child(about, "cNvPr"), "hidden") in ("1", "true") for about in shape):
            self.omitted[omissions.HIDDEN] += 1
            return
        if name in _COUNTED:
            self.omitted[_COUNTED[name]] += 1
        if add := _SHAPES.get(name):
            add(self, shape)
        elif name not in _COUNTED:
            self._add_each(shape)

    def _add_each(self, group: Element | None) -> None:
        for part in parts(group):
            self._add(part)

    def _add_chosen(self, shape: Element) -> None:
        self._add_each(packaging.chosen(shape))

    def _add_diagram(self, shape: Element) -> None:
        for item in packaging.diagram_items(self.archive, self.part, shape):
            self._blocks.add_item(item, 0)

    def _add_text(self, shape: Element) -> None:
        kind = _placeholder(shape)
        if kind in _LEFT_OUT:
            return
        for paragraph in _paragraphs(shape):
            inner = self._text(paragraph)
            properties = child(paragraph, "pPr")
            level = attribute(properties, "lvl")
            if inner and _is_item(kind, properties):
                self._blocks.add_item(inner, int(level) if level.isdigit() else 0)
            elif inner:
                self._blocks.add(f"<p>{inner}</p>")

    def _add_description(self, shape: Element) -> None:
        about = next(descendants(shape, "cNvPr"), None)
        if description := attribute(about, "descr").strip():
            self._blocks.add(f"<p>{escape(description)}</p>")

    def _add_table(self, table: Element) -> None:
        has_header = attribute(child(table, "tblPr"), "firstRow") in ("1", "true")
        html = "".join(
            self._row(row, "th" if has_header and not number else "td")
            for number, row in enumerate(parts(table, "tr"))
        )
        self._blocks.add(f"<table>{html}</table>")

    def _row(self, row: Element, tag: str) -> str:
        cells = (cell for cell in parts(row, "tc") if not attribute(cell, "hMerge"))
        return f"<tr>{''.join(self._cell(cell, tag) for cell in cells)}</tr>"

    def _cell(self, cell: Element, tag: str) -> str:
        span = attribute(cell, "gridSpan")
        columns = f' colspan="{span}"' if span.isdigit() else ""
        return f"<{tag}{columns}>{'<br>'.join(map(self._text, _paragraphs(cell)))}</{tag}>"

    def _text(self, element: Element) -> str:
        return "".join(map(self._text_of, element)).strip()

    def _text_of(self, element: Element) -> str:
        name = local(element.tag)
        if name == "t":
            return escape(element.text or "")
        if name == "br":
            return "<br>"
        if name in ("oMath", "oMathPara"):
            return equations.to_mathml(element)
        if name == "fld" and attribute(element, "type").startswith(_FIELDS):
            return ""
        chosen = packaging.chosen(element) if name == "AlternateContent" else element
        inner = "".join(map(self._text_of, parts(chosen)))
        properties = child(element, "rPr")
        tag = _raised(attribute(properties, "baseline"))
        if attribute(properties, "strike", "noStrike") != "noStrike":
            tag = "s"
        return f"<{tag}>{inner}</{tag}>" if tag and inner.strip() else inner


_SHAPES: Final[dict[str, Callable[[_Slide, Element], None]]] = {
    "sp": _Slide._add_text,
    "pic": _Slide._add_description,
    "tbl": _Slide._add_table,
    "relIds": _Slide._add_diagram,
    "AlternateContent": _Slide._add_chosen,
}
_COUNTED: Final = {"pic": omissions.PICTURE, "chart": omissions.CHART, "oleObj": omissions.EMBEDDED}


def _placeholder(shape: Element) -> str | None:
    """Return the type of a placeholder, "" where it has none, None for another shape."""
    for about in shape:
        if local(about.tag) in ("nvSpPr", "nvPicPr", "nvGraphicFramePr"):
            placeholder = child(about, "nvPr", "ph")
            return attribute(placeholder, "type") if placeholder is not None else None
    return None


def _raised(baseline: str) -> str:
    """Return the tag of text that stands above or below its line, by so much of its size."""
    if not baseline.strip("-%0"):
        return ""
    return "sub" if baseline.startswith("-") else "sup"


def _paragraphs(shape: Element) -> Iterator[Element]:
    return parts(child(shape, "txBody"), "p")


def _is_item(kind: str | None, properties: Element | None) -> bool:
    names = {local(part.tag) for part in parts(properties)}
    if "buNone" in names:
        return False
    return kind in _BODY or bool(names & {*_BULLETS})

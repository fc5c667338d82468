"""The styles of a Word document, and which of them are those of headings."""

import re
from dataclasses import dataclass
from typing import Final
from xml.etree.ElementTree import Element

from citations.readers.office.archive import attribute, child, local

_HEADING: Final = re.compile(r"heading ?(\d)", re.IGNORECASE)
_CONTENTS: Final = re.compile(r"toc ?\d|table of figures|toc heading", re.IGNORECASE)
_LOWEST: Final = 6  # level of a heading
_MOST_PARENTS: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ParagraphStyle:
    """What a style says of its paragraphs; the list is the id and the level of its numbers."""

    name: str = ""
    level: int = 0  # of a heading, from 1 on
    list_id: str = ""
    list_level: int = 0

    @property
    def is_title(self) -> bool:
        return self.name.casefold() == "title"

    @property
    def is_contents(self) -> bool:
        """Whether its paragraphs are lines of a table of contents."""
        return _CONTENTS.fullmatch(self.name) is not None


def read_styles(root: Element) -> dict[str, ParagraphStyle]:
    """Return the styles of the part ``styles.xml`` by their ids."""
    rows = {attribute(row, "styleId"): row for row in root if local(row.tag) == "style"}
    return {style_id: _style(style_id, rows) for style_id in rows}


def undefined(style_id: str) -> ParagraphStyle:
    """Return the style that an id without a definition stands for, such as “Heading1” or “Title”:
    converters write built-in styles without defining them.
    """
    heading = _HEADING.fullmatch(style_id)
    return ParagraphStyle(name=style_id, level=min(int(heading[1]), _LOWEST) if heading else 0)


def outline_level(properties: Element | None) -> int | None:
    """Return the level of a heading that paragraph properties name, 0 for body text, or None."""
    value = attribute(child(properties, "outlineLvl"), "val")
    if not value.isdigit():
        return None
    return min(int(value) + 1, _LOWEST) if int(value) < 9 else 0


def list_of(properties: Element | None) -> tuple[str, int | None]:
    """Return the id of the list that paragraph properties name, and its level; "", None if none."""
    numbering = child(properties, "numPr")
    level = attribute(child(numbering, "ilvl"), "val")
    number = attribute(child(numbering, "numId"), "val")
    return number, int(level) if level.isdigit() and len(level) < 3 else None


def _style(style_id: str, rows: dict[str, Element]) -> ParagraphStyle:
    """Return a style with what it inherits."""
    name = attribute(child(rows[style_id], "name"), "val")
    level: int | None = None
    list_id, list_level = "", None
    for row in _with_parents(style_id, rows):
        properties = child(row, "pPr")
        own_id, own_level = list_of(properties)
        list_id, list_level = list_id or own_id, own_level if list_level is None else list_level
        if level is None:
            level = _level_of(row, properties)
    return ParagraphStyle(name=name, level=level or 0, list_id=list_id, list_level=list_level or 0)


def _level_of(row: Element, properties: Element | None) -> int | None:
    """Return the level of a style's headings by its name, or else by its outline level."""
    heading = _HEADING.fullmatch(attribute(child(row, "name"), "val"))
    return min(int(heading[1]), _LOWEST) if heading else outline_level(properties)


def _with_parents(style_id: str, rows: dict[str, Element]) -> list[Element]:
    styles: list[Element] = []
    while style_id in rows and len(styles) < _MOST_PARENTS:
        styles.append(rows[style_id])
        style_id = attribute(child(rows[style_id], "basedOn"), "val")
    return styles

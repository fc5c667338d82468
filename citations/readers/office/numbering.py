"""The numbers that Word and LibreOffice write before paragraphs: they count, the file does not."""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final
from xml.etree.ElementTree import Element

from citations.readers.markup.item_numbers import written
from citations.readers.office.archive import attribute, child, local

LEVELS: Final = 9
_PLACE: Final = re.compile(r"%(\d)")


@dataclass(slots=True)
class ListLevel:
    """How a level of a list is numbered; ``text`` has places such as %1."""

    format: str = "bullet"
    text: str = ""
    start: int = 1


@dataclass(slots=True)
class Numbering:
    """The lists of a Word document, which count their items. ``lists`` has levels by list."""

    lists: dict[str, list[ListLevel]] = field(default_factory=dict)
    same: dict[str, str] = field(default_factory=dict)  # the definition that lists count together
    _counts: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))

    @classmethod
    def read(cls, root: Element) -> "Numbering":
        """Read the part ``numbering.xml``."""
        definitions: dict[str, list[ListLevel]] = {}
        numbering = cls()
        for element in root:
            name = local(element.tag)
            if name == "abstractNum":
                definitions[attribute(element, "abstractNumId")] = _levels(element)
            elif name == "num":
                own, of = (
                    attribute(element, "numId"),
                    attribute(child(element, "abstractNumId"), "val"),
                )
                levels, restarts = _overridden(element, definitions.get(of, []))
                numbering.lists[own], numbering.same[own] = levels, own if restarts else of
        return numbering

    def format_of(self, list_id: str, level: int) -> ListLevel:
        levels = self.lists.get(list_id, [])
        return levels[level] if level < len(levels) else ListLevel()

    def next_label(self, list_id: str, level: int) -> str:
        """Count an item and return what is written before it, such as “2.1”; "" for a bullet."""
        levels = self.lists.get(list_id, [])
        if level >= len(levels):
            return ""
        counts = self._counts[self.same.get(list_id, list_id)]
        while len(counts) <= level:
            counts.append(levels[len(counts)].start - (len(counts) == level))
        counts[level] += 1
        del counts[level + 1 :]
        own = levels[level]
        if own.format == "bullet":
            return ""
        return _PLACE.sub(lambda place: self._part(int(place[1]) - 1, levels, counts), own.text)

    @staticmethod
    def _part(level: int, levels: list[ListLevel], counts: list[int]) -> str:
        known = 0 <= level < min(len(counts), len(levels))
        return written(counts[level], levels[level].format) if known else ""


def _levels(definition: Element) -> list[ListLevel]:
    levels = [ListLevel() for _ in range(LEVELS)]
    for number, element in _numbered(definition, "lvl"):
        levels[number] = ListLevel(
            attribute(child(element, "numFmt"), "val", "decimal"),
            attribute(child(element, "lvlText"), "val"),
            _start(child(element, "start")),
        )
    return levels


def _overridden(list_: Element, levels: list[ListLevel]) -> tuple[list[ListLevel], bool]:
    """Return the levels of a list with its own starts, and whether it counts for itself."""
    starts = {
        number: _start(start)
        for number, override in _numbered(list_, "lvlOverride")
        if (start := child(override, "startOverride")) is not None
    }
    own = [
        replace(level, start=starts.get(number, level.start)) for number, level in enumerate(levels)
    ]
    return own, bool(starts)


def _numbered(parent: Element, name: str) -> Iterator[tuple[int, Element]]:
    """Yield the children of a name that say which level they are of."""
    for element in parent:
        number = attribute(element, "ilvl")
        if local(element.tag) == name and number.isdigit() and int(number) < LEVELS:
            yield int(number), element


def _start(element: Element | None) -> int:
    start = attribute(element, "val")
    return int(start) if start.isdigit() and len(start) < 6 else 1

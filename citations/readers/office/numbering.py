"""The numbers that Word and LibreOffice write before paragraphs: they count, the file does not."""

import re
from collections import defaultdict
from dataclasses import dataclass, field
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
                numbering.lists[own] = definitions.get(of, [])
                restarts = child(element, "lvlOverride", "startOverride") is not None
                numbering.same[own] = own if restarts else of
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
    for element in definition:
        number = attribute(element, "ilvl")
        if local(element.tag) == "lvl" and number.isdigit() and int(number) < LEVELS:
            start = attribute(child(element, "start"), "val")
            levels[int(number)] = ListLevel(
                attribute(child(element, "numFmt"), "val", "decimal"),
                attribute(child(element, "lvlText"), "val"),
                int(start) if start.isdigit() and len(start) < 6 else 1,
            )
    return levels

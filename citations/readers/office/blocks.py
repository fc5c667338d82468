"""HTML of a document, block by block; items of lists are nested by their levels."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

SEGMENT: Final = 100_000  # characters that are parsed at once
DEEPEST: Final = 9  # lists within one another


@dataclass(slots=True)
class _List:
    tag: str
    number: int  # of the last item; 0 with bullets


@dataclass(slots=True)
class Blocks:
    """Collects blocks. A list ends where a block that is no item begins."""

    _parts: list[str] = field(default_factory=list)
    _lists: list[_List] = field(default_factory=list)
    _length: int = 0

    def add(self, html: str) -> None:
        """Add a block outside lists."""
        self._end_lists(0)
        self._append(html)

    def add_item(self, html: str, level: int, number: int = 0, format: str = "") -> None:
        """Add an item to the list at a level from 0 on, with its number or, without one, a bullet;
        ``format`` is one of HTML's, such as ``a``.

        With no list there, or one of another kind or with another number, one begins.
        """
        depth = min(max(level, 0), DEEPEST - 1) + 1
        self._end_lists(depth)
        tag = "ol" if number else "ul"
        if len(self._lists) == depth:
            last = self._lists[-1]
            if last.tag == tag and (not number or number == last.number + 1):
                last.number = number
                self._append(f"</li><li>{html}")
                return
            self._end_lists(depth - 1)
        while len(self._lists) < depth - 1:
            self._begin_list("ul", 0)
        self._begin_list(tag, number, format)
        self._append(html)

    def add_below(self, html: str, level: int) -> None:
        """Add a paragraph to the open item of the list at a level."""
        self._end_lists(min(max(level, 0), DEEPEST - 1) + 1)
        self._append(f"<p>{html}</p>")

    def take_full(self) -> Iterator[str]:
        """Yield what was collected if it is enough to be parsed, and no list is open."""
        if self._length >= SEGMENT and not self._lists:
            yield self.take()

    def take(self) -> str:
        """Return what was collected, and forget it."""
        self._end_lists(0)
        html = "".join(self._parts)
        self._parts, self._length = [], 0
        return html

    def _begin_list(self, tag: str, number: int, format: str = "") -> None:
        start = f' start="{number}"' if number > 1 else ""
        kind = f' type="{format}"' if format.isalpha() else ""
        self._append(f"<{tag}{start}{kind}><li>")
        self._lists.append(_List(tag, number))

    def _end_lists(self, depth: int) -> None:
        while len(self._lists) > depth:
            self._append(f"</li></{self._lists.pop().tag}>")

    def _append(self, html: str) -> None:
        self._parts.append(html)
        self._length += len(html)

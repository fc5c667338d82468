"""The table of contents of a document: its parts, and the headings within each."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import sub
from typing import Final

Heading = tuple[int, str, int]  # level, title, page

FLAT: Final = 40  # entries that need no folds
MANY_PARENTS: Final = 5  # a heading under so many others says nothing of what follows
MAX_PARTS: Final = 120  # beyond it, several are folded together
MAX_FOLDED: Final = 40
MAX_WITHIN: Final = 300  # headings that are shown in a part


@dataclass(frozen=True, slots=True)
class ContentsEntry:
    """A heading; ``depth`` is 1 in its part, and 2 and more below others there."""

    title: str
    page: int
    depth: int = 1


@dataclass(frozen=True, slots=True)
class ContentsPart:
    """A part, counted from 1, with the headings within it."""

    number: int
    title: str
    page: int
    entries: tuple[ContentsEntry, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TableOfContents:
    """The parts in order; how many entries were left out, and a heading that was."""

    parts: tuple[ContentsPart, ...] = ()
    left_out: int = 0
    example: str = ""

    @property
    def is_folded(self) -> bool:
        """Whether the headings within parts are shown on demand."""
        return sum(1 + len(part.entries) for part in self.parts) > FLAT

    def at(self, page: int) -> tuple[ContentsPart | None, ContentsEntry | None]:
        """Return the part and the entry that a page belongs to: the first that begins on it, or the
        last before it; no entry where it is the part itself.
        """
        best: tuple[ContentsPart | None, ContentsEntry | None] = (None, None)
        latest = 0
        for part, entry in self._places():  # bookmarks need not be in the order of pages
            start = (entry or part).page
            if latest < start <= page or latest == start < page:
                best, latest = (part, entry), start
        return best

    def _places(self) -> Iterator[tuple[ContentsPart, ContentsEntry | None]]:
        for part in self.parts:
            yield part, None
            for entry in part.entries:
                yield part, entry


def of(outline: Iterable[Sequence[int | str]]) -> TableOfContents:
    """Return the contents by a document's headings, without those that say nothing.

    >>> of([[1, "Limits", 1], [2, "Hint", 2], [1, "Series", 9]]).parts[1].title
    'Series'
    """
    headings = [(int(level), str(title), int(page)) for level, title, page in outline]
    top = _top_level(headings)
    repeated = _repeated(headings, top) if len(headings) > FLAT else set()
    left_out: Counter[str] = Counter()
    kept = []
    for heading in headings:
        level, title, _ = heading
        if level > top and _key(title) in repeated:
            left_out[title] += 1
        else:
            kept.append(heading)
    example = next((title for title, _ in left_out.most_common(1)), "")
    return TableOfContents(
        parts=tuple(_parts(kept, top)), left_out=left_out.total(), example=example
    )


def _top_level(headings: Sequence[Heading]) -> int:
    """Return the level of parts: the first one with several, as a lone heading is the title, none
    of which holds more than ``MAX_WITHIN`` headings where a deeper level divides it.
    """
    levels = sorted({level for level, _, _ in headings})
    for level in levels:
        starts = [place for place, heading in enumerate(headings) if heading[0] <= level]
        ends = [*starts[1:], len(headings)]
        if len(starts) > 1 and max(map(sub, ends, starts)) <= MAX_WITHIN:
            return level
    return levels[-1] if levels else 0


def _repeated(headings: Sequence[Heading], top: int) -> set[str]:
    """Return the headings that stand under many different parents."""
    parents: dict[str, set[int]] = defaultdict(set)
    above: list[tuple[int, int]] = []  # level and place
    for place, (level, title, _) in enumerate(headings):
        while above and above[-1][0] >= level:
            above.pop()
        if level > top:
            parents[_key(title)].add(above[-1][1] if above else -1)
        above.append((level, place))
    return {title for title, places in parents.items() if len(places) >= MANY_PARENTS}


def _key(title: str) -> str:
    return " ".join(title.casefold().split()).rstrip(".:")


def _parts(headings: Sequence[Heading], top: int) -> Iterator[ContentsPart]:
    groups: list[list[Heading]] = []
    for heading in headings:
        if heading[0] <= top or not groups:
            groups.append([])
        groups[-1].append(heading)
    if is_merged := len(groups) > MAX_PARTS:
        firsts = range(0, len(groups), MAX_FOLDED)
        groups = [list(chain(*groups[first : first + MAX_FOLDED])) for first in firsts]
    for number, group in enumerate(groups, 1):
        _, title, page = group[0]
        above = top - is_merged
        entries = tuple(
            ContentsEntry(title, page, max(1, level - above)) for level, title, page in group[1:]
        )
        yield ContentsPart(number, title, page, entries)

"""Which headings of a document open a section, and the contents that they make. Pure."""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from citations.readers.page import OutlineEntry

MIN_REPEATED: Final = 4
MAX_WORDS, MAX_LETTERS = 3, 30  # of a label
A_SECTION: Final = 1.2  # times that a label stands in a section that has it, at least
MIN_PARENTS: Final = 3  # sections by which a document is known to be divided
STRETCH: Final = 6_000  # characters: about two pages, which stand for a section where none is known
MIN_NUMBERED: Final = 3  # headings with numbers of which contents can be made
MAX_TITLE: Final = 300  # characters
MIN_SECTION: Final = 200  # characters between two headings that both open one
MIN_TEXT: Final = 40  # characters of a section
IN_ORDER: Final = 0.6  # of the numbers; in a document with fewer, they count something else

Number = tuple[int, ...]

_NUMBERED: Final = re.compile(
    r"(?:chapter|section|lecture|kapitel|abschnitt|chapitre|capítulo)\s+"
    r"(\d{1,3}(?:\.\d{1,3}){0,4})\b|(\d{1,2}(?:\.\d{1,3}){0,4})\.?\s+[^\W\d_]",
    re.IGNORECASE,
)

_PAGE_NUMBER: Final = re.compile(r"[\s.…]+\d{1,4}$")


class PlacedHeading(NamedTuple):
    """A heading, the character of the document where it stands, and the level of its markup.

    The level is 0 where it is not known, as in a PDF, and the page where it is of no importance.
    """

    title: str
    start: int
    level: int = 0
    page: int = 0


def key_of(title: str) -> str:
    """Return what is the same in “Hint”, “HINT:” and “Hint.”."""
    return " ".join(title.casefold().split()).rstrip(".:")


def number_of(title: str) -> Number:
    """Return the number of a chapter or section, () without one: (1, 2) of “1.2 Functions”.

    >>> number_of("Chapter 3: Derivatives"), number_of("3.0 Introduction"), number_of("Hint")
    ((3,), (3,), ())
    """
    match = _NUMBERED.match(title.strip())
    if match is None:
        return ()
    number = [int(part) for part in (match[1] or match[2]).split(".")]
    while len(number) > 1 and number[-1] == 0:
        number.pop()
    return tuple(number)


def letters_of(text: str) -> str:
    """Return the letters by which titles are compared."""
    return "".join(letter for letter in text.casefold() if letter.isalpha())


def is_title(words: str, title: str) -> bool:
    """Whether a paragraph is a title or begins with it, and is no longer than a heading; both are
    given by their letters.
    """
    return (
        bool(title)
        and bool(words)
        and (words.startswith(title) or (len(words) > 5 and title.endswith(words)))
        and len(words) < 3 * len(title) + 20
    )


def join_titles(above: str, title: str) -> str:
    """Return a heading below another without text between: of both, unless it has a number."""
    return (f"{above} {title}" if above and not number_of(title) else title)[:MAX_TITLE]


def find_labels(headings: Sequence[PlacedHeading]) -> frozenset[str]:
    """Return the keys of what only labels boxes, such as “Hint”, and opens no section.

    A label is short, has no number, and stands again and again within the same section. “Exercises”
    at the end of each chapter stands in each only once.
    """
    sections: dict[str, list[int]] = defaultdict(list)
    stretches: dict[str, list[int]] = defaultdict(list)
    for heading, parent in zip(headings, _parents(headings), strict=True):
        if _may_be_label(heading.title):
            key = key_of(heading.title)
            sections[key].append(parent)
            stretches[key].append(heading.start // STRETCH)
    is_divided = len({parent for own in sections.values() for parent in own}) >= MIN_PARENTS
    return frozenset(
        key
        for key, places in (sections if is_divided else stretches).items()
        if len(places) >= max(MIN_REPEATED, A_SECTION * len(set(places)))
    )


def _may_be_label(title: str) -> bool:
    words = title.split()
    return len(words) <= MAX_WORDS and len(title) <= MAX_LETTERS and not number_of(title)


def _parents(headings: Iterable[PlacedHeading]) -> Iterator[int]:
    """Yield the place of the heading that each stands under: the last with a number, or the last of
    a higher level; -1 for none.
    """
    above: list[tuple[int, int]] = []  # level and place
    numbered = -1
    for place, heading in enumerate(headings):
        while heading.level and above and above[-1][0] >= heading.level:
            above.pop()
        yield max(numbered, above[-1][1] if above else -1)
        if number_of(heading.title):
            numbered = place
        if heading.level:
            above.append((heading.level, place))


def contents(headings: Sequence[PlacedHeading], end: int) -> list[OutlineEntry]:
    """Return the contents of a document of ``end`` characters whose markup tells no levels.

    Where chapters and sections have numbers, only they are listed, at the level of the number:
    other lines only look like headings. A number that comes twice, as in a printed table of
    contents, is where the most text follows.
    """
    numbered = [heading for heading in headings if number_of(heading.title)]
    longest: dict[Number, tuple[int, PlacedHeading]] = {}
    for heading, length in _with_text(numbered, end):
        number = number_of(heading.title)
        if number not in longest or length > longest[number][0]:
            longest[number] = length, heading
    once = sorted((heading for _, heading in longest.values()), key=lambda heading: heading.start)
    ordered = _in_order(once)
    is_numbered = len(ordered) >= max(MIN_NUMBERED, IN_ORDER * len(once))
    if is_numbered and any(len(number_of(heading.title)) > 1 for heading in ordered):
        return list(_with_chapters(ordered, numbered))
    return [OutlineEntry(1, heading.title, heading.page) for heading in headings]


def _with_text(numbered: Sequence[PlacedHeading], end: int) -> Iterator[tuple[PlacedHeading, int]]:
    """Yield the headings above some text or above their own first section, and how many characters
    follow. Another is a line of a printed table of contents.
    """
    for heading, following in zip(numbered, (*numbered[1:], None), strict=False):
        length = (following.start if following else end) - heading.start
        number = number_of(heading.title)
        is_above = following and number_of(following.title)[: len(number)] == number
        if is_above or length >= len(heading.title) + MIN_TEXT:
            yield heading, length


def _with_chapters(
    ordered: Iterable[PlacedHeading], numbered: Iterable[PlacedHeading]
) -> Iterator[OutlineEntry]:
    """Yield the entries. A chapter that does not stand above its sections, as where a picture shows
    its title, is called as it is elsewhere, such as in the printed table of contents.
    """
    titles: dict[Number, str] = {}
    for heading in numbered:
        title = _PAGE_NUMBER.sub("", heading.title)
        number = number_of(heading.title)
        if number_of(title) == number:
            titles.setdefault(number, title)
    above: set[Number] = set()
    for heading in ordered:
        number = number_of(heading.title)
        for depth in range(1, len(number)):
            if number[:depth] not in above:
                above.add(number[:depth])
                title = titles.get(number[:depth], ".".join(map(str, number[:depth])))
                yield OutlineEntry(depth, title, heading.page)
        above.add(number)
        yield OutlineEntry(len(number), heading.title, heading.page)


def _in_order(headings: Sequence[PlacedHeading]) -> list[PlacedHeading]:
    """Return the most headings whose numbers increase."""
    least: list[Number] = []  # the last number of the best chain of each length
    chains: list[list[PlacedHeading]] = []
    for heading in headings:
        number = number_of(heading.title)
        length = bisect_left(least, number)
        chain = [*(chains[length - 1] if length else ()), heading]
        least[length : length + 1] = [number]
        chains[length : length + 1] = [chain]
    return chains[-1] if chains else []


def levels_by_number(outline: Sequence[OutlineEntry]) -> list[OutlineEntry]:
    """Return an outline with the levels that its numbers tell, where its markup contradicts them:
    where “1 Limits” and “1.1 A preview” are headings of the same level.
    """
    depths: dict[int, set[int]] = defaultdict(set)
    for level, title, _ in outline:
        if number := number_of(title):
            depths[level].add(len(number))
    if all(len(own) == 1 for own in depths.values()):
        return list(outline)
    entries = []
    depth = level_above = 0  # of the last heading with a number
    for level, title, page in outline:
        if number := number_of(title):
            depth, level_above = len(number), level
            entries.append(OutlineEntry(depth, title, page))
        else:
            below = max(1, level - level_above) if depth else level
            entries.append(OutlineEntry(depth + below, title, page))
    return entries

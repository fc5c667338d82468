"""The text of a source in lines: half a minute of a recording, or a paragraph of a document."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from citations.models import Source
from citations.passages import interval, pages
from citations.readers import source_blocks
from citations.text.blocks import Block
from kbsite.mcp.answer_text import MIN_TEXT, NAME, TITLE, fitting, longest, tokens
from transcripts.core.errors import InvalidInput

LINE_SECONDS = 30
ADDRESS = 300  # characters of an address
MAX_DIGITS = 9


@dataclass(frozen=True, slots=True)
class SourceLine:
    """A line; ``offset`` is the first character of ``text`` in the source's text."""

    offset: int
    prefix: str  # a heading, and the time or page
    text: str

    def __str__(self) -> str:
        return self.prefix + self.text


def head(source: Source) -> str:
    """Name a source: title, author and address."""
    about = (source.title[:TITLE], source.author[:NAME], source.url[:ADDRESS])
    return "\n".join(part for part in about if part)


def read(source: Source, position: int, *, room: int) -> tuple[str, int | None]:
    """Return the text from the character at ``position`` on, and the position at which it goes on.

    The text fits into ``room`` tokens; "" if the source has none. Raises ``InvalidInput`` for a
    position beyond the end.
    """
    lines = _lines_from(
        list(_lines(source_blocks.read(source), has_slides=source.has_slides)), position
    )
    count = fitting((tokens(str(line)) + 1 for line in lines), room=room)
    text = "\n".join(map(str, lines[:count]))
    if count == 1 and tokens(text) > room:
        first = lines[0]
        length = max(1, longest(text, 0, room=max(room, MIN_TEXT)) - len(first.prefix))
        return first.prefix + first.text[:length], first.offset + length
    return text, lines[count].offset if count < len(lines) else None


def position_in(digits: str) -> int:
    """Return a position that this server wrote. Raises ``InvalidInput``."""
    if not digits:
        return 0
    if not (digits.isascii() and digits.isdigit() and len(digits) <= MAX_DIGITS):
        raise InvalidInput(
            "This is not a position in a text.",
            hint="Copy it from the page before, or leave it out.",
        )
    return int(digits)


def _lines_from(lines: Sequence[SourceLine], position: int) -> list[SourceLine]:
    """Return the lines from a character on; within a line, the rest of it comes first."""
    if not lines:
        return []
    if position >= (end := lines[-1].offset + len(lines[-1].text)):
        raise InvalidInput(f"The text ends at {end}.", hint="Begin anew without a position.")
    at = max(0, bisect_right(lines, position, key=lambda line: line.offset) - 1)
    first, cut = lines[at], position - lines[at].offset
    if cut > 0:
        first = replace(first, offset=position, text=first.text[cut:])
    return [first, *lines[at + 1 :]]


def _lines(blocks: Sequence[Block], *, has_slides: bool) -> Iterator[SourceLine]:
    heading = ""
    for _, inside in groupby(blocks, _line_of):
        together = list(inside)
        first = together[0]
        prefix = f"# {first.heading}\n" if first.heading not in ("", heading) else ""
        heading = first.heading
        if where := interval(first.start) or pages(first.page, is_slide=has_slides):
            prefix += f"[{where}] "
        yield SourceLine(first.offset, prefix, " ".join(block.text for block in together))


def _line_of(block: Block) -> tuple[int, str]:
    time = None if block.start is None else block.start // (1000 * LINE_SECONDS)
    return (block.offset if time is None else time), block.heading

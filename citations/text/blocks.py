"""The blocks of a source's text: what readers produce, and chunks and quotes are made from."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A piece of a source's text in one location: a cue with its times, a paragraph with its page.

    ``offset`` is its first character in the source's text, ``start`` and ``end`` are milliseconds.
    ``words`` holds (character offset in the source's text, start in ms) of words with known times.
    A ``boundary`` (chapter, heading) starts something new: no chunk extends across it.
    """

    text: str
    offset: int
    start: int | None = None
    end: int | None = None
    page: int | None = None
    heading: str = ""
    boundary: bool = False
    words: tuple[tuple[int, int], ...] = ()


def text_of(blocks: Sequence[Block]) -> str:
    """Return the source's text: the blocks' texts at their offsets.

    A gap of one character between two blocks is a space; a longer gap is line breaks.
    """
    parts: list[str] = []
    length = 0
    for block in blocks:
        gap = block.offset - length
        parts += (" " if gap == 1 else "\n" * gap, block.text)
        length = block.offset + len(block.text)
    return "".join(parts)


def share_of_cue(start: int, end: int, position: int, length: int) -> int:
    """Return when (ms) a character of a cue is said, if all of its characters take as long.

    ``end`` is that of the cue, or the start of the next one, which captions that roll show earlier.
    """
    return start + round(max(0, end - start) * min(1.0, max(0, position) / max(1, length)))

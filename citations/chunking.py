"""Blocks of a source become chunks. Pure: whoever calls passes the embedding function in."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A piece of a source's text that stands in one place: a cue with its milliseconds, a paragraph with its page. ``offset`` is where it starts in
    the source's text, in characters. ``boundary`` says that something new begins with it (a chapter, a heading): no chunk reaches over it.
    """

    text: str
    offset: int
    start: int | None = None
    end: int | None = None
    page: int | None = None
    heading: str = ""
    boundary: bool = False
    words: tuple[tuple[int, int], ...] = ()  # (character offset in the source's text, start in ms) of words whose times are known


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A chunk to be: ``text`` is exactly the source's text from ``span_start`` to ``span_end``."""

    text: str
    span_start: int
    span_end: int
    start: int | None = None
    end: int | None = None
    page: int | None = None
    last_page: int | None = None
    heading: str = ""

"""Markdown as HTML: lists, quotes, links and code, nothing that acts. Tags are shown as text."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

import nh3
from markdown_it import MarkdownIt
from markdown_it.token import Token

SEGMENT: Final = 20_000  # characters that are parsed at once: parsers take more than linear time
_NOTE_TAGS: Final = frozenset(
    ["a", "blockquote", "br", "code", "em", "hr", "li", "ol", "p", "pre", "strong", "ul"]
)
_TEXT_TAGS: Final = _NOTE_TAGS | {"h1", "h2", "h3", "h4", "h5", "h6"}
_GAP: Final = re.compile(r"\n[ \t]*\n")


@lru_cache(maxsize=512)
def render_note(text: str) -> str:
    """Return a note as HTML. Fifty thousand characters take at most two seconds, once.

    Its headings are strong lines: they are none of the page's own.
    """
    return _clean(_NOTE_PARSER.render(text), _NOTE_TAGS, link_rel=None).strip()


def render_text(text: str) -> Iterator[str]:
    """Yield a whole text as HTML, segment by segment. It has no pictures."""
    for segment in _segments(text):
        yield _clean(_TEXT_PARSER.render(segment), _TEXT_TAGS, link_rel="noreferrer")


def _clean(html: str, tags: frozenset[str], *, link_rel: str | None) -> str:
    return nh3.clean(
        html,
        tags=set(tags),
        attributes={"a": {"href"}, "ol": {"start"}},
        url_schemes={"http", "https"},
        link_rel=link_rel,
    )


def _segments(text: str) -> Iterator[str]:
    """Split a text between its blocks; within one, between words, only where it is longer than a
    segment.
    """
    start = 0
    while len(text) - start > SEGMENT:
        gaps = [*_GAP.finditer(text, start + 1, start + SEGMENT)]
        blank = text.rfind(" ", start + 1, start + SEGMENT)
        end = gaps[-1].end() if gaps else blank + 1 if blank > 0 else start + SEGMENT
        yield text[start:end]
        start = end
    yield text[start:]


def _parser() -> MarkdownIt:
    # Definitions of links are not read: the time would grow with the square of the text.
    parser = MarkdownIt("commonmark", {"breaks": True, "html": False})
    return parser.disable(["reference", "image", "html_block", "html_inline"])


def _heading_begins(_: Any, tokens: list[Token], index: int, *options: Any) -> str:
    return "<p><strong>"


def _heading_ends(_: Any, tokens: list[Token], index: int, *options: Any) -> str:
    return "</strong></p>\n"


_TEXT_PARSER: Final = _parser()
_NOTE_PARSER: Final = _parser()
_NOTE_PARSER.add_render_rule("heading_open", _heading_begins)
_NOTE_PARSER.add_render_rule("heading_close", _heading_ends)

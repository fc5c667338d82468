"""Whole texts in Markdown as HTML: headings, lists, quotes, links and code, nothing that acts."""

import re
from collections.abc import Iterator
from typing import Final

import nh3
from markdown_it import MarkdownIt

SEGMENT: Final = 20_000  # characters that are parsed at once: parsers take more than linear time
_NAMES: Final = "a blockquote br code em h1 h2 h3 h4 h5 h6 hr li ol p pre strong ul"
_TAGS: Final = frozenset(_NAMES.split())
_ATTRIBUTES: Final = {"a": {"href"}, "ol": {"start"}}
_GAP: Final = re.compile(r"\n[ \t]*\n")


def render(text: str) -> Iterator[str]:
    """Yield a text as HTML, segment by segment. Its tags are shown as text; it has no pictures."""
    for segment in _segments(text):
        yield nh3.clean(
            _PARSER.render(segment),
            tags=set(_TAGS),
            attributes={tag: set(names) for tag, names in _ATTRIBUTES.items()},
            url_schemes={"http", "https"},
            link_rel="noreferrer",
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


_PARSER: Final = _parser()

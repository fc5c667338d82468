"""Notes, written in Markdown, as HTML: lists, quotes, links and code, nothing that acts."""

from functools import lru_cache
from typing import Any, Final

import nh3
from markdown_it import MarkdownIt
from markdown_it.token import Token

_TAGS: Final = frozenset(
    ["a", "blockquote", "br", "code", "em", "hr", "li", "ol", "p", "pre", "strong", "ul"]
)
_ATTRIBUTES: Final = {"a": {"href"}, "ol": {"start"}}


@lru_cache(maxsize=512)
def render(text: str) -> str:
    """Return a note as HTML. Fifty thousand characters take at most two seconds, once.

    Its headings are strong lines: they are none of the page's own. Tags are shown as text.
    """
    html = nh3.clean(
        _PARSER.render(text),
        tags=set(_TAGS),
        attributes={tag: set(names) for tag, names in _ATTRIBUTES.items()},
        url_schemes={"http", "https"},
        link_rel=None,
    )
    return html.strip()


def _parser() -> MarkdownIt:
    # Definitions of links are not read: the time would grow with the square of the text.
    parser = MarkdownIt("commonmark", {"breaks": True, "html": False})
    parser.disable(["reference", "image", "html_block", "html_inline"])
    parser.add_render_rule("heading_open", _heading_begins)
    parser.add_render_rule("heading_close", _heading_ends)
    return parser


def _heading_begins(_: Any, tokens: list[Token], index: int, *options: Any) -> str:
    return "<p><strong>"


def _heading_ends(_: Any, tokens: list[Token], index: int, *options: Any) -> str:
    return "</strong></p>\n"


_PARSER: Final = _parser()

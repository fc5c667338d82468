from html import unescape

import pytest
from markdown_it import MarkdownIt

from citations.text.markdown import escape_markdown


def test_markdown_syntax_is_escaped() -> None:
    assert escape_markdown("*a* [b](c) <d>") == r"\*a\* \[b\](c) \<d>"


@pytest.mark.parametrize("text", ["fine-tune it!", "a + b -> c", "Q&A & more", "5 > 3"])
def test_what_means_nothing_within_a_line_stays_as_it_is(text: str) -> None:
    assert escape_markdown(text) == text


@pytest.mark.parametrize("text", ["- a", "+ a", "> a", "---", "&amp; &#33;", "![a](b)", "-> a"])
def test_what_begins_a_block_or_a_sign_is_shown_as_written(text: str) -> None:
    html = MarkdownIt("gfm-like").render(escape_markdown(text))
    assert unescape(html) == f"<p>{text}</p>\n"


def test_a_number_at_the_start_does_not_begin_a_list() -> None:
    assert escape_markdown("1. one") == r"1\. one"


def test_line_breaks_become_spaces() -> None:
    assert escape_markdown("one\n\n# two") == r"one \# two"


@pytest.mark.parametrize(
    "text",
    [
        "see https://evil.example/?q=1.",
        "![x](https://evil.example/p_a_.png) **now**",
        "www.evil.example/a, //evil.example/b",
        "ftp://evil.example HTTP://EVIL.EXAMPLE",
        "mail me@evil.example or mailto:me@evil.example",
        "evil.com/?d=walrus and a/b",
        "a`https://evil.example`b ``https://evil.example",
        "<https://evil.example> [r]: https://evil.example",
    ],
)
def test_no_address_becomes_a_link(text: str) -> None:
    reader = MarkdownIt("gfm-like", {"html": True, "linkify": True})
    [inline] = [token for token in reader.parse(escape_markdown(text)) if token.type == "inline"]
    parts = inline.children or []
    assert {part.type for part in parts} <= {"text", "text_special", "code_inline"}
    assert "".join(part.content for part in parts) == text


def test_words_with_dots_and_slashes_stay_as_they_are() -> None:
    assert escape_markdown("node.js and/or 3.5/4") == "node.js and/or 3.5/4"

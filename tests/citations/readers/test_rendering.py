"""Whole texts in Markdown as HTML."""

import re

import pytest

from citations.readers.markup import rendering


def rendered(text: str) -> str:
    return "".join(rendering.render_text(text))


def test_headings_lists_and_links_stay() -> None:
    html = rendered("# Ports\n\n1. [Malo](https://example.org/?a=1&b=2#t=5)\n2. *Brest*\n")
    assert "<h1>Ports</h1>" in html
    assert 'href="https://example.org/?a=1&amp;b=2#t=5"' in html
    assert "<em>Brest</em>" in html


def test_nothing_acts() -> None:
    html = rendered("<img src=x onerror=alert(1)> [a](javascript:alert(1)) ![b](https://c.org/d)")
    assert not re.search(r"<(?!/?(?:p|a)\b)|javascript:[^)]*\"", html)


def test_a_long_text_is_split_between_its_blocks_and_loses_no_word(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rendering, "SEGMENT", 40)
    blocks = [f"Block {number} has words." for number in range(20)]
    html = rendered("\n\n".join(blocks))
    assert html.count("<p>") == 20
    assert re.findall(r"<p>(.*?)</p>", html) == blocks
    words = [f"word{number}" for number in range(50)]
    assert re.findall(r"\w*\d", rendered(" ".join(words))) == words
    assert rendered("x" * 1_000).count("x") == 1_000

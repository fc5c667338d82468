"""How places, scores and states are written in pages."""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Protocol

from django import template
from django.utils.html import escape, format_html, format_html_join, linebreaks
from django.utils.safestring import SafeString, mark_safe

from citations.models import SourceKind
from citations.passages import place

register = template.Library()
register.filter(place)


class MarkedText(Protocol):
    """A text in which a quote and words that are looked for are marked; spans are characters [first, last)."""

    quote: Sequence[tuple[int, int]]
    matches: Sequence[tuple[int, int]]


@register.filter
def lit(text: str, marks: MarkedText) -> SafeString:
    """Escape a text and mark the quote and the words in it, which may overlap."""
    borders = sorted(
        {0, len(text), *(place for span in (*marks.quote, *marks.matches) for place in span)}
    )
    return format_html_join(
        "",
        "{}",
        ((_lit(text[first:last], _kinds(first, marks)),) for first, last in pairwise(borders)),
    )


def _kinds(place: int, marks: MarkedText) -> list[str]:
    spans = {"quoted": marks.quote, "looked-for": marks.matches}
    return [
        kind for kind, found in spans.items() if any(first <= place < last for first, last in found)
    ]


def _lit(text: str, kinds: list[str]) -> SafeString | str:
    return format_html('<mark class="{}">{}</mark>', " ".join(kinds), text) if kinds else text


@register.filter
def decimal(share: float) -> str:
    """Write a share for SVG: with a point, whatever the language, and few digits."""
    return f"{share:.5f}"


@register.filter
def percent(share: float) -> int:
    """Turn a share of 1 into whole percent, 0 to 100."""
    return max(0, min(100, round(share * 100)))


@register.filter
def kind_name(kind: str) -> str:
    """Write a kind of source as people call it."""
    return str(SourceKind(kind).label) if kind in SourceKind.values else kind


_LINK = re.compile(r"\[((?:\\.|[^\[\]\\\n]){1,500})\]\(((?:https?://|/)[^\s()<>\"]{1,2000})\)")
_STRONG = re.compile(r"\*\*([^*\n]{1,1000})\*\*")
_HEADING = re.compile(r"^#{1,6} +(.+)$", re.MULTILINE)
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")


@register.filter
def written(text: str) -> SafeString:
    """Escape a note and show its links, its headings and what is strong; a whole parser of Markdown can be kept busy for hours by a text made for it."""
    shown = str(escape(text))
    for pattern, told in (
        (_HEADING, r"<strong>\1</strong>"),
        (_STRONG, r"<strong>\1</strong>"),
        (_LINK, r'<a href="\2">\1</a>'),
        (_ESCAPED, r"\1"),
    ):
        shown = pattern.sub(told, shown)
    return mark_safe(linebreaks(shown))  # escaped before any tag is put in

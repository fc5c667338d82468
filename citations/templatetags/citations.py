"""How places, scores and states are written in pages."""

from typing import Protocol

from django import template

from citations.models import Kind
from transcripts.timecodes import clock

register = template.Library()


class Placed(Protocol):
    """What has a place in a recording or a document: a locator, a chunk."""

    start: int | None
    end: int | None
    page: int | None
    last_page: int | None


@register.filter
def place(at: Placed) -> str:
    """Write where something is: ``4:06–4:39``, ``page 5``, ``pages 5–6``; empty where only its characters are known."""
    if at.start is not None:
        return f"{clock(at.start)}–{clock(at.end)}" if at.end else clock(at.start)
    if at.page is None:
        return ""
    return f"pages {at.page}–{at.last_page}" if at.last_page and at.last_page > at.page else f"page {at.page}"


@register.filter
def percent(share: float) -> int:
    """Turn a share of 1 into whole percent, 0 to 100."""
    return max(0, min(100, round(share * 100)))


@register.filter
def kind_name(kind: str) -> str:
    """Write a kind of source as people call it."""
    return str(Kind(kind).label) if kind in Kind.values else kind

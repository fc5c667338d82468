"""The guide to a source, its outline, and the questions that sources answer."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any, Final

from django import template

from citations.guide import storage as guide_storage
from citations.guide.storage import SuggestedQuestion
from citations.models import Source
from citations.outline import storage as outline_storage
from transcripts.models import WorkerPulse

register = template.Library()


@register.inclusion_tag("citations/_guide.html", takes_context=True)
def guide_of(context: dict[str, Any], source: Source) -> dict[str, Any]:
    """Show the guide to a source, or why there is none; open where the source is opened for the
    first time.
    """
    guide = guide_storage.of(source)
    absence = guide_storage.absence(source, guide)
    return {
        "source": source,
        "guide": guide,
        "absence": absence,
        "is_to_come": absence in guide_storage.TO_COME,
        "has_worker": absence in guide_storage.TO_COME and WorkerPulse.is_alive(),
        "is_open": context.get("is_first_visit", False),
        "csrf_token": context.get("csrf_token"),
    }


@register.filter
def asked_together(suggested: Sequence[SuggestedQuestion]) -> str:
    """Return two questions of one language as a single message; nothing if there are none."""
    for first, second in combinations(suggested, 2):
        if first.language == second.language:
            return f"{first.question} {second.question}"
    return ""


@register.inclusion_tag("citations/_suggested_questions.html", takes_context=True)
def suggested_questions(
    context: dict[str, Any], suggested: Sequence[SuggestedQuestion]
) -> dict[str, Any]:
    """Show questions that sources answer, to be asked by a click."""
    return {"suggested": suggested, "csrf_token": context.get("csrf_token")}


FEW: Final = 40  # parts that come with the page


@register.inclusion_tag("citations/_outline.html")
def outline_of(source: Source, *, is_open: bool = False) -> dict[str, Any]:
    """Show the outline of a source, if it has one; many parts come when it is unfolded."""
    outline = outline_storage.outline(source)
    is_lazy = not is_open and len(outline.parts) > FEW
    return {"source": source, "outline": outline, "is_open": is_open, "is_lazy": is_lazy}

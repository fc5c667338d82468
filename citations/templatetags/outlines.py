"""The outline of a source, as pages show it."""

from typing import Any

from django import template

from citations.models import Source
from citations.outline import storage as outline_storage
from transcripts.models import Transcript

register = template.Library()


@register.inclusion_tag("citations/_outline.html")
def outline_of(source: Source, *, is_open: bool = False) -> dict[str, Any]:
    """Show the outline of a source; nothing where it has none."""
    return {"source": source, "outline": outline_storage.outline(source), "is_open": is_open}


@register.inclusion_tag("citations/_outline.html")
def outline_of_transcript(transcript: Transcript) -> dict[str, Any]:
    """Show the outline of the source that a transcript is; nothing where it is none yet."""
    source = Source.objects.filter(transcript=transcript).first()
    return {
        "source": source,
        "outline": outline_storage.outline(source) if source else outline_storage.Outline(),
        "is_open": False,
    }

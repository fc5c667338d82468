"""The outline of a source."""

from typing import Any, Final

from django import template

from citations.models import Source
from citations.outline import storage as outline_storage

register = template.Library()

FEW: Final = 40  # parts that come with the page


@register.inclusion_tag("citations/_outline.html")
def outline_of(source: Source, *, is_open: bool = False) -> dict[str, Any]:
    """Show the outline of a source, if it has one; many parts come when it is unfolded."""
    outline = outline_storage.outline(source)
    is_lazy = not is_open and len(outline.parts) > FEW
    return {"source": source, "outline": outline, "is_open": is_open, "is_lazy": is_lazy}

"""Where a citation of a lecture leads."""

from django import template

from citations.lectures.report import path_of
from citations.models import Citation

register = template.Library()


@register.filter
def cited_at(citation: Citation) -> str:
    """Return the path of the page that shows what is cited."""
    return path_of(citation)

"""Positions as readers see them, in the language of the page."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

from citations import passages
from citations.models import Source
from citations.passages import Located, Locator, PageForms, Passage


def place(located: Located) -> str:
    """Write a position as ``citations.passages.place`` does, in the page's language."""
    return passages.place(located, _page_forms())


def page_place(number: int, source: Source) -> str:
    """Write the number of a page of a source."""
    return passages.pages(number, is_slide=source.has_slides, forms=_page_forms())


def stored_place(record: Mapping[str, Any]) -> str:
    """Write the position of a passage that was stored with an answer."""
    at = {name: record.get(name) for name in ("start", "end", "page", "last_page")}
    return place(Locator(span=(0, 0), is_slide=bool(record.get("is_slide")), **at))


def passage_place(hit: Passage) -> str:
    """Write where a hit opens and what it is in, as ``citations.passages.place_in`` does."""
    form = _("%(first)s, in %(all)s") % {"first": "{0}", "all": "{1}"}
    return passages.place_in(place(hit.opening), place(hit.extent) if hit.extent else "", form)


def _page_forms() -> PageForms:
    return PageForms(
        _("page %(number)s") % {"number": "{0}"},
        _("pages %(first)s–%(last)s") % {"first": "{0}", "last": "{1}"},
        _("slide %(number)s") % {"number": "{0}"},
        _("slides %(first)s–%(last)s") % {"first": "{0}", "last": "{1}"},
    )

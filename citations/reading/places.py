"""Positions as readers see them, in the language of the page."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

from citations import passages
from citations.passages import Located, Locator, Passage


def place(located: Located) -> str:
    """Write a position as ``citations.passages.place`` does, in the page's language."""
    return passages.place(located, *_page_forms())


def page_place(number: int) -> str:
    """Write a page's number."""
    return passages.pages(number, None, *_page_forms())


def stored_place(record: Mapping[str, Any]) -> str:
    """Write the position of a passage that was stored with an answer."""
    names = ("start", "end", "page", "last_page")
    return place(Locator(span=(0, 0), **{name: record.get(name) for name in names}))


def passage_place(hit: Passage) -> str:
    """Write where a hit opens and what it is in, as ``citations.passages.place_in`` does."""
    form = _("%(first)s, in %(all)s") % {"first": "{0}", "all": "{1}"}
    return passages.place_in(place(hit.opening), place(hit.extent) if hit.extent else "", form)


def _page_forms() -> tuple[str, str]:
    return (
        _("page %(number)s") % {"number": "{0}"},
        _("pages %(first)s–%(last)s") % {"first": "{0}", "last": "{1}"},
    )

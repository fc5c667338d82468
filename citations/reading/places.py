"""Positions as readers see them, in the language of the page."""

from django.utils.translation import gettext as _

from citations import passages
from citations.passages import Located, Passage, interval


def place(located: Located) -> str:
    """Write a position as ``citations.passages.place`` does, in the page's language."""
    times = interval(located.start, located.end)
    if times or located.page is None:
        return times
    if located.last_page in (None, located.page):
        return _("page %(number)s") % {"number": located.page}
    return _("pages %(first)s–%(last)s") % {"first": located.page, "last": located.last_page}


def hit_place(hit: Passage) -> str:
    """Write the place of a hit as ``citations.passages.hit_place`` does, in the page's language."""
    form = _("%(first)s, in %(all)s") % {"first": "{0}", "all": "{1}"}
    return passages.hit_place(place(hit.opening), place(hit.extent) if hit.extent else "", form)

"""Positions as readers see them, in the language of the page."""

from django.utils.translation import gettext as _

from citations.passages import Located, interval


def place(located: Located) -> str:
    """Write a position as ``citations.passages.place`` does, in the page's language."""
    times = interval(located.start, located.end)
    if times or located.page is None:
        return times
    if located.last_page in (None, located.page):
        return _("page %(number)s") % {"number": located.page}
    return _("pages %(first)s–%(last)s") % {"first": located.page, "last": located.last_page}

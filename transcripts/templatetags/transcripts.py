"""Template filters for times, code and search hits."""

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from ipaddress import ip_address
from typing import Any
from urllib.parse import quote, urlsplit

from django import template
from django.utils import timezone
from django.utils.html import conditional_escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.timesince import timesince, timeuntil
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, npgettext_lazy

from transcripts.adding import listening, video_sound
from transcripts.core.languages import name_of
from transcripts.core.translation import translated
from transcripts.text.timecodes import clock, spoken_length

register = template.Library()
register.filter(clock)
register.filter(spoken_length)
register.filter(translated)
register.filter("language_name", name_of)
register.simple_tag(listening.seconds_left, name="listening_left")
register.simple_tag(video_sound.can_be_heard)
_CODE = re.compile(r"`([^`]+)`")


@register.filter
def seconds(ms: int) -> int:
    return int(ms) // 1000


@register.filter
def ms(seconds: float) -> int:
    return round(seconds * 1000)


@register.filter
def lang_query(language: str, separator: str = "&") -> str:
    """Write ``lang=…`` behind the separator, or nothing for an unknown language."""
    return f"{separator}lang={quote(language)}" if language else ""


@register.filter
def ago(moment: datetime) -> str:
    """Write a time as ``just now`` or ``5 minutes ago``."""
    if timezone.now() - moment < timedelta(minutes=1):
        return _("just now")
    return _("%(time)s ago") % {"time": timesince(moment, time_strings=_TIMES, depth=1)}


@register.filter
def waiting_time(moment: datetime) -> str:
    """Write the time until then, behind the word “in”."""
    return timeuntil(moment, time_strings=_TIMES)


# Behind “in” and before “ago”, where some languages decline them.
_TIMES: dict[str, Any] = {
    "year": npgettext_lazy("in or ago", "%(num)d year", "%(num)d years", "num"),
    "month": npgettext_lazy("in or ago", "%(num)d month", "%(num)d months", "num"),
    "week": npgettext_lazy("in or ago", "%(num)d week", "%(num)d weeks", "num"),
    "day": npgettext_lazy("in or ago", "%(num)d day", "%(num)d days", "num"),
    "hour": npgettext_lazy("in or ago", "%(num)d hour", "%(num)d hours", "num"),
    "minute": npgettext_lazy("in or ago", "%(num)d minute", "%(num)d minutes", "num"),
}
_OWN_ROLES = {
    "": gettext_lazy("you are a guest"),
    "viewer": gettext_lazy("you are viewer"),
    "editor": gettext_lazy("you are editor"),
    "owner": gettext_lazy("you are owner"),
}


@register.filter
def is_of_this_machine(address: str) -> bool:
    """Tell whether an address leads every machine to itself."""
    host = urlsplit(address).hostname or ""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


@register.filter
def own_role(role: str | None) -> str:
    """Tell users their role in a collection."""
    return str(_OWN_ROLES[role or ""])


@register.filter
def with_code(text: str) -> SafeString:
    """Escape a sentence in the page's language, and mark text between backticks as code."""
    escaped = conditional_escape(translated(text))
    return mark_safe(_CODE.sub(r"<code>\1</code>", escaped))


@register.filter
def marked(text: str, spans: Sequence[tuple[int, int]]) -> SafeString:
    """Escape a text and wrap the sorted, disjoint spans in ``<mark>``."""
    parts, position = [], 0
    for start, end in spans:
        parts += [
            conditional_escape(text[position:start]),
            "<mark>",
            conditional_escape(text[start:end]),
            "</mark>",
        ]
        position = end
    parts.append(conditional_escape(text[position:]))
    return mark_safe("".join(parts))  # each part is escaped

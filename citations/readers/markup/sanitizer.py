"""Sanitised HTML of documents: plain tags for text, nothing that acts.

Links are shown as their text: a document that somebody else wrote must not lead readers away.
"""

import re
from typing import Final

import nh3

_NAMES: Final = (
    "b blockquote br caption cite code del em h1 h2 h3 h4 h5 h6 i kbd li ol p pre q s strong sub "
    "sup table tbody td tfoot th thead tr ul var"
)
_TAGS: Final = frozenset(_NAMES.split())
_ATTRIBUTES: Final = {"ol": {"start", "type"}, "td": {"colspan"}, "th": {"colspan"}}


_HEADING: Final = re.compile(r"<(?P<end>/?)h(?P<level>[1-6])>")
_DEEPEST: Final = 6


def sanitize(html: str) -> str:
    """Return well-formed HTML without scripts, styles, pictures, links, classes or ids."""
    return nh3.clean(
        html, tags=set(_TAGS), attributes={tag: set(names) for tag, names in _ATTRIBUTES.items()}
    )


def below_title(html: str) -> str:
    """Set the headings of sanitised HTML below the title of the page around it, an h1.

    The first is an h2, and none is more than a level below the one before it, wherever in its
    document the HTML begins.

    >>> below_title("<h3>Limits</h3><h2>Series</h2><h4>Hint</h4>")
    '<h2>Limits</h2><h2>Series</h2><h3>Hint</h3>'
    """
    above: list[int] = []

    def lower(heading: re.Match[str]) -> str:
        if not heading["end"]:
            level = int(heading["level"])
            while above and above[-1] >= level:
                above.pop()
            above.append(level)
        return f"<{heading['end']}h{min(len(above) + 1, _DEEPEST)}>"

    return _HEADING.sub(lower, html)

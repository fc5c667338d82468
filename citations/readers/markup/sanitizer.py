"""Sanitised HTML of documents: plain tags for text, nothing that acts.

Links are shown as their text: a document that somebody else wrote must not lead readers away.
"""

import re
from typing import Final

import nh3

_NAMES: Final = (
    "b blockquote br caption cite code del em h1 h2 h3 h4 h5 h6 i kbd li ol p pre q s strong sub "
    "sup table tbody td tfoot th thead tr ul"
)
_TAGS: Final = frozenset(_NAMES.split())
_ATTRIBUTES: Final = {"ol": {"start"}, "td": {"colspan"}, "th": {"colspan"}}


_HEADING: Final = re.compile(r"(?:(?<=<h)|(?<=</h))[1-5](?=>)")


def sanitize(html: str) -> str:
    """Return well-formed HTML without scripts, styles, pictures, links, classes or ids."""
    return nh3.clean(
        html, tags=set(_TAGS), attributes={tag: set(names) for tag, names in _ATTRIBUTES.items()}
    )


def below_title(html: str) -> str:
    """Lower the headings of sanitised HTML by a level, below the title of the page around it."""
    return _HEADING.sub(lambda level: str(int(level[0]) + 1), html)

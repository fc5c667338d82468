"""Sanitised HTML of documents: plain tags for text, nothing that acts.

Links are shown as their text: a document that somebody else wrote must not lead readers away.
"""

from typing import Final

import nh3

_NAMES: Final = (
    "b blockquote br caption cite code del em h1 h2 h3 h4 h5 h6 i kbd li ol p pre q s strong sub "
    "sup table tbody td tfoot th thead tr ul"
)
_TAGS: Final = frozenset(_NAMES.split())
_ATTRIBUTES: Final = {"ol": {"start"}, "td": {"colspan"}, "th": {"colspan"}}


def sanitize(html: str) -> str:
    """Return well-formed HTML without scripts, styles, pictures, links, classes or ids."""
    return nh3.clean(
        html, tags=set(_TAGS), attributes={tag: set(names) for tag, names in _ATTRIBUTES.items()}
    )

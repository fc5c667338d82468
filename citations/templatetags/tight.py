"""A part of a page that is sent without the white space of its templates."""

import re
from typing import Final

from django import template
from django.template.base import Parser, Token
from django.template.context import Context
from django.utils.safestring import SafeString, mark_safe

register = template.Library()

_SPACE: Final = re.compile(r"\n\s*")


class TightNode(template.Node):
    """What is between {% tight %} and {% endtight %}, which has no preformatted text."""

    def __init__(self, nodelist: template.NodeList) -> None:
        self.nodelist = nodelist

    def render(self, context: Context) -> SafeString:
        return mark_safe(_SPACE.sub("\n", self.nodelist.render(context)))  # escaped there


@register.tag
def tight(parser: Parser, _: Token) -> TightNode:
    """Leave out indentation and empty lines; where white space breaks words, a line still does."""
    nodelist = parser.parse(("endtight",))
    parser.delete_first_token()
    return TightNode(nodelist)

"""What tests of pages share."""

from tests.html import text_of

__all__ = ["HTMX", "text_of"]

HTMX = {"HTTP_HX_REQUEST": "true"}

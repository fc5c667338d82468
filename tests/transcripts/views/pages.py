"""What tests of pages share."""

from typing import Any, cast

HTMX = {"HTTP_HX_REQUEST": "true"}


def text_of(response: Any) -> str:
    return cast(str, response.content.decode())

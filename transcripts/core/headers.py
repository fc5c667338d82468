"""Headers of answers, as operations describe them in the terms of OpenAPI."""

from typing import Any, Final


def header(about: str, *, is_always: bool = False, **schema: Any) -> dict[str, Any]:
    """Describe a header in the terms of OpenAPI; ``is_always``: no such answer lacks it."""
    return {"description": about, "required": is_always, "schema": {"type": "string", **schema}}


FILE_NAME: Final = {"Content-Disposition": header("The name of the file.", is_always=True)}


def located(*statuses: int, is_always: bool = True) -> dict[str, Any]:
    """Declare that answers with these statuses have a Location."""
    location = header(
        "The address of what was made, or of what follows it.",
        is_always=is_always,
        format="uri-reference",
    )
    return {"responses": {status: {"headers": {"Location": location}} for status in statuses}}

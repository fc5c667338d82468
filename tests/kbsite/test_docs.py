"""The pages about searching and about lectures name all that can be asked for."""

from pathlib import Path

import pytest

from citations.api.search import LibrarySearchIn
from kbsite.api import api
from kbsite.cli.app import load

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = (DOCS / "search.md").read_text()
LIVE = (DOCS / "live.md").read_text().partition("## Over REST")[2]


def options() -> list[str]:
    """Return the long names of the options of `kb search` that narrow it."""
    narrowing = [
        param
        for param in load("search").params
        if param.name not in ("query", "mode", "limit", "rerank", "explain", "as_json", "help")
    ]
    return [next(name for name in option.opts if name.startswith("--")) for option in narrowing]


@pytest.mark.parametrize(
    "parameter", sorted(field.alias or name for name, field in LibrarySearchIn.model_fields.items())
)
def test_the_page_names_every_parameter(parameter: str) -> None:
    assert f"`{parameter}`" in PAGE.partition("## Over REST")[2]


@pytest.mark.parametrize("option", options())
def test_the_page_names_every_option_of_the_command(option: str) -> None:
    assert f"`{option} " in PAGE


def test_the_page_about_lectures_names_every_operation_and_whatever_it_takes() -> None:
    schema = api.get_openapi_schema(path_prefix="/api/v1/")
    lectures = {
        path: operations
        for path, operations in schema["paths"].items()
        if any("lectures" in operation.get("tags", ()) for operation in operations.values())
    }
    # Headers that every resource takes, such as If-Match, are explained once, in docs/rest.md.
    taken = {
        parameter["name"]
        for operations in lectures.values()
        for operation in operations.values()
        for parameter in operation.get("parameters", ())
        if parameter["in"] != "header"
    }
    bodies = {
        name
        for body in ("SessionIn", "SegmentsIn", "SegmentIn", "PositionIn", "WindowIn")
        for name in schema["components"]["schemas"][body]["properties"]
    }
    assert len(lectures) == 13
    assert [path for path in lectures if f"{path}`" not in LIVE] == []
    named = (taken - {"session_id", "citation_id", "after"}) | bodies
    assert {name for name in named if f"`{name}`" not in LIVE} == set()
    assert "`?after=" in LIVE

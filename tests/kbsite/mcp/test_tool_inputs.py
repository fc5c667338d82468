"""Arguments that are not given, in every way in which clients do not give them."""

from typing import Any

import pytest
from pydantic import BaseModel

from citations.api.search import VerifyIn
from citations.api.shapes import AskIn
from kbsite.mcp.tool_inputs import Arguments
from kbsite.mcp.tools import all_tools
from tests.kbsite.mcp.conftest import Shelf
from tests.kbsite.mcp_walk import TOOL_CALLS
from tests.makers import make_cues, make_video

TOOLS = {tool.name: tool for tool in all_tools()}
EMPTY: dict[str, Any] = {"string": "", "integer": 0, "number": 0, "boolean": False, "array": []}


def parsed(tool: str, arguments: dict[str, Any]) -> Arguments:
    model = TOOLS[tool].fn_metadata.arg_model
    checked = model.model_validate({**arguments, **({"jobId": 7} if "jobId" in arguments else {})})
    assert isinstance(checked, Arguments)
    return checked


def optional(tool: str) -> dict[str, dict[str, Any]]:
    schema = TOOLS[tool].parameters
    required = schema.get("required", ())
    return {name: part for name, part in schema["properties"].items() if name not in required}


def required(tool: str) -> dict[str, Any]:
    names = TOOLS[tool].parameters.get("required", ())
    return {name: TOOL_CALLS[tool][name] for name in names}


def filled(part: dict[str, Any]) -> Any:
    """Return what a client puts into an argument that it has nothing for."""
    return part["default"] if "enum" in part else EMPTY[part["type"]]


@pytest.mark.parametrize("tool", sorted(TOOLS))
@pytest.mark.parametrize("blank", [None, ""])
def test_null_and_an_empty_text_mean_that_an_argument_is_not_given(tool: str, blank: Any) -> None:
    plain = required(tool)
    assert parsed(tool, plain | dict.fromkeys(optional(tool), blank)) == parsed(tool, plain)
    for name in optional(tool):
        assert parsed(tool, {**plain, name: blank}) == parsed(tool, plain), name


@pytest.mark.parametrize("tool", sorted(TOOLS))
def test_a_client_that_must_fill_in_every_argument_gives_none_of_them(tool: str) -> None:
    plain = required(tool)
    given = {name: filled(part) for name, part in optional(tool).items()} | plain
    assert parsed(tool, given) == parsed(tool, plain)
    mixed = {
        name: None if "enum" in part else filled(part) for name, part in optional(tool).items()
    } | plain
    assert parsed(tool, mixed) == parsed(tool, plain)


@pytest.mark.parametrize("tool", sorted(TOOLS))
def test_no_enumeration_forces_a_choice(tool: str) -> None:
    for part in optional(tool).values():
        assert "enum" not in part or part["default"] in part["enum"]


def test_a_zero_that_is_meant_stays(shelf: Shelf) -> None:
    make_video(shelf.collection, cues=make_cues(200))
    for arguments, part in (
        ({"chunkIndex": 0}, "Chunk 0 (of 4, from 0) 0:00–5:00"),
        ({"startTime": 0, "endTime": 10}, "Part 0:00–0:10"),
        ({"startTime": 0, "endTime": 0, "chunkIndex": 0, "chunkSize": 0}, "Whole transcript"),
    ):
        result = shelf.read("get_transcript", videoId="lecture-1", **arguments)
        assert f"\n{part}, " in result


def test_empty_elements_of_lists_are_dropped() -> None:
    arguments = {"question": "What?", "sourceIds": ["", None]}
    assert parsed("ask_knowledge_base", arguments) == parsed(
        "ask_knowledge_base", {"question": "What?"}
    )


@pytest.mark.parametrize(
    ("tool", "body"), [("ask_knowledge_base", AskIn), ("verify_quote", VerifyIn)]
)
def test_a_tool_takes_what_the_operation_takes_with_the_same_bounds(
    tool: str, body: type[BaseModel]
) -> None:
    arguments = TOOLS[tool].fn_metadata.arg_model.model_fields
    fields = {name: field for name, field in body.model_fields.items() if name != "keep"}
    for name, field in fields.items():
        own = arguments[name]
        assert (own.metadata, own.description) == (field.metadata, field.description)

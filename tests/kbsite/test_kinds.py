"""Every door can filter by every kind of source."""

from typing import get_args

from citations.formats import KINDS
from kbsite.cli.options import Kinds
from kbsite.mcp.tool_inputs import SourceFilterInput


def test_language_models_filter_by_every_kind() -> None:
    schema = SourceFilterInput.model_json_schema()["properties"]["kind"]
    assert set(schema["enum"]) == {"any", *KINDS}


def test_the_terminal_names_every_kind() -> None:
    (_, option) = get_args(Kinds)
    assert all(kind in option.help for kind in KINDS)

"""Every door can filter by every kind of source."""

from typing import get_args

import pytest

from citations.formats import KINDS
from kbsite.cli.options import Kinds
from kbsite.mcp.tool_inputs import ListSources, PagedInput, SearchKnowledgeBase


@pytest.mark.parametrize("arguments", [ListSources, SearchKnowledgeBase])
def test_language_models_filter_by_every_kind(arguments: type[PagedInput]) -> None:
    schema = str(arguments.model_json_schema()["properties"]["kind"])
    assert all(f"'{kind}'" in schema for kind in KINDS)


def test_the_terminal_names_every_kind() -> None:
    (_, option) = get_args(Kinds)
    assert all(kind in option.metavar for kind in KINDS)

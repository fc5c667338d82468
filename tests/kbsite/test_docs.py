"""The page about searching names all that can be asked for."""

from pathlib import Path
from typing import Any

import pytest
import typer.main

from citations.api.sent import SearchIn
from kbsite.cli.app import app

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "search.md").read_text()


def options() -> list[str]:
    """Return the long names of the options of `kb search` that narrow it."""
    command: Any = typer.main.get_command(app)
    narrowing = [one for one in command.commands["search"].params if one.name not in ("query", "mode", "limit", "rerank", "explain", "as_json", "help")]
    return [next(name for name in one.opts if name.startswith("--")) for one in narrowing]


@pytest.mark.parametrize("parameter", sorted(SearchIn.model_fields))
def test_the_page_names_every_parameter(parameter: str) -> None:
    assert f"`{parameter}`" in PAGE.partition("## Over REST")[2]


@pytest.mark.parametrize("option", options())
def test_the_page_names_every_option_of_the_command(option: str) -> None:
    assert f"`{option} " in PAGE

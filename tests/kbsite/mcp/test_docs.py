"""The page about MCP says what is so."""

import json
import re
from pathlib import Path

import pytest

from kbsite.mcp.tools import all_tools
from kbsite.mcp_clients import McpClient, configuration

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "mcp.md").read_text()


@pytest.mark.parametrize("tool", [tool.name for tool in all_tools()])
def test_the_page_names_every_argument(tool: str) -> None:
    section = PAGE.partition("## Tools")[2].partition("\n## ")[0]
    (item,) = re.findall(rf"^- `{tool}` (.*?)\n(?:-|\n)", section, re.MULTILINE | re.DOTALL)
    arguments = item.partition("Arguments: ")[2]
    (known,) = [
        set(definition.parameters["properties"])
        for definition in all_tools()
        if definition.name == tool
    ]
    assert set(re.findall(r"`(\w+)`", arguments)) == known


@pytest.mark.parametrize("client", sorted(McpClient))
def test_the_page_shows_the_configuration_that_is_printed(client: str) -> None:
    shown = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)]
    assert configuration(client, "http://127.0.0.1:8000/mcp", "kb_your-token") in shown

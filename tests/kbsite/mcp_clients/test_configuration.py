"""Links and commands carry what the clients read."""

import base64
import json
import shlex
from urllib.parse import parse_qs, unquote, urlsplit

from kbsite.mcp_clients import configuration

URL = "https://kb.example.org/mcp"
HEADERS = {"Authorization": "Bearer kb_x"}


def test_claude_is_given_the_name_and_the_address() -> None:
    query = parse_qs(urlsplit(configuration.claude_link(URL)).query)
    assert query == {
        "modal": ["add-custom-connector"],
        "connectorName": ["Cuebase"],
        "connectorUrl": [URL],
    }


def test_cursor_is_given_the_configuration_in_base64() -> None:
    for token, headers in (("kb_x", {"headers": HEADERS}), ("", {})):
        query = parse_qs(urlsplit(configuration.cursor_link(URL, token)).query)
        assert query["name"] == ["cuebase"]
        assert json.loads(base64.b64decode(query["config"][0])) == {"url": URL, **headers}


def test_vscode_is_given_the_configuration_in_its_address() -> None:
    scheme, _, given = configuration.vscode_link(URL, "kb_x").partition("?")
    assert scheme == "vscode:mcp/install"
    server = {"name": "cuebase", "type": "http", "url": URL, "headers": HEADERS}
    assert json.loads(unquote(given)) == server


def test_the_command_for_claude_code_is_quoted_for_a_shell() -> None:
    words = shlex.split(configuration.claude_code_command(URL, "kb_x"))
    assert words[-4:] == ["cuebase", URL, "--header", "Authorization: Bearer kb_x"]
    assert configuration.claude_code_command(URL).endswith(f"--transport http cuebase {URL}")

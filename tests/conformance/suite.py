"""The public conformance suite and clients of others, run against an endpoint."""

import os
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from starlette.types import ASGIApp, Receive, Scope, Send

from tests.programs import find_program, require

HERE = Path(__file__).resolve().parent
MODULES = HERE / "node_modules"
ENVIRONMENT = HERE / ".venv"  # with fastmcp
PYTHON = ENVIRONMENT / "bin/python"
OLDEST = 22


@dataclass(frozen=True)
class Score:
    """What became of the scenarios that count for a revision."""

    passing: tuple[str, ...]
    failing: tuple[str, ...]
    output: str

    def __str__(self) -> str:
        but = f"; not {', '.join(self.failing)}" if self.failing else ""
        return (
            f"{len(self.passing)} of {len(self.passing) + len(self.failing)} scored"
            f" scenarios pass{but}"
        )


class Bearing:
    """Give every request a token, for programs that cannot be told one."""

    def __init__(self, application: ASGIApp, token: str) -> None:
        self.application = application
        self.header = (b"authorization", f"Bearer {token}".encode())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            scope = {**scope, "headers": [*scope["headers"], self.header]}
        await self.application(scope, receive, send)


def conformance(url: str, *, revision: str, scratch: Path) -> Score:
    """Run all scenarios that a revision of the protocol requires of a server."""
    command = [
        node(),
        _program("@modelcontextprotocol/conformance"),
        "server",
        "--url",
        url,
        "--requirements",
        revision,
        "-o",
        str(scratch),
    ]
    process = subprocess.run(
        command, capture_output=True, text=True, timeout=280, env=_environment(), check=False
    )
    return _score(process.stdout + process.stderr)


def authorization(url: str, client_id: str, *, port: int, scratch: Path) -> Iterator[str]:
    """Run the scenarios of an authorization server; yield the address that a user is to open, then
    what became of them.
    """
    command = [
        *(node(), _program("@modelcontextprotocol/conformance"), "authorization"),
        *("--url", url, "--client-id", client_id, "--resource", f"{url}/mcp"),
        *("--port", str(port), "-o", str(scratch)),
    ]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**_environment(), "NO_PROXY": "127.0.0.1"},
    ) as process:
        assert process.stdout is not None
        output = ""
        for line in process.stdout:
            output += line
            if line.startswith(f"{url}/oauth/authorize/"):
                address = line.strip()
            if line.startswith("Callback server started"):
                yield address
        yield output


def inspect_tools(url: str, token: str) -> subprocess.CompletedProcess[str]:
    """List the tools with the Inspector, which refuses schemas that clients choke on."""
    command = [
        *(node(), _program("@modelcontextprotocol/inspector"), "--cli", url, "--transport", "http"),
        *("--header", f"Authorization: Bearer {token}", "--method", "tools/list", "--strict"),
    ]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=120, env=_environment(), check=False
    )


def validate_bundle(manifest: Path) -> subprocess.CompletedProcess[str]:
    """Validate a bundle's manifest with the tool of its specification."""
    program = str((MODULES / ".bin" / "mcpb").resolve())
    return subprocess.run(
        [node(), program, "validate", str(manifest)],
        capture_output=True,
        text=True,
        timeout=60,
        env=_environment(),
        check=False,
    )


def require_node() -> None:
    """Skip the test where Node or packages of npm are missing, except in CI."""
    require_installed(MODULES)
    require("" if node() else f"Node {OLDEST} is not installed")


def require_fastmcp() -> None:
    """Do the same where fastmcp is missing."""
    require_installed(ENVIRONMENT)


def require_installed(folder: Path) -> None:
    """Do the same where a folder of packages is missing."""
    is_installed = (folder / ".installed").is_file()
    name = folder.relative_to(HERE.parent)
    require("" if is_installed else f"tests/{name} is missing; sh tests/install.sh says why")


def node() -> str:
    """Return the Node that tests/install.sh brought, or the system's if it is new enough."""
    for program in (MODULES / ".bin" / "node", find_program("node")):
        if program and Path(program).exists() and _version(str(program)) >= OLDEST:
            return str(program)
    return ""


def _version(program: str) -> int:
    output = subprocess.run(
        [program, "--version"], capture_output=True, text=True, timeout=20, check=False
    ).stdout
    match = re.match(r"v(\d+)", output)
    return int(match[1]) if match else 0


def _program(package: str) -> str:
    name = {
        "@modelcontextprotocol/conformance": "conformance",
        "@modelcontextprotocol/inspector": "mcp-inspector",
    }[package]
    return str((MODULES / ".bin" / name).resolve())


def _environment() -> dict[str, str]:
    return {**os.environ, "NO_COLOR": "1", "CI": "true"}


def _score(output: str) -> Score:
    summary = output.partition("=== SUMMARY ===")[2]
    unscored = set(re.findall(r"^ +[✓✗] ([\w-]+) \(", summary, re.MULTILINE))
    outcomes = [
        (mark, name)
        for mark, name in re.findall(r"^([✓✗]) ([\w-]+): ", summary, re.MULTILINE)
        if name not in unscored
    ]
    return Score(
        passing=tuple(name for mark, name in outcomes if mark == "✓"),
        failing=tuple(name for mark, name in outcomes if mark == "✗"),
        output=output,
    )

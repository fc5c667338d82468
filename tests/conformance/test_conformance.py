"""The endpoint conforms to the protocol, by the protocol's own test suite."""

import json
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx2
import pytest
from django.conf import settings as configured

from kbsite.mcp.server import Application, build_server
from tests.conformance import fixtures, suite
from tests.kbsite.mcp.conftest import Shelf, make_shelf
from tests.kbsite.mcp.endpoint import Endpoint, served
from tests.kbsite.oauth.program import Program
from tests.makers import make_video

pytestmark = [pytest.mark.node, pytest.mark.django_db(transaction=True)]

# How many scenarios each revision requires of a server; one less would mean that the output was
# misread.
SCENARIOS = {"2025-11-25": 30, "2026-07-28": 37}
# These have a tool ask the client something in the middle of a call, which takes a session. This
# endpoint keeps none and asks nothing.
NEED_A_SESSION = {
    "tools-call-sampling",
    "tools-call-elicitation",
    "elicitation-sep1034-defaults",
    "elicitation-sep1330-enums",
}
# What any server is asked, whatever it is for; the others call the suite's own tools, resources and
# prompts by name.
FOR_ALL = {
    "2025-11-25": {
        *(
            "server-initialize",
            "ping",
            "completion-complete",
            "tools-list",
            "server-sse-multiple-streams",
        ),
        *("resources-list", "prompts-list", "dns-rebinding-protection"),
    },
    "2026-07-28": {
        *(
            "completion-complete",
            "tools-list",
            "server-sse-multiple-streams",
            "resources-list",
            "sep-2164-resource-not-found",
            "prompts-list",
        ),
        *("dns-rebinding-protection", "caching", "input-required-result-unsupported-methods"),
    },
}


Tell = Callable[[object], None]


@pytest.fixture(autouse=True)
def _prepared(settings: Any) -> None:
    suite.require_node()
    settings.MCP_CALLS_PER_MINUTE = 0
    Path(configured.STATIC_ROOT).mkdir(exist_ok=True)  # WhiteNoise warns otherwise


@pytest.fixture
def tell(record_property: Callable[[str, object], None]) -> Tell:
    """Say something that the summary of the run repeats."""
    return partial(record_property, "score")


@pytest.fixture
def shelf() -> Shelf:
    """A collection with something in it."""
    made = make_shelf("lectures")
    make_video(made.collection)
    return made


@pytest.mark.parametrize("revision", sorted(SCENARIOS))
def test_every_scored_scenario_passes_as_it_is_served(
    shelf: Shelf, revision: str, tmp_path: Path, tell: Tell
) -> None:
    with _served(shelf, with_fixtures=True) as endpoint:
        score = _measured(
            endpoint, revision, tmp_path, "with the suite's fixtures, as served", tell
        )
    assert set(score.failing) <= (NEED_A_SESSION if revision == "2025-11-25" else set()), (
        score.output
    )


def test_the_scenarios_that_need_a_session_pass_with_sessions(
    shelf: Shelf, tmp_path: Path, tell: Tell
) -> None:
    with _served(shelf, with_fixtures=True, stateless=False) as endpoint:
        score = _measured(
            endpoint, "2025-11-25", tmp_path, "with the suite's fixtures, with sessions", tell
        )
    assert score.failing == (), score.output


@pytest.mark.parametrize("revision", sorted(SCENARIOS))
def test_what_is_asked_of_any_server_passes_without_fixtures(
    shelf: Shelf, revision: str, tmp_path: Path, tell: Tell
) -> None:
    with _served(shelf, with_fixtures=False) as endpoint:
        score = _measured(endpoint, revision, tmp_path, "without fixtures", tell)
    assert set(score.passing) >= FOR_ALL[revision], score.output


def test_the_authorization_server_passes_its_scenarios(
    shelf: Shelf, tmp_path: Path, tell: Tell
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    with served(Application()) as endpoint:
        program = Program(
            host=urlsplit(endpoint.base).netloc, redirect_uris=[f"http://127.0.0.1:{port}/callback"]
        )
        run = suite.authorization(endpoint.base, program.client_id, port=port, scratch=tmp_path)
        query = dict(parse_qsl(urlsplit(next(run)).query))
        httpx2.get(program.ask(shelf.owner, **query)).raise_for_status()
        output = next(run)
    tell("conformance, authorization server: " + output.rpartition("Total: ")[2].strip())
    assert "Total: 3 passed, 0 failed" in output, output


def test_the_inspector_finds_nothing_wrong_with_the_tools(shelf: Shelf) -> None:
    with served(Application()) as endpoint:
        done = suite.inspect_tools(endpoint.url, shelf.reading)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "get_transcript" in [tool["name"] for tool in json.loads(done.stdout)["tools"]]


@contextmanager
def _served(shelf: Shelf, *, with_fixtures: bool, stateless: bool = True) -> Iterator[Endpoint]:
    server = build_server()
    if with_fixtures:
        fixtures.register(server)
    with served(suite.Bearing(Application(server, stateless=stateless), shelf.token)) as endpoint:
        yield endpoint


def _measured(
    endpoint: Endpoint, revision: str, scratch: Path, how: str, tell: Tell
) -> suite.Score:
    score = suite.conformance(endpoint.url, revision=revision, scratch=scratch)
    tell(f"conformance {revision}, {how}: {score}")
    assert len(score.passing) + len(score.failing) == SCENARIOS[revision], score.output
    return score

"""Programs of others hear that a long answer goes on: the TypeScript SDK, and mcp-remote."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as configured

from citations.ingest import discovery
from citations.ingest import pipeline as ingest_pipeline
from citations.models import Source
from citations.providers import registry
from kbsite.mcp import progress
from kbsite.mcp.server import Application
from tests.conformance import suite
from tests.kbsite.mcp.conftest import Shelf, make_shelf
from tests.kbsite.mcp.endpoint import Endpoint, served
from tests.makers import make_video
from tests.model_standin import ModelStandIn
from tests.programs import run_program
from transcripts.text.cues import Cue

pytestmark = [pytest.mark.node, pytest.mark.django_db(transaction=True)]
SAID = "A condenser takes the steam of a turbine back to water."
QUESTION = "What does a condenser take back to water?"


@pytest.fixture
def shelf(settings: Any, monkeypatch: pytest.MonkeyPatch, fake_models: None) -> Iterator[Shelf]:
    """A talk that answers the question, and a language model that takes two seconds."""
    suite.require_node()
    Path(configured.STATIC_ROOT).mkdir(exist_ok=True)
    monkeypatch.setattr(progress, "REPORT", 0.5)
    settings.MCP_CALLS_PER_MINUTE = 0
    made = make_shelf("lectures")
    make_video(made.collection, key="steam", title="Steam", cues=[Cue(0, 5_000, SAID)])
    discovery.adopt()
    ingest_pipeline.ingest(Source.objects.get().pk)
    with ModelStandIn() as server:
        settings.LLM_PROVIDER, settings.LLM_MODEL = "openai", "fault:slow"
        for name, value in server.settings().items():
            setattr(settings, name, value)
        server.answer = lambda _: f"{SAID[:-1]} [1]."
        server.delay = 2.0
        registry.reset()
        yield made
    registry.reset()


def by_sdk(endpoint: Endpoint, token: str) -> list[str]:
    return [endpoint.url, token]


def by_mcp_remote(endpoint: Endpoint, token: str) -> list[str]:
    program = str(suite.MODULES / "mcp-remote" / "dist" / "proxy.js")
    header = ("--header", f"Authorization: Bearer {token}")
    return ["--", suite.node(), program, endpoint.url, "--transport", "http-only", *header]


@pytest.mark.parametrize("way", [by_sdk, by_mcp_remote])
def test_a_long_answer_is_reported_to_programs_of_others(
    shelf: Shelf, way: Callable[[Endpoint, str], list[str]]
) -> None:
    with served(Application()) as endpoint:
        script = suite.HERE / "progress.mjs"
        done = run_program(suite.node(), script, QUESTION, *way(endpoint, shelf.token))
    result = json.loads(done.stdout.splitlines()[-1])
    assert "condenser" in result["text"]
    seconds = [report["progress"] for report in result["heard"]]
    assert len(seconds) >= 3
    assert seconds == sorted(set(seconds))
    assert any("writing the answer" in report["message"] for report in result["heard"])

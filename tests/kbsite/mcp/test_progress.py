"""Long calls: their progress, their ends, and clients that give up."""

import json
import threading
import time
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from citations.ingest import discovery
from citations.ingest import pipeline as ingest_pipeline
from citations.models import Answer, AnswerState, Source
from citations.providers import registry
from citations.search import query_expansion
from kbsite.mcp import progress
from tests.kbsite.mcp.conftest import Shelf
from tests.kbsite.mcp.endpoint import Endpoint, reply, text
from tests.loopback import NO_TLS
from tests.makers import make_video
from tests.model_standin import Fault, ModelStandIn
from tests.waiting import looks
from transcripts.text.cues import Cue

SAID = "A condenser takes the steam of a turbine back to water."
QUESTION = "What does a condenser take back to water?"
STREAM = "application/json, text/event-stream"


@pytest.fixture
def model(shelf: Shelf, settings: Any, fake_models: None) -> Iterator[ModelStandIn]:
    """A language model, and a talk that answers the question."""
    make_video(shelf.collection, key="steam", title="Steam", cues=[Cue(0, 5_000, SAID)])
    discovery.adopt()
    ingest_pipeline.ingest(Source.objects.get().pk)
    with ModelStandIn() as server:
        settings.LLM_PROVIDER = "openai"
        settings.LLM_MODEL = "fault:slow"
        for name, value in server.settings().items():
            setattr(settings, name, value)
        server.answer = lambda _: f"{SAID[:-1]} [1]."
        server.delay = 30.0
        registry.reset()
        yield server
    registry.reset()


@pytest.fixture(autouse=True)
def _hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "REPORT", 0.2)
    monkeypatch.setattr(progress, "POLL", 0.05)
    monkeypatch.setattr(query_expansion, "HYDE_SECONDS", 0.1)


def question(number: int = 7, **meta: Any) -> dict[str, Any]:
    arguments = {"name": "ask_knowledge_base", "arguments": {"question": QUESTION}, "_meta": meta}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": arguments}


def cancelled(number: int = 7) -> dict[str, Any]:
    params = {"requestId": number, "reason": "no longer needed"}
    return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}


def messages(response: httpx2.Response) -> list[dict[str, Any]]:
    lines = response.text.splitlines()
    return [json.loads(line[5:]) for line in lines if line.startswith("data:")]


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_an_answer_that_takes_long_is_reported_all_the_while(
    endpoint: Endpoint, shelf: Shelf, model: ModelStandIn, mode: str
) -> None:
    model.delay = 1.0
    seen: list[tuple[float, str | None]] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        seen.append((progress, message))

    result = endpoint.talk(
        shelf.token,
        lambda client: client.call_tool(
            "ask_knowledge_base", {"question": QUESTION}, progress_callback=note
        ),
        mode=mode,
    )
    assert "condenser" in reply(result)
    seconds = [progress for progress, _ in seen]
    assert len(seconds) >= 3
    assert seconds == sorted(set(seconds))
    assert any("writing the answer" in str(message) for _, message in seen)


def test_without_a_token_of_progress_none_is_sent(
    endpoint: Endpoint, shelf: Shelf, model: ModelStandIn
) -> None:
    model.delay = 0.6
    (answer,) = messages(endpoint.post(question(), token=shelf.token, Accept=STREAM))
    assert answer["id"] == 7


def test_a_client_that_reads_json_alone_gets_the_answer_without_the_progress(
    endpoint: Endpoint, shelf: Shelf, model: ModelStandIn
) -> None:
    model.delay = 0.6
    response = endpoint.post(
        question(progressToken="mine"), token=shelf.token, Accept="application/json"
    )
    assert response.headers["content-type"] == "application/json"
    assert "condenser" in response.json()["result"]["content"][0]["text"]


@pytest.mark.parametrize("fault", [Fault.SLOW, Fault.DRIPPING])
@pytest.mark.parametrize("accept", [STREAM, "application/json"])
def test_a_call_that_is_cancelled_ends_and_so_does_its_work(
    endpoint: Endpoint, shelf: Shelf, model: ModelStandIn, settings: Any, accept: str, fault: Fault
) -> None:
    settings.LLM_MODEL = f"fault:{fault}"
    registry.reset()
    answers: list[httpx2.Response] = []
    call = threading.Thread(
        target=lambda: answers.append(endpoint.post(question(), token=shelf.token, Accept=accept))
    )
    started = time.monotonic()
    call.start()
    _wait_for_model(model)
    time.sleep(0.3)  # another process hears of it, too
    assert endpoint.post(cancelled(8), token=shelf.token).status_code == 202  # of another request
    assert endpoint.post(cancelled(), token="kb_unknown").status_code == 401
    assert endpoint.post(cancelled(), token=shelf.reading).status_code == 202  # another client's
    time.sleep(0.5)
    assert call.is_alive()
    assert endpoint.post(cancelled(), token=shelf.token).status_code == 202
    call.join(5)
    assert time.monotonic() - started < 15
    body = answers[0].json() if accept != STREAM else messages(answers[0])[-1]
    assert body["error"]["code"] == progress.CANCELLED
    _wait_for_end()


def test_a_call_that_is_cancelled_before_anybody_listens_ends_too(
    endpoint: Endpoint, shelf: Shelf, model: ModelStandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "POLL", 3.0)
    answers: list[httpx2.Response] = []
    call = threading.Thread(
        target=lambda: answers.append(endpoint.post(question(), token=shelf.token))
    )
    call.start()
    _wait_for_model(model)
    for agent in ("another program", None):
        named = {"User-Agent": agent} if agent else {}
        assert endpoint.post(cancelled(), token=shelf.token, **named).status_code == 202
        call.join(0.5)
        assert call.is_alive()
    call.join(9)
    assert messages(answers[0])[-1]["error"]["code"] == progress.CANCELLED
    _wait_for_end()


@pytest.mark.parametrize("accept", [STREAM, "application/json"])
@pytest.mark.parametrize("version", ["2025-06-18", "2026-07-28"])
def test_a_client_that_goes_away_ends_its_work(
    endpoint: Endpoint, shelf: Shelf, model: ModelStandIn, accept: str, version: str
) -> None:
    envelope = "io.modelcontextprotocol"
    meta = {f"{envelope}/protocolVersion": version, f"{envelope}/clientCapabilities": {}}
    headers = {
        "Accept": accept,
        "Authorization": f"Bearer {shelf.token}",
        "MCP-Protocol-Version": version,
        "Mcp-Method": "tools/call",
        "Mcp-Name": "ask_knowledge_base",
    }
    body = question(**meta)
    with pytest.raises(httpx2.ReadTimeout), httpx2.Client(timeout=2, verify=NO_TLS) as http:
        http.post(endpoint.url, json=body, headers=headers)
    assert model.requests
    _wait_for_end()


def test_the_sessions_of_clients_tell_their_requests_apart(
    endpoint: Endpoint, shelf: Shelf, model: ModelStandIn
) -> None:
    about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {}}
    about["clientInfo"] = {"name": "x", "version": "1"}
    start = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": about}
    first, second = (
        endpoint.post(start, token=shelf.token).headers["mcp-session-id"] for _ in range(2)
    )
    assert first != second
    model.delay = 1.5
    answers: list[httpx2.Response] = []
    sent = {"token": shelf.token, "Mcp-Session-Id": first}
    call = threading.Thread(target=lambda: answers.append(endpoint.post(question(), **sent)))
    call.start()
    _wait_for_model(model)
    time.sleep(0.3)
    endpoint.post(cancelled(), token=shelf.token, **{"Mcp-Session-Id": second})
    call.join(10)
    assert "result" in messages(answers[0])[-1]


def test_a_search_needs_no_progress_and_is_answered_at_once(
    endpoint: Endpoint, shelf: Shelf
) -> None:
    result = endpoint.call(shelf.token, "list_transcripts")
    assert "No video matches" in text(result)


def _wait_for_model(model: ModelStandIn) -> None:
    for _ in looks(10):
        if model.requests:
            return
    raise AssertionError("The model was not asked.")


def _wait_for_end() -> None:
    """Wait until the question is given up, long before the model would answer."""
    for _ in looks(5):
        if Answer.objects.get().state == AnswerState.FAILED:
            assert "The request ended" in Answer.objects.get().error
            return
    raise AssertionError(f"The work goes on: {Answer.objects.get().state}")

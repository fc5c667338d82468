"""Model servers on this machine are found in the background, and nothing else is taken for one."""

import time
from collections.abc import Iterator
from typing import Any

import pytest

from citations.providers import local_servers
from tests.scripted_model_server import Reply, ScriptedModelServer

LISTED = {"data": [{"id": "qwen3-4b", "owned_by": "llamacpp"}, {"id": "nomic-embed-text"}]}
TAGS = {"models": [{"name": "gemma3:4b", "size": 1}, {"name": "bge-m3:latest"}]}


@pytest.fixture(autouse=True)
def _unknown() -> Iterator[None]:
    local_servers.forget()
    yield
    local_servers.forget()


def _found(
    monkeypatch: pytest.MonkeyPatch,
    server: ScriptedModelServer,
    name: str = "",
    ollama: bool = False,
) -> tuple[local_servers.LocalServer, ...]:
    port = int(server.url.rpartition(":")[2])
    monkeypatch.setattr(local_servers, "PORTS", {port: name})
    monkeypatch.setattr(local_servers, "OLLAMA_PORT", port if ollama else 1)
    return local_servers.servers(wait=5)


def test_a_server_of_openais_api_is_found_with_its_language_models(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with ScriptedModelServer(lambda _: Reply(LISTED)) as server:
        (running,) = _found(monkeypatch, server)
        assert (running.name, running.models, running.provider) == (
            "llama.cpp",
            ("qwen3-4b",),
            "openai",
        )
        assert running.base_url == f"{server.url}/v1"
        assert server.paths == ["/v1/models"]


def test_ollama_is_found_also_without_a_model(monkeypatch: pytest.MonkeyPatch) -> None:
    with ScriptedModelServer(lambda _: Reply(TAGS)) as server:
        (running,) = _found(monkeypatch, server, "Ollama", ollama=True)
        assert (running.name, running.models) == ("Ollama", ("gemma3:4b",))
        assert (running.provider, running.base_url) == ("ollama", server.url)
        server.reply = lambda _: Reply({"models": []})
        local_servers.forget()
        (running,) = _found(monkeypatch, server, "Ollama", ollama=True)
        assert running.models == ()


@pytest.mark.parametrize(
    "reply",
    [
        Reply("<!doctype html><title>Cuebase</title>", 404, "text/html"),
        Reply("<!doctype html><title>Sign in</title>", 200, "text/html"),
        Reply("", 302),
        Reply({"data": []}),
        Reply({"data": "none"}),
        Reply({"models": {"a": 1}}),
        Reply({"count": 3, "next": None}),
        Reply('{"data":' + "[" * 100_000),
    ],
)
def test_what_is_no_model_server_is_not_taken_for_one(
    monkeypatch: pytest.MonkeyPatch, reply: Reply
) -> None:
    with ScriptedModelServer(lambda _: reply) as server:
        assert _found(monkeypatch, server) == ()
        assert len(server.paths) == 1


def test_nobody_waits_for_a_server_that_is_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(body: dict[str, Any]) -> Reply:
        server.hold(5)
        return Reply(LISTED)

    with ScriptedModelServer(slow) as server:
        monkeypatch.setattr(
            local_servers, "PORTS", {int(server.url.rpartition(":")[2]): "LM Studio"}
        )
        started = time.monotonic()
        assert local_servers.servers() == ()
        assert time.monotonic() - started < 0.3
        assert local_servers.servers(wait=4) == ()
        assert time.monotonic() - started < 3


def test_it_is_looked_for_once_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    with ScriptedModelServer(lambda _: Reply(LISTED)) as server:
        first = _found(monkeypatch, server)
        assert local_servers.servers() == first
        assert len(server.paths) == 1


def test_only_ports_of_model_servers_are_tried_and_on_loopback_only() -> None:
    assert set(local_servers.PORTS) == {11434, 1234, 8080, 8000, 1337, 4891, 5001}
    running = local_servers.LocalServer(port=8080, name="x", models=())
    assert running.base_url.startswith("http://127.0.0.1:")

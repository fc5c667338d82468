"""Trying a language model says what it and its server can do."""

from typing import Any

import pytest

from citations import conf
from citations.providers import chat_services, http, trial
from citations.providers.http import HttpRetryPolicy
from citations.providers.llm import RemoteLlm
from citations.providers.trial import APART, INSIDE, NO_THOUGHTS, ModelTrial
from tests.scripted_model_server import Reply, ScriptedModelServer, events, whole

WORDS = ("It ", "clicks ", "off ", "at ", "96 ", "degrees ", "[1].")


def _tried(reply: Any) -> ModelTrial:
    with ScriptedModelServer(reply) as server:
        made = chat_services.make(
            conf.LlmChoice(provider="openai", model="m", base_url=f"{server.url}/v1")
        )
        assert isinstance(made, RemoteLlm)
        return trial.try_model(made)


def _reply(*deltas: Any, json: str = '{"degrees": 96}') -> Any:
    return lambda body: Reply(events(*deltas)) if body.get("stream") else Reply(whole(json))


def test_a_good_server_needs_no_advice() -> None:
    result = _tried(_reply(*WORDS))
    assert (result.answers, result.streams, result.system_role, result.json) == (True,) * 4
    assert (result.cites, result.thoughts, result.advice) == (True, NO_THOUGHTS, "")
    assert result.answer == "It clicks off at 96 degrees [1]."
    assert result.server.startswith("127.0.0.1:")
    assert result.speed > 0


def test_thoughts_are_told_wherever_they_stand() -> None:
    apart = _tried(_reply({"reasoning_content": "Hm."}, *WORDS))
    inside = _tried(_reply("<think>", "Hm.", "</think>", *WORDS))
    assert (apart.thoughts, inside.thoughts) == (APART, INSIDE)
    assert "thinks before it answers" in inside.advice


def test_what_it_cannot_do_is_told() -> None:
    def reply(body: dict[str, Any]) -> Reply:
        if body.get("stream") or body["messages"][0]["role"] == "system":
            return Reply({"error": "stream or system message: bad request"}, 400)
        return Reply(whole("It depends."))

    result = _tried(reply)
    assert result.answers
    assert (result.streams, result.system_role, result.json, result.cites) == (False,) * 4
    assert "larger LLM_MODEL" in result.advice


@pytest.mark.parametrize(
    "reply", [Reply({"error": "no memory left"}, 400), Reply({"error": "no memory left"}, 200)]
)
def test_an_error_is_the_advice(monkeypatch: pytest.MonkeyPatch, reply: Reply) -> None:
    monkeypatch.setattr(http, "RETRY_POLICY", HttpRetryPolicy(tries=1, first=0.01, total=1))
    result = _tried(lambda body: reply)
    assert not result.answers
    assert "no memory left" in result.advice

"""Language models behind servers that take liberties with OpenAI's API, over real HTTP."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from citations import conf
from citations.errors import ModelRefused, ModelServerError
from citations.providers import chat_services, http
from citations.providers.http import HttpRetryPolicy
from citations.providers.llm import THINKING_ROOM, RemoteLlm, Usage
from citations.providers.prompts import Prompt
from tests.scripted_model_server import Reply, ScriptedModelServer, events, whole

ANSWER = "The kettle clicks off at 96 degrees [1]."
PROMPT = Prompt(system="Be short.", document="Passage [1]", text="When?", max_tokens=700)


@pytest.fixture(autouse=True)
def _hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    policy = HttpRetryPolicy(tries=2, first=0.01, pause=0.02, total=5)
    monkeypatch.setattr(http, "RETRY_POLICY", policy)


def _llm(server: ScriptedModelServer, provider: str = "openai", **choice: Any) -> RemoteLlm:
    base = server.url if provider == "ollama" else f"{server.url}/v1"
    made = chat_services.make(conf.LlmChoice(provider=provider, model="m", base_url=base, **choice))
    assert isinstance(made, RemoteLlm)
    return made


def _good(body: dict[str, Any]) -> Reply:
    return Reply(events(ANSWER)) if body.get("stream") else Reply(whole(ANSWER))


def _both(llm: RemoteLlm) -> list[str]:
    """Return the answer as a whole, and as a stream."""
    return [llm.ask(PROMPT).text, "".join(llm.stream(PROMPT)).strip()]


def _always(reply: Any, kind: str = "application/json") -> Callable[[dict[str, Any]], Reply]:
    return lambda body: Reply(reply, kind=kind)


# Answers


@pytest.mark.parametrize(
    "reply",
    [
        events(ANSWER, finish=None),
        events({"role": "assistant", "content": ""}, {"content": None}, ANSWER),
        events(ANSWER, usage={"prompt_tokens": None, "completion_tokens": 1.5}),
        events(ANSWER, usage={"prompt_tokens": "many", "prompt_tokens_details": None}),
        events(ANSWER).replace("data: ", "data:").replace("\n", "\r\n"),
        ": ping\n\n" + events(ANSWER).replace("\n\n", "\n\n: ping\n\nevent: x\n", 1),
        'data: {"choices": [], "prompt_filter_results": []}\n\n' + events(ANSWER),
        events(ANSWER) + 'data: {"choices": null}\n\n',
        events(ANSWER).replace('"finish_reason": "stop"', '"finish_reason": "stop", "x": 1'),
        events({"reasoning_content": "Passage 2 says no [2]."}, ANSWER),
        events({"reasoning": "Hm."}, {"content": [{"type": "text", "text": ANSWER}]}),
        events({"content": [{"type": "thinking", "thinking": [{"text": "Hm."}]}]}, ANSWER),
        json.dumps(whole(ANSWER), indent=2),
        whole(ANSWER),
        whole(ANSWER, finish=None),
        whole([{"type": "reasoning", "text": "Hm."}, {"type": "text", "text": ANSWER}]),
        whole(ANSWER, reasoning_content="Passage 2 says no [2]."),
        {"choices": [{"text": ANSWER, "finish_reason": "stop"}]},
        events("<think>Passage 2 says no [2].\n", "</think>\n\n", ANSWER),
    ],
)
def test_an_answer_is_read_in_every_form(reply: Any) -> None:
    with ScriptedModelServer(_always(reply, "text/plain")) as server:
        assert _both(_llm(server)) == [ANSWER, ANSWER]


def test_a_stream_that_ends_in_the_middle_is_told() -> None:
    cut = events("The kettle ", finish=None, done=False)
    with (
        ScriptedModelServer(_always(cut)) as server,
        pytest.raises(ModelServerError, match="broke off in the middle"),
    ):
        list(_llm(server).stream(PROMPT))


def test_ollama_may_count_nothing_and_think_apart() -> None:
    lines = [
        {"message": {"content": "", "thinking": "Hm."}, "done": False},
        {"message": {"content": ANSWER}, "done": False},
        {"message": {"content": None}, "done": True, "eval_count": None, "done_reason": None},
    ]
    with ScriptedModelServer(_always("\n".join(map(json.dumps, lines)))) as server:
        assert _both(_llm(server, "ollama")) == [ANSWER, ANSWER]


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        ({"error": "model is loading"}, "model is loading"),
        ({"object": "error", "message": "no such thing", "code": 400}, "no such thing"),
        ({"detail": [{"loc": ["body"], "msg": "field required"}]}, "body: field required"),
        (events("The ", finish=None, done=False) + 'data: {"error": {"message": "full"}}', "full"),
        ("<!doctype html><title>Sign in</title><p>x", "cannot be understood: “Sign in”"),
        ("upstream is away", "upstream is away"),
    ],
)
def test_an_error_in_place_of_an_answer_is_told_in_its_words(reply: Any, words: str) -> None:
    with ScriptedModelServer(_always(reply)) as server:
        llm = _llm(server)
        for ask in (lambda: llm.ask(PROMPT), lambda: list(llm.stream(PROMPT))):
            with pytest.raises(ModelServerError) as raised:
                ask()
            assert words in raised.value.message
            assert server.url.removeprefix("http://") in raised.value.message
            assert "OpenAI" not in raised.value.message


# Requests in the form that a server takes


def _refusing(
    is_refused: Callable[[dict[str, Any]], bool], message: Any, status: int = 400
) -> Callable[[dict[str, Any]], Reply]:
    return lambda body: Reply(message, status) if is_refused(body) else _good(body)


def _has_system(body: dict[str, Any]) -> bool:
    return any(message["role"] == "system" for message in body["messages"])


@pytest.mark.parametrize(
    ("is_refused", "message", "status"),
    [
        (
            lambda body: "max_tokens" in body,
            {"error": {"message": "Use 'max_completion_tokens' instead of 'max_tokens'."}},
            400,
        ),
        (
            lambda body: "max_tokens" in body,
            {"detail": [{"loc": ["body", "max_tokens"], "msg": "Extra inputs are not permitted"}]},
            422,
        ),
        (
            lambda body: {"max_tokens", "max_completion_tokens"} & set(body),
            {"message": "Unknown field: max_tokens or max_completion_tokens"},
            400,
        ),
        (_has_system, {"error": "Developer instruction is not enabled for this model"}, 400),
        (_has_system, {"error": {"message": "Jinja Exception: System role not supported"}}, 500),
        (_has_system, {"detail": "Conversation roles must alternate user/assistant/user"}, 400),
        (lambda body: body.get("stream"), {"error": "Streaming is not supported."}, 400),
        (lambda body: "stream" in body, {"error": {"message": "bad", "param": "stream"}}, 400),
        (
            lambda body: body.get("max_tokens", 0) > 512,
            {"error": "max_tokens is too large: 700. The model writes at most 512 tokens."},
            400,
        ),
        (lambda body: _has_system(body) or body.get("stream"), "", 400),
        (lambda body: set(body) - {"model", "messages"}, {"detail": "Unprocessable Entity"}, 422),
    ],
)
def test_what_is_refused_is_sent_in_another_form_which_is_remembered(
    is_refused: Callable[[dict[str, Any]], bool], message: Any, status: int
) -> None:
    with ScriptedModelServer(_refusing(is_refused, message, status)) as server:
        llm = _llm(server)
        assert _both(llm) == [ANSWER, ANSWER]
        learned = len(server.bodies)
        assert _both(llm) == [ANSWER, ANSWER]
        assert len(server.bodies) == learned + 2
        sent = json.dumps(server.bodies[-1]["messages"])
        assert all(part in sent for part in ("Be short.", "Passage [1]", "When?"))


def test_ollama_and_anthropic_are_adapted_to_as_well() -> None:
    ollama = json.dumps({"message": {"content": ANSWER}, "done": True})
    refusal = {"error": '"m" does not support thinking'}
    with ScriptedModelServer(
        lambda body: Reply(refusal, 400) if "think" in body else Reply(ollama)
    ) as server:
        assert _both(_llm(server, "ollama")) == [ANSWER, ANSWER]
    message = {"type": "message", "content": [{"type": "text", "text": ANSWER}]}
    refusal = {"message": "messages.0.content.0: cache_control is not a known field"}
    with ScriptedModelServer(
        lambda body: Reply(refusal, 400) if "cache_control" in str(body) else Reply(message)
    ) as server:
        assert _llm(server, "anthropic").ask(PROMPT).text == ANSWER
        assert server.bodies[-1]["messages"][0]["content"] == "Passage [1]\n\nWhen?"


@pytest.mark.parametrize(
    ("status", "message", "words"),
    [
        (400, {"error": {"message": "The model `m` was retired."}}, "was retired"),
        (400, {"error": "This model's maximum context length is 4096 tokens."}, "4096 tokens"),
        (401, {"message": "no key"}, "requires a key"),
        (404, {"error": {"message": "model m not found"}}, "model m not found"),
        (402, {"detail": "No credit"}, "No credit"),
        (400, {"errors": [{"message": "first"}, "second"]}, "first; second"),
        (400, "<html><h1>Blocked</h1></html>", "Blocked"),
    ],
)
def test_a_refusal_that_no_other_form_mends_is_told_at_once(
    settings: Any, status: int, message: Any, words: str
) -> None:
    settings.OPENAI_API_KEY = ""
    with ScriptedModelServer(lambda body: Reply(message, status)) as server:
        with pytest.raises(ModelRefused, match=words):
            _llm(server).ask(PROMPT)
        assert len(server.bodies) == 1


@pytest.mark.parametrize(
    ("message", "budget"),
    [
        ("This model's maximum context length is 2048 tokens. You requested 5700 tokens.", 2_048),
        ("the request exceeds the available context size, try increasing it", 4_000),
    ],
)
def test_a_server_that_reads_less_gets_less_from_then_on(message: str, budget: int) -> None:
    with ScriptedModelServer(lambda body: Reply({"error": {"message": message}}, 400)) as server:
        llm = _llm(server)
        with pytest.raises(ModelRefused):
            llm.ask(PROMPT)
        assert llm.budget == budget


def test_a_server_that_refuses_everything_is_not_asked_for_ever() -> None:
    def reply(body: dict[str, Any]) -> Reply:
        most = body.get("max_tokens", 1_000) - 1
        return Reply({"error": f"max_tokens exceeds the maximum of {most}"}, 400)

    with ScriptedModelServer(reply) as server:
        llm = _llm(server)
        with pytest.raises(ModelRefused):
            llm.ask(PROMPT)
        assert len(server.bodies) <= 10
        assert llm.form.most_tokens == 0


# Thoughts that use up the answer's limit


@pytest.mark.parametrize(
    "thought",
    [
        events({"reasoning_content": "Hm, hm."}, "", finish="length"),
        events("<think>", "Hm, hm.", finish="length"),
        whole(None, "length", reasoning_content="Hm."),
        whole("<think>Hm, the", "length"),
    ],
)
def test_thoughts_get_room_once_and_the_prompts_become_smaller(thought: Any) -> None:
    def reply(body: dict[str, Any]) -> Reply:
        return Reply(thought) if body["max_tokens"] < 2_000 else _good(body)

    with ScriptedModelServer(reply) as server:
        llm = _llm(server)
        budget = llm.budget
        assert _both(llm) == [ANSWER, ANSWER]
        limits = [body["max_tokens"] for body in server.bodies]
        assert limits == [700, 700 + THINKING_ROOM, 700 + THINKING_ROOM]
        assert llm.budget == budget - THINKING_ROOM


def test_a_model_that_only_thinks_is_told() -> None:
    thought = events({"reasoning_content": "Hm."}, finish="length")
    with ScriptedModelServer(_always(thought)) as server:
        with pytest.raises(ModelServerError, match=r"thought, but gave no answer \(length\)"):
            list(_llm(server).stream(PROMPT))
        assert len(server.bodies) == 2


def test_tokens_that_are_no_numbers_count_nothing() -> None:
    usages: list[Usage] = []
    reply = events(ANSWER, usage={"prompt_tokens": -3, "completion_tokens": 7.9})
    with ScriptedModelServer(_always(reply)) as server:
        list(_llm(server).stream(PROMPT, on_usage=usages.append))
    assert usages == [Usage(output=7)]

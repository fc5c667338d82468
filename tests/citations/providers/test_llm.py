"""Language models, against the stand-in over real HTTP."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from citations import conf
from citations.conf import SERVICE_TIMEOUT
from citations.errors import InvalidProvider, ModelMissing, ModelRefused, ModelServerError
from citations.providers import chat_services, registry
from citations.providers.chat_services import OWN_TIMEOUT
from citations.providers.http import ModelServer
from citations.providers.llm import KNOWN_CONTEXT, UNKNOWN_CONTEXT, Llm, RemoteLlm, Usage
from citations.providers.prompts import Prompt
from tests.fake_llm import FakeLlm
from tests.model_standin import Fault, ModelStandIn

PROVIDERS = ["openai", "anthropic", "ollama"]
DOCUMENT = "A talk about captions. " * 20


def _llm(standin: ModelStandIn, provider: str = "openai", **choice: Any) -> RemoteLlm:
    if provider == "anthropic":
        choice.setdefault("base_url", standin.anthropic_url)
    made = chat_services.make(conf.LlmChoice(provider=provider, **choice))
    assert isinstance(made, RemoteLlm)
    return made


def _official(
    standin: ModelStandIn, provider: str, monkeypatch: pytest.MonkeyPatch, model: str = ""
) -> RemoteLlm:
    """A language model that takes the stand-in for the service itself."""
    monkeypatch.setattr(
        {"openai": chat_services.OpenAiLlm, "anthropic": chat_services.AnthropicLlm}[provider],
        "home",
        "127.0.0.1",
    )
    return _llm(standin, provider, model=model)


def complete(llm: Llm, text: str, *, tries: int = 0, **parts: Any) -> str:
    return llm.ask(Prompt(text=text, **parts), tries=tries).text


def stream(
    llm: Llm, text: str, *, on_usage: Callable[[Usage], None] | None = None, **parts: Any
) -> Iterator[str]:
    return llm.stream(Prompt(text=text, **parts), on_usage=on_usage)


def _body(standin: ModelStandIn) -> dict[str, Any]:
    return standin.requests[-1].body


@pytest.mark.parametrize("provider", PROVIDERS)
def test_each_answers_whole(model_server: ModelStandIn, provider: str) -> None:
    llm = _llm(model_server, provider)
    assert complete(llm, "What of times?", system="Be short.") == "It is about What of times?."
    done = llm.ask(Prompt(text="What of times?", document=DOCUMENT))
    assert done.text.startswith("It is about ")
    assert done.usage.input > 100
    assert done.usage.output > 3


@pytest.mark.parametrize("provider", PROVIDERS)
def test_each_answers_in_pieces(model_server: ModelStandIn, provider: str) -> None:
    llm = _llm(model_server, provider)
    usages: list[Usage] = []
    pieces = list(stream(llm, "What of times?", system="Be short.", on_usage=usages.append))
    assert pieces == ["It", " is", " about", " What", " of", " times?."]
    assert "".join(pieces) == complete(llm, "What of times?", system="Be short.")
    assert [usage.output for usage in usages] == [
        0 if provider == "openai" else 6
    ]  # other servers than OpenAI may not be asked to count


def test_the_usual_models_are_small_ones(model_server: ModelStandIn) -> None:
    expected = ["openai:gpt-6-luna", "anthropic:claude-haiku-5-5", "ollama:gemma3:4b"]
    assert [_llm(model_server, provider).name for provider in PROVIDERS] == expected


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("fault", [Fault.CUT, Fault.ERROR_INSIDE])
def test_a_stream_that_breaks_off_is_told(
    model_server: ModelStandIn, provider: str, fault: Fault
) -> None:
    model_server.fail(fault)
    heard: list[str] = []
    with pytest.raises(ModelServerError, match="broke off"):
        heard.extend(stream(_llm(model_server, provider), "What of times?"))
    assert len(model_server.requests) == 1


@pytest.mark.parametrize("provider", PROVIDERS)
def test_an_error_in_place_of_an_answer_is_told(model_server: ModelStandIn, provider: str) -> None:
    model_server.fail(Fault.ERROR_INSIDE)
    with pytest.raises(ModelServerError, match="Overloaded"):
        complete(_llm(model_server, provider), "What of times?")


@pytest.mark.parametrize("provider", PROVIDERS)
def test_an_empty_answer_is_none(model_server: ModelStandIn, provider: str) -> None:
    llm = _llm(model_server, provider)
    model_server.fail(Fault.EMPTY, Fault.EMPTY)
    with pytest.raises(ModelServerError, match="gave no answer"):
        complete(llm, "What of times?")
    with pytest.raises(ModelServerError, match="gave no answer"):
        list(stream(llm, "What of times?"))


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_busy_server_is_asked_again(model_server: ModelStandIn, provider: str) -> None:
    llm = _llm(model_server, provider)
    model_server.fail(Fault.LIMITED, Fault.OVERLOADED, None, Fault.LIMITED)
    assert complete(llm, "What of times?")
    assert list(stream(llm, "What of times?"))
    model_server.fail(Fault.LIMITED)
    with pytest.raises(ModelServerError):
        complete(llm, "What of times?", tries=1)


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("fault", [Fault.UNAUTHORIZED, Fault.REFUSED])
def test_a_refusal_is_told(model_server: ModelStandIn, provider: str, fault: Fault) -> None:
    model_server.fail(fault, fault)
    with pytest.raises(ModelRefused):
        complete(_llm(model_server, provider), "What of times?")
    with pytest.raises(ModelRefused):
        list(stream(_llm(model_server, provider), "What of times?"))


def test_a_model_that_was_not_pulled_is_told_with_the_command(model_server: ModelStandIn) -> None:
    llm = _llm(model_server, "ollama", model="qwen3:4b")
    for ask in (lambda: complete(llm, "a"), lambda: list(stream(llm, "a"))):
        with pytest.raises(ModelMissing) as raised:
            ask()
        assert raised.value.hint == "`ollama pull qwen3:4b` gets it."


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_question_beyond_the_budget_is_not_sent(
    model_server: ModelStandIn, provider: str
) -> None:
    with pytest.raises(ModelRefused, match="reads 500 tokens at once") as raised:
        complete(_llm(model_server, provider, context_tokens=500), "a", document="word " * 1000)
    assert "LLM_CONTEXT_TOKENS" in raised.value.hint
    assert model_server.requests == []


def test_none_is_no_language_model() -> None:
    assert chat_services.make(conf.LlmChoice(provider="none")) is None


def test_an_unknown_provider_is_told() -> None:
    with pytest.raises(InvalidProvider, match="There is no language model provider 'oracle'"):
        chat_services.make(conf.LlmChoice(provider="oracle"))


@pytest.mark.parametrize(
    ("provider", "key"), [("openai", "OPENAI_API_KEY"), ("anthropic", "ANTHROPIC_API_KEY")]
)
def test_a_service_needs_a_key(settings, provider: str, key: str) -> None:
    setattr(settings, key, "")
    settings.OPENAI_BASE_URL = "https://api.openai.com/v1"
    with pytest.raises(InvalidProvider, match=f"{key} is empty"):
        chat_services.make(conf.LlmChoice(provider=provider))


def test_the_address_may_be_another(model_server: ModelStandIn) -> None:
    llm = _llm(model_server, base_url=f"{model_server.url}/openai/v1/", model="my-model")
    assert complete(llm, "a")
    assert model_server.requests[0].path == "/openai/v1/chat/completions"


# What goes over the wire


def test_a_server_of_ones_own_gets_only_what_every_server_knows(model_server: ModelStandIn) -> None:
    complete(
        _llm(model_server, model="my-model"),
        "Why?",
        system="Be short.",
        document="The text.",
        max_tokens=9,
    )
    messages = [
        {"role": "system", "content": "Be short."},
        {"role": "user", "content": "The text.\n\nWhy?"},
    ]
    expected = {"model": "my-model", "messages": messages, "max_tokens": 9, "stream": False}
    assert _body(model_server) == expected


def test_openai_is_told_what_to_keep_and_not_to_think(
    model_server: ModelStandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    complete(
        _official(model_server, "openai", monkeypatch), "Why?", document="The text.", max_tokens=9
    )
    body = _body(model_server)
    document = {
        "type": "text",
        "text": "The text.",
        "prompt_cache_breakpoint": {"mode": "explicit"},
    }
    assert body["messages"][-1]["content"] == [document, {"type": "text", "text": "Why?"}]
    assert (body["reasoning_effort"], body["max_completion_tokens"]) == ("none", 9)
    assert body["prompt_cache_options"] == {"mode": "explicit"}
    assert len(body["prompt_cache_key"]) == 32


@pytest.mark.parametrize(
    ("model", "effort", "marks", "tokens"),
    [
        ("gpt-4o-mini", None, False, 9 + 4_000),
        ("gpt-5-mini", "minimal", False, 9 + 4_000),
        ("gpt-5.4-nano", "none", False, 9),
        ("gpt-6.1-sol", "none", True, 9),
    ],
)
def test_older_models_of_openai_get_what_they_know(
    model_server, monkeypatch, model: str, effort: str | None, marks: bool, tokens: int
) -> None:
    complete(
        _official(model_server, "openai", monkeypatch, model),
        "Why?",
        document="The text.",
        max_tokens=9,
    )
    body = _body(model_server)
    assert (
        body.get("reasoning_effort"),
        "prompt_cache_options" in body,
        body["max_completion_tokens"],
    ) == (effort, marks, tokens)


def test_openai_counts_a_stream(
    model_server: ModelStandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    usages: list[Usage] = []
    list(
        stream(
            _official(model_server, "openai", monkeypatch), "Why is it so?", on_usage=usages.append
        )
    )
    assert usages[0].output == 7


def test_anthropic_gets_the_document_as_a_block_to_keep(model_server: ModelStandIn) -> None:
    complete(
        _llm(model_server, "anthropic"),
        "Why?",
        system="Be short.",
        document="The text.",
        max_tokens=9,
    )
    request = model_server.requests[0]
    assert request.headers["x-api-key"] == model_server.key
    assert request.headers["anthropic-version"] == "2023-06-01"
    assert "Authorization" not in request.headers
    document = {"type": "text", "text": "The text.", "cache_control": {"type": "ephemeral"}}
    assert request.body == {
        "model": "claude-haiku-5-5",
        "system": "Be short.",
        "messages": [{"role": "user", "content": [document, {"type": "text", "text": "Why?"}]}],
        "max_tokens": 9,
        "thinking": {"type": "disabled"},
        "stream": False,
    }


@pytest.mark.parametrize(
    "model", ["claude-opus-5-5", "claude-sonnet-5-5", "claude-3-5-haiku-20241022"]
)
def test_models_that_cannot_be_kept_from_thinking_get_room_for_it(
    model_server: ModelStandIn, model: str
) -> None:
    complete(_llm(model_server, "anthropic", model=model), "Why?", max_tokens=9)
    assert "thinking" not in _body(model_server)
    assert _body(model_server)["max_tokens"] == 4_009


def test_ollama_is_told_how_much_to_read(model_server: ModelStandIn) -> None:
    complete(_llm(model_server, "ollama"), "Why?", document="The text.", max_tokens=9)
    expected = {"num_ctx": UNKNOWN_CONTEXT, "num_predict": 9, "temperature": 0}
    assert _body(model_server)["options"] == expected
    assert _body(model_server)["think"] is False
    complete(_llm(model_server, "ollama", context_tokens=32_000), "Why?")
    assert _body(model_server)["options"]["num_ctx"] == 32_000


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_a_document_that_is_sent_again_costs_a_fraction(
    model_server: ModelStandIn, monkeypatch: pytest.MonkeyPatch, provider: str
) -> None:
    llm = _official(model_server, provider, monkeypatch)
    assert llm.caches
    assert llm.fills_forms
    assert llm.concurrency > 1
    assert llm.budget == KNOWN_CONTEXT
    first, second = (
        llm.ask(Prompt(text=text, document=DOCUMENT)).usage for text in ("One?", "Two?")
    )
    assert first.cached == 0
    assert second.cached == len(DOCUMENT) // 4
    assert second.input == first.input


def test_a_server_of_ones_own_is_not_taken_for_a_service(model_server: ModelStandIn) -> None:
    llm = _llm(model_server, "openai")
    assert not llm.caches
    assert not llm.fills_forms
    assert llm.concurrency == 1
    assert llm.budget == UNKNOWN_CONTEXT


@pytest.mark.parametrize(
    ("provider", "base_url", "setting", "seconds"),
    [
        ("openai", "http://127.0.0.1:8080/v1", 0, OWN_TIMEOUT),
        ("ollama", "", 0, OWN_TIMEOUT),
        ("openai", "", 0, SERVICE_TIMEOUT),
        ("openai", "http://127.0.0.1:8080/v1", 7, 7),
        ("openai", "", 7, 7),
    ],
)
def test_a_model_on_ones_own_server_has_more_time_unless_the_settings_say(
    settings: Any, provider: str, base_url: str, setting: float, seconds: float
) -> None:
    settings.LLM_PROVIDER, settings.LLM_BASE_URL = provider, base_url
    settings.OPENAI_API_KEY, settings.MODEL_TIMEOUT_SECONDS = "a-key", setting
    assert chat_services._server(conf.llm()).timeout == seconds


def test_control_characters_are_dropped(model_server: ModelStandIn) -> None:
    model_server.answer = lambda text: "a\x00b\x1b c\nd"
    assert complete(_llm(model_server), "x") == "ab c\nd"
    assert "".join(stream(_llm(model_server), "x")) == "ab c\nd"


def test_usages_add_up() -> None:
    expected = Usage(input=4, cached=2, stored=4, output=5)
    assert Usage(input=1, cached=2) + Usage(input=3, stored=4, output=5) == expected


def test_the_fake_answers_the_same_each_time() -> None:
    llm = FakeLlm()
    assert (
        complete(llm, "one two three four")
        == complete(llm, "one two three four")
        == "".join(stream(llm, "one two three four"))
        == "About three four."
    )
    assert len(llm.prompts) == 3


def test_nobody_but_the_server_knows_the_key(model_server: ModelStandIn) -> None:
    llm = _llm(model_server)
    assert isinstance(llm._server, ModelServer)
    assert model_server.key not in repr(vars(llm))


def test_the_settings_lead_to_it(model_server: ModelStandIn, settings) -> None:
    assert registry.llm() is None
    settings.LLM_PROVIDER = "OpenAI"
    settings.LLM_MODEL = "my-model"
    settings.LLM_CONTEXT_TOKENS = 20_000
    llm = registry.llm()
    assert llm is registry.llm()
    assert llm
    expected = ("openai:my-model", 20000, "It is about Why is it so?.")
    assert (llm.name, llm.budget, complete(llm, "Why is it so?")) == expected

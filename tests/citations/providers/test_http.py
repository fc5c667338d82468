"""The door to model servers: what is tried again, what is told, what is never shown."""

import logging
import socket
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest
from pydantic import BaseModel

from citations.conf import Remote
from citations.errors import InvalidProvider, ModelRefused, ModelServerError
from citations.providers import http as provider_http
from citations.providers import server_errors
from citations.providers.http import HttpRetryPolicy, ModelServer
from citations.providers.server_errors import Refusal, ServerNames
from tests.model_standin import KEY, Fault, ModelStandIn

NAMES = ServerNames(server="OpenAI", key="OPENAI_API_KEY", address="OPENAI_BASE_URL")
BODY = {"model": "tiny", "input": ["a word"]}


class Listed(BaseModel):
    data: list[dict[str, Any]]


@pytest.fixture
def server(model_server: ModelStandIn) -> ModelServer:
    return _server(model_server)


def _server(standin: ModelStandIn, *, key: str = KEY, timeout: float = 5.0) -> ModelServer:
    return ModelServer(NAMES, Remote(base_url=f"{standin.url}/openai/v1", key=key, timeout=timeout))


def _post(server: ModelServer, **kwargs: Any) -> Listed:
    return server.post("/embeddings", BODY, Listed, **kwargs)


@pytest.mark.parametrize(
    "fault",
    [
        Fault.LIMITED,
        Fault.LIMITED_SECONDS,
        Fault.FAILING,
        Fault.OVERLOADED,
        Fault.BROKEN,
        Fault.CUT,
        Fault.DEEP,
    ],
)
def test_what_passes_is_tried_again(
    server: ModelServer, model_server: ModelStandIn, fault: Fault
) -> None:
    model_server.fail(fault, fault)
    assert len(_post(server).data) == 1
    assert len(model_server.requests) == 3


def test_tries_are_bounded(server: ModelServer, model_server: ModelStandIn) -> None:
    model_server.fail(*[Fault.FAILING] * 9)
    with pytest.raises(
        ModelServerError, match=r"OpenAI has a problem \(500\): “Something is the matter.”"
    ):
        _post(server)
    assert len(model_server.requests) == 5
    with pytest.raises(ModelServerError):
        _post(server, tries=2)
    assert len(model_server.requests) == 7


@pytest.mark.parametrize(
    "fault",
    [
        Fault.UNAUTHORIZED,
        Fault.FORBIDDEN,
        Fault.UNKNOWN_MODEL,
        Fault.REFUSED,
        Fault.NO_CREDIT,
        Fault.MOVED,
    ],
)
def test_a_refusal_is_not_asked_for_again(
    server: ModelServer, model_server: ModelStandIn, fault: Fault
) -> None:
    model_server.fail(fault)
    with pytest.raises(ModelRefused):
        _post(server)
    assert len(model_server.requests) == 1


def test_a_pause_is_as_long_as_the_server_asks_for(
    server: ModelServer, model_server: ModelStandIn
) -> None:
    model_server.retry_after = "0.15"
    model_server.fail(Fault.LIMITED_SECONDS)
    started = time.monotonic()
    _post(server)
    assert time.monotonic() - started >= 0.15


def test_nobody_waits_as_long_as_a_server_likes(
    server: ModelServer, model_server: ModelStandIn
) -> None:
    model_server.retry_after = "3600"
    model_server.fail(Fault.LIMITED_SECONDS)
    started = time.monotonic()
    with pytest.raises(ModelServerError, match="gets too many requests"):
        _post(server)
    assert time.monotonic() - started < 1


@pytest.mark.parametrize(
    ("value", "least", "most"),
    [
        ("7", 7, 7),
        ("", 0, 0),
        ("soon", 0, 0),
        ("-3", 0, 0),
        ("nan", 0, 0),
        ("Fri, 31 Dec 2100 23:59:59 GMT", 1e6, 1e11),
    ],
)
def test_a_time_to_wait_is_read_as_seconds_or_as_a_date(
    value: str, least: float, most: float
) -> None:
    assert least <= server_errors.retry_after({"retry-after": value}, "") <= most


def test_pauses_grow_and_are_random(
    monkeypatch: pytest.MonkeyPatch, server: ModelServer, model_server: ModelStandIn
) -> None:
    monkeypatch.setattr(
        provider_http, "RETRY_POLICY", HttpRetryPolicy(tries=6, first=100.0, pause=500.0, total=1e6)
    )
    pauses: list[float] = []
    monkeypatch.setattr("citations.providers.http.time.sleep", pauses.append)
    model_server.fail(*[Fault.FAILING] * 6)
    with pytest.raises(ModelServerError):
        _post(server)
    assert len(set(pauses)) == 5
    assert all(
        pause <= limit for pause, limit in zip(pauses, [100, 200, 400, 500, 500], strict=True)
    )


def test_a_slow_server_is_given_up(model_server: ModelStandIn) -> None:
    model_server.delay = 3.0
    model_server.fail(Fault.SLOW)
    with pytest.raises(ModelServerError, match="did not answer within 0.1 s") as raised:
        _post(_server(model_server, timeout=0.1), tries=1)
    assert "MODEL_TIMEOUT_SECONDS" in raised.value.hint


def test_a_server_that_drips_is_given_up(model_server: ModelStandIn) -> None:
    model_server.fail(Fault.DRIPPING)
    with pytest.raises(ModelServerError, match="did not answer within"):
        _post(_server(model_server, timeout=0.1), tries=1)


def test_an_answer_without_end_is_not_read(
    monkeypatch: pytest.MonkeyPatch, server: ModelServer, model_server: ModelStandIn
) -> None:
    monkeypatch.setattr(provider_http, "MAX_BYTES", 3_000_000)
    model_server.fail(Fault.HUGE)
    with pytest.raises(ModelServerError, match="more than 3 MB"):
        _post(server)
    assert len(model_server.requests) == 1


@pytest.mark.parametrize("fault", [Fault.BROKEN, Fault.DEEP, Fault.OTHER])
def test_nonsense_is_told_and_not_quoted(
    server: ModelServer, model_server: ModelStandIn, fault: Fault
) -> None:
    model_server.fail(fault)
    with pytest.raises(ModelServerError) as raised:
        _post(server, tries=1)
    assert raised.value.message == "OpenAI gave an answer that cannot be understood."


def test_a_server_that_is_not_there_is_told_with_its_address() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{free.getsockname()[1]}"
    server = ModelServer(NAMES, Remote(base_url=f"{address}/v1", key=KEY, timeout=1))
    with pytest.raises(ModelServerError, match=f"OpenAI does not answer at {address}.") as raised:
        _post(server, tries=1)
    assert raised.value.hint == "Is it running? Check the address in OPENAI_BASE_URL."


def test_a_server_elsewhere_that_is_not_reached_may_be_without_a_network() -> None:
    address = "https://models.invalid"
    server = ModelServer(NAMES, Remote(base_url=f"{address}/v1", key=KEY, timeout=5))
    with pytest.raises(ModelServerError, match="does not answer at") as raised:
        _post(server, tries=1)
    assert raised.value.hint.startswith("Is there a network?")


def test_a_redirection_is_not_followed(server: ModelServer, model_server: ModelStandIn) -> None:
    model_server.fail(Fault.MOVED)
    with pytest.raises(ModelRefused, match="redirects elsewhere"):
        _post(server)


@pytest.mark.parametrize(
    "fault", [Fault.UNAUTHORIZED, Fault.REFUSED, Fault.FAILING, Fault.CUT, Fault.BROKEN]
)
def test_a_key_is_shown_nowhere(
    server: ModelServer, model_server: ModelStandIn, fault: Fault, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    model_server.fail(fault)
    try:
        _post(server, tries=1)
    except (ModelServerError, ModelRefused) as error:
        shown = (
            "".join(
                traceback.TracebackException.from_exception(error, capture_locals=True).format()
            )
            + error.message
            + error.hint
        )
    assert model_server.requests[0].headers["Authorization"] == f"Bearer {KEY}"
    assert KEY not in shown
    assert KEY not in caplog.text
    assert KEY not in repr(server) + repr(server._client.headers) + repr(vars(server)["_client"])


def test_a_wrong_key_is_told_with_its_setting(model_server: ModelStandIn) -> None:
    with pytest.raises(ModelRefused, match=r"OpenAI did not accept the key \(401\)") as raised:
        _post(_server(model_server, key="wrong"))
    assert "OPENAI_API_KEY" in raised.value.hint
    with pytest.raises(ModelRefused, match=r"OpenAI requires a key \(401\)"):
        _post(_server(model_server, key=""))


def test_a_wrong_address_is_told_with_its_setting(model_server: ModelStandIn) -> None:
    with pytest.raises(
        ModelRefused, match=rf"OpenAI is not what answers at {model_server.url} \(404\)"
    ) as raised:
        ModelServer(NAMES, Remote(base_url=f"{model_server.url}/v2", key=KEY, timeout=5)).post(
            "/embeddings", BODY, Listed
        )
    assert "OPENAI_BASE_URL" in raised.value.hint


def test_a_key_may_end_with_a_line_break(model_server: ModelStandIn) -> None:
    assert len(_post(_server(model_server, key=f"{KEY}\n")).data) == 1


@pytest.mark.parametrize("key", ["sk-é", "sk-\u200b1", "a\nb"])
def test_a_key_that_cannot_be_sent_is_told_and_not_shown(
    model_server: ModelStandIn, key: str
) -> None:
    with pytest.raises(InvalidProvider, match="is not valid") as raised:
        _server(model_server, key=key)
    assert key not in raised.value.message + raised.value.hint


def test_half_a_character_does_not_break_a_request(
    server: ModelServer, model_server: ModelStandIn
) -> None:
    server.post("/embeddings", {"model": "tiny", "input": ["a \ud800 b"]}, Listed)
    assert model_server.requests[0].body["input"] == ["a ? b"]


def test_a_refusal_keeps_its_status_and_words(
    server: ModelServer, model_server: ModelStandIn
) -> None:
    model_server.fail(Fault.REFUSED)
    with pytest.raises(Refusal) as raised:
        _post(server)
    assert (raised.value.status, raised.value.reason) == (400, "This input is not taken from ….")


@pytest.mark.parametrize(
    "address",
    [
        "ftp://host/v1",
        "host:80",
        "",
        "http://",
        "http://user:secret@host/v1",
        "http://host:99999",
        "http://[::1",
        "http://\x00host/",
        "file:///etc/passwd",
    ],
)
def test_an_address_has_to_be_one_of_http(address: str) -> None:
    with pytest.raises(InvalidProvider) as raised:
        ModelServer(NAMES, Remote(base_url=address, key=KEY, timeout=1))
    assert "secret" not in raised.value.message + raised.value.hint


@pytest.mark.parametrize(
    ("host", "local"),
    [
        ("127.0.0.1", True),
        ("localhost", True),
        ("::1", True),
        ("api.openai.com", False),
        ("10.0.0.1", False),
    ],
)
def test_no_proxy_stands_between_this_machine_and_itself(host: str, local: bool) -> None:
    assert provider_http._is_local(host) is local


def test_a_get_asks_without_a_body(model_server: ModelStandIn) -> None:
    server = ModelServer(NAMES, Remote(base_url=f"{model_server.url}/ollama", key="", timeout=5))

    class Tags(BaseModel):
        models: list[Any]

    assert server.get("/api/tags", Tags).models
    assert model_server.requests[0].body == {}


class Event(BaseModel):
    choices: list[Any] = []


def _stream(server: ModelServer, **kwargs: Any) -> list[Event]:
    return list(
        server.stream(
            "/chat/completions",
            {"model": "m", "stream": True, "messages": [{"content": "a b c"}]},
            Event,
            **kwargs,
        )
    )


def test_events_come_one_by_one(server: ModelServer) -> None:
    words = [event.choices[0]["delta"].get("content") for event in _stream(server)]
    assert words == ["It", " is", " about", " a", " b", " c.", None]


def test_a_stream_is_begun_again_only_before_its_first_event(
    server: ModelServer, model_server: ModelStandIn
) -> None:
    model_server.fail(Fault.FAILING, Fault.BROKEN)
    assert len(_stream(server)) == 7
    model_server.requests.clear()
    model_server.fail(Fault.CUT)
    assert len(_stream(server)) == 2  # whether that was the end its reader has to see
    assert len(model_server.requests) == 1


def test_a_line_without_end_ends_a_stream(
    monkeypatch: pytest.MonkeyPatch, server: ModelServer, model_server: ModelStandIn
) -> None:
    monkeypatch.setattr(provider_http, "_MAX_LINE", 100_000)
    model_server.fail(Fault.HUGE)
    with pytest.raises(ModelServerError, match="line that is too long"):
        _stream(server, tries=1)


def test_a_stream_that_is_left_is_closed(server: ModelServer) -> None:
    events = server.stream(
        "/chat/completions", {"model": "m", "stream": True, "messages": [{"content": "a"}]}, Event
    )
    next(events)
    events.close()
    assert len(_post(server).data) == 1


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b'{"error": {"message": "a\\u0000b\\n c"}}', "ab c"),
        (b'{"error": "plain"}', "plain"),
        (b'{"detail": "voyage"}', "voyage"),
        (b'{"detail": [{"loc": ["body", "n"], "msg": "Extra"}]}', "body.n: Extra"),
        (b'{"detail": [{"loc": 1}]}', ""),
        (b'{"object": "error", "message": "No system role", "code": 400}', "No system role"),
        (b'{"errors": ["one", {"message": "two"}]}', "one; two"),
        (b'[{"error": {"code": 400, "message": "of a list"}}]', "of a list"),
        (b'{"error": {"message": "", "details": {"reason": "deep"}}}', "deep"),
        (b'data: {"error": "in an event"}\n\n', "in an event"),
        (b"upstream connect error", "upstream connect error"),
        (b"<html><head><title>Bad &amp; gateway</title></head><body>x</body>", "Bad & gateway"),
        (b"<html><style>b{}</style><p>Sign in</p>", "Sign in"),
        (b'"only text"', "only text"),
        (b"[" * 5_000, "[" * 300),
        (b"<html>", ""),
        (b"", ""),
        (b'{"error": {"message": "' + b"x" * 1000 + b'"}}', "x" * 300),
    ],
)
def test_the_words_of_a_server_are_made_harmless(body: bytes, message: str) -> None:
    assert server_errors.parse_error(body)[0] == message


def test_a_server_is_called_by_its_own_name() -> None:
    named = partial(server_errors.server_name, "OpenAI", home="api.openai.com")
    assert named("https://api.openai.com/v1") == "OpenAI"
    assert named("https://openrouter.ai/api/v1") == "OpenRouter"
    assert named("http://127.0.0.1:1234/v1") == "127.0.0.1:1234"


def test_threads_share_a_server(server: ModelServer, model_server: ModelStandIn) -> None:
    with ThreadPoolExecutor(8) as executor:
        assert all(len(answer.data) == 1 for answer in executor.map(_post, [server] * 40))

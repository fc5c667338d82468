"""Habits of model servers in HTTP, JSON and event streams: byte for byte, over real connections."""

import gzip
import json
import socket
import time
from collections.abc import Callable, Sequence
from http.server import BaseHTTPRequestHandler
from typing import Any, TypeAlias

import numpy as np
import pytest

from citations import conf
from citations.errors import ModelError
from citations.providers import chat_services, embedding_services, http
from citations.providers.embedding_services import HostedEmbedder
from citations.providers.http import HttpRetryPolicy
from citations.providers.llm import RemoteLlm
from citations.providers.prompts import Prompt
from citations.providers.reranking_services import ServedReranker
from tests.loopback import StandIn
from tests.scripted_model_server import events, whole

ANSWER = "Der Kessel schaltet bei 96 °C ab – “so”, sagt er [1]."
PROMPT = Prompt(system="Be short.", document="Passage [1]", text="When?", max_tokens=700)
JSON, STREAM = b"Content-Type: application/json\r\n", b"Content-Type: text/event-stream\r\n"


Wire: TypeAlias = bytes | Sequence[bytes]


class WireServer(StandIn):
    """Answers requests with the bytes of ``reply``, from the status line on, or with the next of
    some (the last again and again): in pieces with pauses; then closes the connection.
    """

    def __init__(self, *replies: Wire, reply: Callable[[dict[str, Any]], Wire] | None = None):
        self.bodies: list[dict[str, Any]] = []
        self.reply = reply or (lambda body: replies[min(len(self.bodies), len(replies)) - 1])
        super().__init__(_handler(self))


def _handler(server: WireServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            server.bodies.append(json.loads(self.rfile.read(length)))
            reply = server.reply(server.bodies[-1])
            pieces = [reply] if isinstance(reply, bytes) else reply
            self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for piece in pieces:
                self.wfile.write(piece)
                self.wfile.flush()
                time.sleep(0.002 * (len(pieces) > 1))
            self.close_connection = True

        def log_message(self, format: str, *args: Any) -> None:
            """Keep quiet."""

    return Handler


def answer(body: Any, head: bytes = JSON, status: str = "200 OK") -> bytes:
    """Return a response of HTTP/1.1 with its length."""
    data = body if isinstance(body, bytes) else _text(body).encode()
    lines = b"HTTP/1.1 %s\r\n%sConnection: close\r\nContent-Length: %d\r\n\r\n"
    return lines % (status.encode(), head, len(data)) + data


def _text(body: Any) -> str:
    return body if isinstance(body, str) else json.dumps(body, ensure_ascii=False)


def chunked(body: str, size: int, head: bytes = STREAM) -> list[bytes]:
    """Return a response in chunks of a size, which cut characters."""
    data = body.encode()
    parts = [data[start : start + size] for start in range(0, len(data), size)]
    chunks = [b"%x\r\n%s\r\n" % (len(part), part) for part in [*parts, b""]]
    lines = b"HTTP/1.1 200 OK\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n"
    return [lines + head + b"\r\n", *chunks]


def raw_events(*deltas: Any, **options: Any) -> str:
    """Return a stream with letters as they are."""
    return events(*deltas, **options).encode().decode("unicode-escape").replace("\\n", "\n")


@pytest.fixture(autouse=True)
def _hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    policy = HttpRetryPolicy(tries=2, first=0.01, pause=0.02, total=5)
    monkeypatch.setattr(http, "RETRY_POLICY", policy)


def _llm(server: WireServer, provider: str = "openai") -> RemoteLlm:
    base = server.url if provider == "ollama" else f"{server.url}/v1"
    made = chat_services.make(conf.LlmChoice(provider=provider, model="m", base_url=base))
    assert isinstance(made, RemoteLlm)
    return made


def _both(server: WireServer, provider: str = "openai") -> list[str]:
    llm = _llm(server, provider)
    return [llm.ask(PROMPT).text, "".join(llm.stream(PROMPT)).strip()]


PIECES = [ANSWER[:20], ANSWER[20:30], ANSWER[30:]]
LINES = (
    "".join(
        json.dumps({"choices": [{"delta": {"content": piece}}]}, ensure_ascii=False) + "\n"
        for piece in PIECES
    )
    + '{"choices":[{"delta":{},"finish_reason":"stop"}]}\n'
)
GROWING = [
    {"choices": [{"message": {"content": ANSWER[:end]}, "finish_reason": "null"}]}
    for end in (9, 30)
]
GROWING += [{"choices": [{"message": {"content": ANSWER}, "finish_reason": "stop"}]}]


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(chunked(raw_events(*PIECES), 7), id="chunks cut letters"),
        pytest.param(chunked("\ufeff" + raw_events(*PIECES), 1000), id="byte order mark"),
        pytest.param(answer("\ufeff" + json.dumps(whole(ANSWER))), id="byte order mark, whole"),
        pytest.param(answer(raw_events(*PIECES).replace("\n", "\r\n"), STREAM), id="CRLF"),
        pytest.param(answer(raw_events(*PIECES).replace("\n", "\r"), STREAM), id="CR"),
        pytest.param(
            answer(json.dumps(whole(ANSWER), indent=1).replace("\n", "\r\n")), id="CRLF, whole"
        ),
        pytest.param(answer(LINES, b"Content-Type: application/x-ndjson\r\n"), id="lines"),
        pytest.param(answer(raw_events(*PIECES), b""), id="no type"),
        pytest.param(
            answer(raw_events(*PIECES), b"Content-Type: text/html; charset=latin-1\r\n"),
            id="wrong type",
        ),
        pytest.param(b"HTTP/1.0 200 OK\r\n\r\n" + raw_events(*PIECES).encode(), id="HTTP/1.0"),
        pytest.param(
            answer(gzip.compress(raw_events(*PIECES).encode()), b"Content-Encoding: gzip\r\n"),
            id="gzip although not accepted",
        ),
        pytest.param(
            answer(": ping\n\n" * 500 + "data:\n\n" + raw_events(*PIECES), STREAM), id="comments"
        ),
        pytest.param(
            answer('data: {"type": "ping"}\n\ndata: {}\n\ndata: null\n\n' + raw_events(*PIECES)),
            id="pings",
        ),
        pytest.param(
            answer(raw_events(*[{"text": piece} for piece in PIECES])), id="text in the delta"
        ),
        pytest.param(
            answer(raw_events(*PIECES).replace('"delta"', '"index":0,"logprobs":[],"delta"')),
            id="logprobs",
        ),
        pytest.param(
            answer("".join(f"data: {_text(part)}\n\n" for part in GROWING)), id="the whole again"
        ),
        pytest.param(
            answer(
                raw_events(*PIECES, done=False)
                + f"data: {_text(whole(ANSWER))}\n\ndata: [DONE]\n\n"
            ),
            id="the whole at the end",
        ),
        pytest.param(
            answer({"choices": [{"message": ANSWER, "finish_reason": "stop"}]}),
            id="message is text",
        ),
        pytest.param(answer({"choices": whole(ANSWER)["choices"][0]}), id="one choice"),
        pytest.param(
            answer(whole(ANSWER) | {"usage": [], "error": {}}), id="empty lists for objects"
        ),
        pytest.param(
            answer(whole(ANSWER) | {"usage": "none", "error": False}), id="words for objects"
        ),
        pytest.param(
            answer(whole(ANSWER) | {"usage": {"prompt_tokens": 3, "prompt_tokens_details": []}}),
            id="empty details",
        ),
        pytest.param(answer(whole(ANSWER, finish=7)), id="a number as reason"),
        pytest.param(
            answer(whole([{"type": "text", "text": {"value": ANSWER, "annotations": []}}])),
            id="text has a value",
        ),
        pytest.param(
            answer(whole([{"text": "I should cite.", "thought": True}, {"text": ANSWER}])),
            id="a part is a thought",
        ),
        pytest.param(
            answer(
                raw_events({"thinking": "Hm."}, {"reasoning_details": [{"text": "Hm"}]}, *PIECES)
            ),
            id="x",
        ),
        pytest.param(
            answer(raw_events(*PIECES).replace("[DONE]", "[done]")), id="done in small letters"
        ),
        pytest.param(answer(raw_events(*PIECES) + "data: {oops\n\n"), id="more after the end"),
    ],
)
def test_an_answer_is_read_as_the_server_happens_to_send_it(reply: Any) -> None:
    with WireServer(reply) as server:
        assert _both(server) == [ANSWER, ANSWER]


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (answer(whole(None, "tool_calls", tool_calls=[{"function": {"name": "f"}}])), "tool_calls"),
        (answer(raw_events({"tool_calls": [{"index": 0}]}, finish="tool_calls")), "tool_calls"),
        (answer(whole("", "content_filter")), "content_filter"),
        (answer(whole(None, None, refusal="I will not.")), "I will not"),
        (answer(raw_events("The", finish="error")), "broke off"),
        (
            answer({"choices": [{"error": {"message": "GPU lost"}, "finish_reason": "error"}]}),
            "GPU lost",
        ),
        (
            answer(
                raw_events("The", finish=None, done=False)
                + 'data: {"choices":[{"delta":{"content":""},"finish_reason":"error",'
                '"error":{"message":"GPU lost"}}]}\n\ndata: [DONE]\n\n'
            ),
            "GPU lost",
        ),
        (answer([{"error": {"message": "no quota"}}]), "no quota"),
        (answer('event: error\ndata: {"message": "too busy"}\n\n'), "too busy"),
        (answer("<h1>502 Bad Gateway</h1>", b"Content-Type: text/html\r\n", "502 Bad"), "502"),
        (answer("", b"Location: /login\r\n", "307 Temporary Redirect"), "redirects elsewhere"),
        (chunked(raw_events(*PIECES), 30)[:-3], "broke off"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n{", "broke off"),
        (
            b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
            "ended its answer before it began",
        ),
        (b"SSH-2.0-OpenSSH_9.9\r\n", "broke off"),
    ],
)
def test_what_is_no_answer_is_told_with_the_reason(reply: Any, words: str) -> None:
    with WireServer(reply) as server:
        for ask in (lambda: _llm(server).ask(PROMPT), lambda: list(_llm(server).stream(PROMPT))):
            with pytest.raises(ModelError) as raised:
                ask()
            assert words in raised.value.message


def test_a_refusal_that_comes_as_a_success_is_sent_in_another_form() -> None:
    refusal = {"error": {"message": "Unsupported parameter: max_tokens", "code": 400}}
    with WireServer(answer(refusal), answer(raw_events(*PIECES))) as server:
        assert "".join(_llm(server).stream(PROMPT)) == ANSWER
        assert "max_completion_tokens" in server.bodies[1]


@pytest.mark.parametrize(
    ("headers", "body", "seconds"),
    [
        ("Retry-After: 3", "", 3),
        ("Retry-After: 2.5", "", 2.5),
        ("retry-after: 4s", "", 4),
        ("Retry-After: 1m30s", "", 90),
        ("retry-after-ms: 1500", "", 1.5),
        ("X: y", "Rate limit reached. Please try again in 7.5s.", 7.5),
        ("X: y", {"error": {"details": [{"retryDelay": "17s"}], "message": "quota"}}, 17),
        ("Retry-After: soon", "Wait.", 0),
        ("Retry-After: -5", "", 0),
    ],
)
def test_a_pause_is_as_long_as_the_server_says_in_whatever_spelling(
    monkeypatch: pytest.MonkeyPatch, headers: str, body: Any, seconds: float
) -> None:
    monkeypatch.setattr(http, "RETRY_POLICY", HttpRetryPolicy(tries=2, first=0.01, pause=0.02))
    pauses: list[float] = []
    monkeypatch.setattr(http.time, "sleep", pauses.append)
    limited = answer(body, f"{headers}\r\n".encode(), "429 Too Many Requests")
    with WireServer(limited, answer(whole(ANSWER))) as server:
        assert _llm(server).ask(PROMPT).text == ANSWER
    waits = [pause for pause in pauses if pause not in (0, 0.002)]
    assert waits[0] == pytest.approx(seconds, abs=0.03)


@pytest.mark.parametrize(
    "reply",
    [
        {"type": "message", "content": ANSWER, "stop_reason": "end_turn"},
        {"type": "message", "content": [None, {"type": "text", "text": ANSWER}], "usage": []},
        {
            "type": "message",
            "content": [
                {"type": "thinking", "thinking": "Hm."},
                {"type": "redacted_thinking", "data": "x"},
                {"type": "text", "text": ANSWER, "citations": None},
            ],
        },
    ],
)
def test_anthropics_form_has_its_liberties_too(reply: Any) -> None:
    with WireServer(answer(reply)) as server:
        assert _both(server, "anthropic") == [ANSWER, ANSWER]


@pytest.mark.parametrize(
    "lines",
    [
        [{"message": {"content": ANSWER}, "done": False}, {"done": True, "done_reason": "stop"}],
        [{"message": ANSWER, "done": True}],
        [
            {"message": {"content": ""}, "done": False},
            {"message": {"content": ANSWER}, "done": True},
        ],
    ],
)
def test_ollamas_form_has_its_liberties_too(lines: list[Any]) -> None:
    with WireServer(answer("\r\n".join(map(_text, lines)))) as server:
        assert _both(server, "ollama") == [ANSWER, ANSWER]


# Vectors and scores

ROWS = [[3.0, 4.0], [0.0, 2.0], [5.0, 0.0]]
UNITS = [[0.6, 0.8], [0.0, 1.0], [1.0, 0.0]]


def _items(numbers: Sequence[Any], rows: Sequence[Any] = ROWS) -> Any:
    pairs = zip(numbers, rows, strict=True)
    return {"data": [{"index": number, "embedding": row} for number, row in pairs]}


TEXTS = ["text 0", "text 1", "text 2"]


def _embedder(settings: Any, server: WireServer) -> HostedEmbedder:
    settings.OPENAI_BASE_URL, settings.OPENAI_API_KEY = f"{server.url}/v1", ""
    return embedding_services.embedder("openai", "own", 2)


@pytest.mark.parametrize(
    "reply",
    [
        _items([2, 0, 1], [ROWS[2], ROWS[0], ROWS[1]]),
        _items([0.0, 1.0, 2.0]),
        {"data": {"embeddings": ROWS}},
        {"embeddings": {"data": [{"embedding": row} for row in ROWS]}},
        {"data": [{"embedding": {"values": row}} for row in ROWS]},
        {"data": [{"vector": row, "index": number} for number, row in enumerate(ROWS)]},
        {"data": [{"embedding": [[str(number) for number in row]]} for row in ROWS]},
        {"embeddings": ROWS, "error": None, "data": None},
    ],
)
def test_vectors_are_read_as_the_server_happens_to_send_them(settings: Any, reply: Any) -> None:
    with WireServer(answer(reply)) as server:
        assert np.allclose(_embedder(settings, server).embed_documents(TEXTS), UNITS)


@pytest.mark.parametrize(
    "together",
    [
        _items([0, 0, 0]),  # numbered wrongly
        {"data": [{"index": 0, "embedding": ROWS[0]}]},  # of the first alone
        {"data": [{"index": 0, "embedding": ROWS[0]}] * 7},
    ],
)
def test_vectors_of_unclear_texts_are_asked_for_one_by_one(settings: Any, together: Any) -> None:
    def reply(body: dict[str, Any]) -> bytes:
        first, *others = body["input"]
        number = int(first[-1]) if first[-1].isdigit() else 0
        return answer(together if others else _items([5], [ROWS[number]]))

    with WireServer(reply=reply) as server:
        embedder = _embedder(settings, server)
        assert np.allclose(embedder.embed_documents(TEXTS), UNITS)
        server.bodies.clear()
        embedder.embed_documents(TEXTS)
        assert max(len(body["input"]) for body in server.bodies) == 1


@pytest.mark.parametrize(
    "reply",
    [
        {"results": [{"index": 1, "relevance_score": 0.9}, {"index": 0, "relevance_score": None}]},
        {"results": [{"corpus_id": 1, "score": 3.5}, {"corpus_id": 0, "score": -8}]},
        {"results": {"data": [{"index": 0, "score": -900}, {"index": 1, "score": -20}]}},
        {"scores": [[-3.2], [0.4]]},
        {"data": [{"index": 0, "relevance": 0.1}, {"index": 1, "relevance": 0.2}]},
        {"data": [{"document_index": 1, "similarity": "0.2"}]},
        {"output": {"results": [{"index": 1, "relevance_score": 1}]}},
        {"results": None, "data": [{"index": 1.0, "score": 0.2}, {"index": 0.0, "score": 0.1}]},
    ],
)
def test_scores_are_read_as_the_server_happens_to_send_them(reply: Any) -> None:
    with WireServer(answer(reply)) as server:
        remote = conf.Remote(base_url=server.url, key="", timeout=5)
        scores = ServedReranker("m", remote).score("why", ["a", "b"])
        assert 0 <= scores[0] < scores[1] <= 1

"""A stand-in for model servers on loopback: Voyage AI, OpenAI (embeddings, chat), Anthropic
(messages), Ollama, over real HTTP.

Vectors come from hashed words, so that texts which share words are near each other; answers repeat
the first words of what was asked about. What goes wrong is decided by ``fail``, or by the name of
the model: ``fault:failing`` always fails. On its own: ``python -m tests.model_standin [PORT]``.
"""

import json
import re
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from http.server import BaseHTTPRequestHandler
from typing import Any

from citations.providers.embedding import HashEmbedder
from tests.loopback import StandIn

KEY = "standin-key-0123456789"
DIMENSIONS = {
    "voyage-3-large": 1024,
    "text-embedding-3-large": 3072,
    "text-embedding-3-small": 1536,
    "mxbai-embed-large": 1024,
    "nomic-embed-text": 768,
    "tiny": 8,
}
_INSTRUCTIONS = (
    "Represent this sentence for searching relevant passages: ",
    "search_query: ",
    "search_document: ",
)


class Fault(StrEnum):
    """What can go wrong with one request."""

    UNAUTHORIZED = "unauthorized"
    FORBIDDEN = "forbidden"
    UNKNOWN_MODEL = "unknown-model"
    NOWHERE = "nowhere"  # 404 of something else than a model's server
    REFUSED = "refused"  # 400; its words quote the key
    TOO_LONG = "too-long"  # 400 of Ollama
    LIMITED = "limited"  # 429
    LIMITED_SECONDS = "limited-seconds"  # 429 with Retry-After: ``retry_after``
    NO_CREDIT = "no-credit"  # 429 of OpenAI that no waiting mends
    FAILING = "failing"  # 500
    OVERLOADED = "overloaded"  # 529
    MOVED = "moved"  # 301
    SLOW = "slow"  # ``delay`` seconds
    DRIPPING = "dripping"  # a byte now and then
    BROKEN = "broken"  # no JSON
    DEEP = "deep"  # JSON nested a hundred thousand times
    OTHER = "other"  # JSON of another form
    HUGE = "huge"  # an answer without end
    CUT = "cut"  # the connection ends in the middle of the answer
    ERROR_INSIDE = "error-inside"  # 200, and then an error
    EMPTY = "empty"  # an answer without words
    COUNT = "count"  # a vector too few
    LENGTH = "length"  # vectors of another length
    NAN = "nan"
    ZERO = "zero"
    INDEXES = "indexes"  # all vectors say that they are the first


_STATUS = {
    Fault.UNAUTHORIZED: 401,
    Fault.FORBIDDEN: 403,
    Fault.UNKNOWN_MODEL: 404,
    Fault.REFUSED: 400,
    Fault.TOO_LONG: 400,
    Fault.LIMITED: 429,
    Fault.LIMITED_SECONDS: 429,
    Fault.NO_CREDIT: 429,
    Fault.FAILING: 500,
    Fault.OVERLOADED: 529,
    Fault.MOVED: 301,
}


@dataclass(frozen=True)
class ModelRequest:
    """One request that came in."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


@dataclass
class _Turn:
    """A request that is being answered."""

    handler: BaseHTTPRequestHandler
    path: str
    body: dict[str, Any]
    fault: Fault | None


class ModelStandIn(StandIn):
    """The servers, as a context manager.

    ``requests`` is their log, ``busiest`` the most requests there were at once.
    """

    def __init__(self, port: int = 0) -> None:
        self.key = KEY  # what Voyage AI, OpenAI and Anthropic want; "": anything
        self.requests: list[ModelRequest] = []
        self.busiest = 0
        self.pulled = {
            "mxbai-embed-large": 669_615_493,
            "nomic-embed-text": 274_302_450,
            "tiny": 1,
            "gemma3:4b": 3_338_801_804,
        }  # what Ollama has
        self.answer: Callable[[str], str] = _echo  # from the text that is asked about
        self.longest = 0  # bytes of a text that Ollama embeds; 0: any
        self.delay = 1.0
        self.retry_after = "0"
        self._faults: deque[Fault | None] = deque()
        self._seen: set[str] = set()  # documents that are in the service's cache
        self._working = 0
        self._lock = threading.Lock()
        super().__init__(_handler(self), port)

    def settings(self) -> dict[str, str]:
        """Give the settings, or variables of an environment, with which all providers are here;
        LLM_BASE_URL is wanted for Anthropic only.
        """
        keys = {f"{name}_API_KEY": self.key for name in ("VOYAGE", "OPENAI", "ANTHROPIC")}
        return {
            **keys,
            "VOYAGE_BASE_URL": f"{self.url}/voyage/v1",
            "OPENAI_BASE_URL": f"{self.url}/openai/v1",
            "OLLAMA_BASE_URL": f"{self.url}/ollama",
        }

    @property
    def anthropic_url(self) -> str:
        """The LLM_BASE_URL that goes with LLM_PROVIDER=anthropic."""
        return f"{self.url}/anthropic/v1"

    def fail(self, *faults: Fault | None) -> None:
        """Let the next requests fail, each in its way; None: that one is answered."""
        self._faults.extend(faults)

    def paths(self) -> list[str]:
        """The paths that were asked for."""
        return [request.path for request in self.requests]

    def handle(self, handler: BaseHTTPRequestHandler) -> None:
        """Answer one request."""
        body = json.loads(
            handler.rfile.read(int(handler.headers.get("Content-Length") or 0)) or b"{}"
        )
        with self._lock:
            self.requests.append(ModelRequest(handler.path, dict(handler.headers.items()), body))
            self._working += 1
            self.busiest = max(self.busiest, self._working)
            fault = self._fault(str(body.get("model", "")))
        try:
            self._answer(_Turn(handler, handler.path, body, fault))
        finally:
            with self._lock:
                self._working -= 1

    def _fault(self, model: str) -> Fault | None:
        if self._faults:
            return self._faults.popleft()
        return Fault(model.removeprefix("fault:")) if model.startswith("fault:") else None

    def _answer(self, turn: _Turn) -> None:
        if turn.fault is Fault.SLOW:
            self.hold(self.delay)
        fault = turn.fault or self._trouble(turn)
        if fault in _STATUS:
            _send(
                turn,
                self._complaint(turn, fault),
                status=_STATUS[fault],
                headers=self._headers(fault),
            )
        elif fault in _RAW:
            _RAW[fault](self, turn)
        else:
            _send_answer(turn, self._said(turn))

    def _trouble(self, turn: _Turn) -> Fault | None:
        """Find what is wrong with a request by itself."""
        if (
            self.key
            and "/ollama/" not in turn.path
            and self.key not in {_bearer(turn), turn.handler.headers.get("x-api-key")}
        ):
            return Fault.UNAUTHORIZED
        if turn.path not in _ROUTES:
            return Fault.NOWHERE
        if (
            turn.path.startswith("/ollama/api/")
            and turn.body
            and turn.body["model"] not in self.pulled
        ):
            return Fault.UNKNOWN_MODEL
        if (
            turn.path == "/ollama/api/embed"
            and self.longest
            and any(len(text.encode()) > self.longest for text in turn.body["input"])
        ):
            return Fault.TOO_LONG
        return None

    def _headers(self, fault: Fault) -> dict[str, str]:
        if fault is Fault.LIMITED_SECONDS:
            return {"Retry-After": self.retry_after}
        return {"Location": "http://elsewhere.invalid/"} if fault is Fault.MOVED else {}

    def _complaint(self, turn: _Turn, fault: Fault) -> dict[str, Any]:
        words = {
            Fault.UNAUTHORIZED: f"Incorrect API key provided: {_bearer(turn)}",
            Fault.REFUSED: f"This input is not taken from {self.key}.",
            Fault.UNKNOWN_MODEL: f"model '{turn.body.get('model')}' not found",
            Fault.TOO_LONG: "the input length exceeds the context length",
        }.get(fault, "Something is the matter.")
        if "/ollama/" in turn.path:
            return {"error": words}
        if "/voyage/" in turn.path:
            return {"detail": words}
        kind = "insufficient_quota" if fault is Fault.NO_CREDIT else "some_error"
        return {"type": "error", "error": {"type": kind, "code": kind, "message": words}}

    def _said(self, turn: _Turn) -> Iterator[Any]:
        return _ROUTES[turn.path](self, turn)

    # What each API answers: one object, or several where it streams

    def listed(self, turn: _Turn) -> Iterator[Any]:
        """Answer as Voyage AI and OpenAI do, in another order than was asked."""
        length = turn.body.get("dimensions") or turn.body.get("output_dimension")
        rows = _vectors(turn, length)
        items = [
            {
                "object": "embedding",
                "index": 0 if turn.fault is Fault.INDEXES else place,
                "embedding": row,
            }
            for place, row in enumerate(rows)
        ]
        yield {
            "object": "list",
            "data": items[::-1],
            "model": turn.body["model"],
            "usage": {"total_tokens": len(rows)},
        }

    def embedded(self, turn: _Turn) -> Iterator[Any]:
        """Answer as Ollama does."""
        yield {
            "model": turn.body["model"],
            "embeddings": _vectors(turn, turn.body.get("dimensions")),
        }

    def tags(self, turn: _Turn) -> Iterator[Any]:
        """List what was pulled."""
        yield {
            "models": [
                {"name": name if ":" in name else f"{name}:latest", "size": size}
                for name, size in self.pulled.items()
            ]
        }

    def chat(self, turn: _Turn) -> Iterator[Any]:
        """Answer as OpenAI does."""
        content = turn.body["messages"][-1]["content"]
        parts = [content] if isinstance(content, str) else [part["text"] for part in content]
        words, (prompt, cached) = self._words(turn, parts[-1]), self._cached(parts)
        usage = {
            "prompt_tokens": prompt,
            "completion_tokens": len(words),
            "prompt_tokens_details": {"cached_tokens": cached},
        }
        if not turn.body.get("stream"):
            yield {
                "choices": [
                    {
                        "message": {"role": "assistant", "content": "".join(words)},
                        "finish_reason": "stop",
                    }
                ],
                "usage": usage,
            }
            return
        for word in words:
            yield {"choices": [{"delta": {"content": word}, "finish_reason": None}]}
        yield {"choices": [{"delta": {}, "finish_reason": "stop"}]}
        if turn.body.get("stream_options"):
            yield {"choices": [], "usage": usage}

    def message(self, turn: _Turn) -> Iterator[Any]:
        """Answer as Anthropic does."""
        blocks = turn.body["messages"][-1]["content"]
        words, (prompt, cached) = (
            self._words(turn, blocks[-1]["text"]),
            self._cached([block["text"] for block in blocks]),
        )
        stored = len(blocks[0]["text"]) // 4 if len(blocks) > 1 and not cached else 0
        usage = {
            "input_tokens": prompt - cached - stored,
            "cache_read_input_tokens": cached,
            "cache_creation_input_tokens": stored,
            "output_tokens": len(words),
        }
        if not turn.body.get("stream"):
            content = [
                {"type": "thinking", "thinking": "Hm."},
                {"type": "text", "text": "".join(words)},
            ]
            yield {"type": "message", "content": content, "stop_reason": "end_turn", "usage": usage}
            return
        yield {"type": "message_start", "message": {"usage": {**usage, "output_tokens": 1}}}
        yield {"type": "ping"}
        for word in words:
            yield {
                "type": "content_block_delta",
                "index": 0,
                "delta": {"type": "text_delta", "text": word},
            }
        yield {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn"},
            "usage": {"output_tokens": len(words)},
        }
        yield {"type": "message_stop"}

    def ollama_chat(self, turn: _Turn) -> Iterator[Any]:
        """Answer as Ollama does."""
        text = turn.body["messages"][-1]["content"]
        words = self._words(turn, text)
        end = {
            "done": True,
            "done_reason": "stop",
            "prompt_eval_count": len(text) // 4,
            "eval_count": len(words),
        }
        if not turn.body.get("stream"):
            yield {"message": {"role": "assistant", "content": "".join(words)}, **end}
            return
        for word in words:
            yield {"message": {"role": "assistant", "content": word}, "done": False}
        yield {"message": {"role": "assistant", "content": ""}, **end}

    def _words(self, turn: _Turn, text: str) -> list[str]:
        words = [] if turn.fault is Fault.EMPTY else self.answer(text).split(" ")
        return [f" {word}" if place else word for place, word in enumerate(words)]

    def _cached(self, parts: list[str]) -> tuple[int, int]:
        """Count the tokens of a question, and of those the ones that were seen before."""
        prompt = sum(len(part) for part in parts) // 4
        with self._lock:
            known = len(parts) > 1 and parts[0] in self._seen
            self._seen.update(parts[:-1])
        return prompt, len(parts[0]) // 4 if known else 0

    # Answers that are none

    def _nowhere(self, turn: _Turn) -> None:
        _send_bytes(turn, b"404 page not found", status=404)

    def _broken(self, turn: _Turn) -> None:
        _send_bytes(turn, b'{"data": [{"embedding": [0.1, ')

    def _deep(self, turn: _Turn) -> None:
        _send_bytes(turn, b'{"data":' + b"[" * 100_000 + b"]" * 100_000 + b"}")

    def _other(self, turn: _Turn) -> None:
        _send(turn, {"data": "none", "embeddings": 5, "choices": {}, "content": 7, "message": "no"})

    def _huge(self, turn: _Turn) -> None:
        _begin(turn, {"Connection": "close"})
        block = b" " * 1_000_000
        while not self.released.is_set():
            turn.handler.wfile.write(block)

    def _dripping(self, turn: _Turn) -> None:
        _begin(turn, {"Connection": "close"})
        while not self.hold(0.02):
            turn.handler.wfile.write(b" ")

    def _cut(self, turn: _Turn) -> None:
        """Break off: half of a whole answer, or two events of a stream."""
        said = list(self._said(turn))
        if len(said) > 1:
            _begin(turn, {"Connection": "close", "Content-Type": "text/event-stream"})
            for item in said[:2]:
                turn.handler.wfile.write(_event(turn, item))
            return
        whole = json.dumps(said[0]).encode()
        _begin(turn, {"Content-Length": str(len(whole))})
        turn.handler.wfile.write(whole[: len(whole) // 2])
        turn.handler.close_connection = True

    def _error_inside(self, turn: _Turn) -> None:
        said = list(self._said(turn))[:2] if turn.body.get("stream") else []
        trouble = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
        _send_answer(turn, iter([*said, trouble]))


_RAW: dict[Fault | None, Callable[[ModelStandIn, _Turn], None]] = {
    Fault.NOWHERE: ModelStandIn._nowhere,
    Fault.BROKEN: ModelStandIn._broken,
    Fault.DEEP: ModelStandIn._deep,
    Fault.OTHER: ModelStandIn._other,
    Fault.HUGE: ModelStandIn._huge,
    Fault.DRIPPING: ModelStandIn._dripping,
    Fault.CUT: ModelStandIn._cut,
    Fault.ERROR_INSIDE: ModelStandIn._error_inside,
}
_ROUTES: dict[str, Callable[[ModelStandIn, _Turn], Iterator[Any]]] = {
    "/voyage/v1/embeddings": ModelStandIn.listed,
    "/openai/v1/embeddings": ModelStandIn.listed,
    "/openai/v1/chat/completions": ModelStandIn.chat,
    "/anthropic/v1/messages": ModelStandIn.message,
    "/ollama/api/embed": ModelStandIn.embedded,
    "/ollama/api/chat": ModelStandIn.ollama_chat,
    "/ollama/api/tags": ModelStandIn.tags,
}


def _vectors(turn: _Turn, length: int | None) -> list[list[float]]:
    model = turn.body["model"]
    length = length or DIMENSIONS.get(model, 1024)
    texts = turn.body["input"][1:] if turn.fault is Fault.COUNT else turn.body["input"]
    embedder = HashEmbedder(
        model=model, dimensions=length - 1 if turn.fault is Fault.LENGTH else length
    )
    rows = [
        [round(2 * value, 6) for value in row]
        for row in embedder.embed_documents([_bare(text) for text in texts]).tolist()
    ]  # not of length 1
    if turn.fault in {Fault.NAN, Fault.ZERO}:
        rows[0] = [float("nan") if turn.fault is Fault.NAN else 0.0] * length
    return rows


def _bare(text: str) -> str:
    for instruction in _INSTRUCTIONS:
        text = text.removeprefix(instruction)
    return text


def _echo(text: str) -> str:
    """Repeat the first words of what was asked about: what stands between the last marks, or else
    the whole.
    """
    marked = re.findall(r"<([a-z]+-[0-9a-f]+)>\n(.*?)\n</\1>", text, re.DOTALL)
    return f"It is about {' '.join((marked[-1][1] if marked else text).split()[:12])}."


def _bearer(turn: _Turn) -> str:
    return str(turn.handler.headers.get("Authorization", "")).removeprefix("Bearer ")


def _begin(turn: _Turn, headers: dict[str, str], status: int = 200) -> None:
    turn.handler.send_response(status)
    for name, value in {"Content-Type": "application/json", **headers}.items():
        turn.handler.send_header(name, value)
    turn.handler.close_connection = headers.get("Connection") == "close"
    turn.handler.end_headers()


def _send_bytes(
    turn: _Turn, body: bytes, status: int = 200, headers: dict[str, str] | None = None
) -> None:
    _begin(turn, {"Content-Length": str(len(body)), **(headers or {})}, status)
    turn.handler.wfile.write(body)


def _send(
    turn: _Turn, answer: Any, status: int = 200, headers: dict[str, str] | None = None
) -> None:
    _send_bytes(turn, json.dumps(answer).encode(), status, headers)


def _send_answer(turn: _Turn, said: Iterator[Any]) -> None:
    if not turn.body.get("stream"):
        _send(turn, next(said))
        return
    _begin(turn, {"Connection": "close", "Content-Type": "text/event-stream"})
    for item in said:
        turn.handler.wfile.write(_event(turn, item))
        turn.handler.wfile.flush()
    if "/openai/" in turn.path:
        turn.handler.wfile.write(b"data: [DONE]\n\n")


def _event(turn: _Turn, item: Any) -> bytes:
    if "/ollama/" in turn.path:
        return json.dumps(item).encode() + b"\n"
    name = f"event: {item['type']}\n" if "type" in item else ": a comment\n"
    return f"{name}data: {json.dumps(item)}\n\n".encode()


def _handler(standin: ModelStandIn) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            standin.handle(self)

        def do_GET(self) -> None:
            standin.handle(self)

        def log_message(self, format: str, *args: Any) -> None:
            """Keep quiet; ``requests`` is the log."""

    return Handler


def main(port: int = 0) -> None:
    """Serve until interrupted, and say how to use it."""
    standin = ModelStandIn(port)
    print("\n".join(f"{name}={value}" for name, value in standin.settings().items()))
    print(f"For LLM_PROVIDER=anthropic: LLM_BASE_URL={standin.anthropic_url}", flush=True)
    try:
        standin.serve_forever()
    except KeyboardInterrupt:
        standin.stop()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))

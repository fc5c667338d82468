"""A model server on loopback that takes liberties: what it refuses, and how it replies, is set."""

import json
import re
from collections.abc import Callable, Sequence
from http.server import BaseHTTPRequestHandler
from typing import Any, Final

from tests.loopback import StandIn

LENGTH: Final = 8  # of its vectors
Refuse = Callable[[dict[str, Any]], tuple[int, Any] | None]


def vector_of(text: str) -> list[float]:
    """Return a vector that counts words by their letters."""
    vector = [0.01] * LENGTH
    for word in re.findall(r"\w+", text.casefold()):
        vector[sum(map(ord, word)) % LENGTH] += 1.0
    return vector


def overlap(query: str, text: str) -> float:
    """Return how many words of a text are in the query."""
    return float(len(set(query.casefold().split()) & set(text.casefold().split())))


class TextServer(StandIn):
    """Embeds and ranks texts, as a context manager. ``requests`` are the bodies that came in."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.refuse: Refuse = lambda body: None  # status and body of a refusal
        self.embeddings: Callable[[Sequence[str]], Any] = listed
        self.ranking: Callable[[Sequence[float]], Any] = ranked
        self.delay = 0.0
        super().__init__(_handler(self))

    def answer(self, path: str, body: dict[str, Any]) -> tuple[int, Any]:
        """Return the status and the body of a reply."""
        self.requests.append(body)
        if self.delay:
            self.hold(self.delay)
        if refusal := self.refuse(body):
            return refusal
        if "embed" in path:
            return 200, self.embeddings(body["input"])
        texts = body.get("documents") or body.get("texts") or []
        return 200, self.ranking([overlap(body["query"], text) for text in texts])

    def sizes(self) -> list[int]:
        """Return how many texts each request had."""
        return [len(texts_of(body)) for body in self.requests]


def texts_of(body: dict[str, Any]) -> list[str]:
    """Return the texts of a request."""
    return list(body.get("input") or body.get("documents") or body.get("texts") or [])


def listed(texts: Sequence[str]) -> Any:
    """Reply with vectors as OpenAI does."""
    rows = [{"index": n, "embedding": vector_of(text)} for n, text in enumerate(texts)]
    return {"object": "list", "data": rows}


def ranked(scores: Sequence[float]) -> Any:
    """Reply with scores as Jina does, best first."""
    rows = [{"index": n, "relevance_score": score} for n, score in enumerate(scores)]
    return {"results": sorted(rows, key=lambda row: -row["relevance_score"])}


def _handler(server: TextServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            server.keys.append(self.headers.get("Authorization"))
            status, reply = server.answer(self.path, body)
            data = reply if isinstance(reply, bytes) else json.dumps(reply).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:
            """Keep quiet; ``requests`` is the log."""

    return Handler

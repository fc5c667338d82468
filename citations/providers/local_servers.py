"""Model servers that listen on this machine: looked for in the background, on known ports only.

The addresses are fixed and on loopback, so no caller can direct a request elsewhere; only the list
of models is asked for.
"""

import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Final

from pydantic import BaseModel

from citations.conf import Remote
from citations.errors import ModelError
from citations.providers.http import ModelServer
from citations.providers.server_errors import ServerNames
from transcripts.core.sanitize import clean

OLLAMA_PORT: Final = 11434
PORTS: Final = {  # of the defaults of each server, and whose it is if it does not say so
    OLLAMA_PORT: "Ollama",
    1234: "LM Studio",
    8080: "",
    8000: "",
    1337: "Jan",
    4891: "GPT4All",
    5001: "KoboldCpp",
}
LOOK_AGAIN_SECONDS: Final = 60.0
_TIMEOUT: Final = 0.5  # seconds
_MAX_MODELS: Final = 50
_OWNERS: Final = {"llamacpp": "llama.cpp", "vllm": "vLLM", "library": "Ollama"}
_NO_WRITER: Final = re.compile(r"embed|\bbge|minilm|\be5-|rerank|whisper|tts|clip", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalServer:
    """A model server on this machine, and the language models that it has."""

    port: int
    name: str
    models: tuple[str, ...]

    @property
    def provider(self) -> str:
        return "ollama" if self.port == OLLAMA_PORT else "openai"

    @property
    def base_url(self) -> str:
        path = "" if self.provider == "ollama" else "/v1"
        return f"http://127.0.0.1:{self.port}{path}"


def servers(*, wait: float = 0.0) -> tuple[LocalServer, ...]:
    """Return the servers that were there a minute ago at most, after at most ``wait`` seconds."""
    with _search.lock:
        is_old = time.monotonic() - _search.started > LOOK_AGAIN_SECONDS
        if is_old:
            _search.started = time.monotonic()
            _search.done.clear()
            threading.Thread(target=_look, name="local-servers", daemon=True).start()
    _search.done.wait(wait)
    return _search.servers


def forget() -> None:
    """Look again at the next call."""
    _search.servers, _search.started = (), float("-inf")


@dataclass(slots=True)
class _Search:
    servers: tuple[LocalServer, ...] = ()
    started: float = float("-inf")
    done: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)


_search: Final = _Search()


class _Model(BaseModel):
    name: Any = None  # of Ollama
    id: Any = None
    owned_by: Any = None


class _Models(BaseModel):
    models: list[_Model] = []
    data: list[_Model] = []


def _look() -> None:
    try:
        with ThreadPoolExecutor(len(PORTS)) as executor:
            _search.servers = tuple(filter(None, executor.map(_server_at, PORTS)))
    finally:
        _search.done.set()


def _server_at(port: int) -> LocalServer | None:
    names = ServerNames(server="The server", key="", address="LLM_BASE_URL")
    remote = Remote(base_url=f"http://127.0.0.1:{port}", key="", timeout=_TIMEOUT)
    path = "/api/tags" if port == OLLAMA_PORT else "/v1/models"
    try:
        listed = ModelServer(names, remote).get(path, _Models, tries=1)
    except ModelError:
        return None
    rows = [*listed.models, *listed.data][:_MAX_MODELS]
    # llama.cpp names a model by the path of its file, and takes any name for it.
    named = (re.sub(r".*/(?=.*\.gguf$)", "", clean(row.name or row.id, 400)) for row in rows)
    models = [name[:200] for name in named if name]
    if not models and port != OLLAMA_PORT:
        return None
    owner = next((_OWNERS[row.owned_by] for row in rows if row.owned_by in _OWNERS), "")
    return LocalServer(
        port=port,
        name=owner or PORTS[port] or f"127.0.0.1:{port}",
        models=tuple(dict.fromkeys(name for name in models if not _NO_WRITER.search(name))),
    )

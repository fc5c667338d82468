"""Language models: their protocol, and what those behind an API share."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator
from dataclasses import astuple, dataclass, replace
from operator import add
from typing import Any, ClassVar, Final, Protocol

from pydantic import BaseModel

from citations.errors import ModelRefused, ModelServerError
from citations.providers.http import ModelServer
from citations.providers.prompts import Prompt, prompt_tokens
from citations.providers.server_errors import Refusal
from transcripts.core.sanitize import clean
from transcripts.core.stages import timed

KNOWN_CONTEXT: Final = 90_000  # tokens; services charge more beyond 100,000
UNKNOWN_CONTEXT: Final = 8_000
SERVICE_CONCURRENCY: Final = 4  # requests at once; a server of one's own answers one by one
_MAX_ANSWER: Final = 400_000  # characters
_CONTROL: Final = dict.fromkeys(code for code in range(32) if chr(code) not in "\n\t")


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens: ``input`` are all of the input; the cache held ``cached`` and gets ``stored``."""

    input: int = 0
    cached: int = 0
    stored: int = 0
    output: int = 0

    @property
    def by_kind(self) -> dict[str, int]:
        """The tokens by what they cost: ``input`` that no cache held, ``cached``, ``output``."""
        return {"input": self.input - self.cached, "cached": self.cached, "output": self.output}

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(*map(add, astuple(self), astuple(other)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    text: str
    usage: Usage


class Llm(Protocol):
    """A language model. Safe to share between threads."""

    @property
    def name(self) -> str:
        """Provider and model, separated by a colon."""

    @property
    def budget(self) -> int:
        """Most tokens of a prompt and its answer, as estimated by ``prompts.tokens``."""

    @property
    def caches(self) -> bool:
        """Whether a ``document`` costs a fraction if it is soon sent again."""

    @property
    def fills_forms(self) -> bool:
        """Whether it writes lines of a form that is described to it, as known services do; a model
        of one to two billion parameters repeats the description.
        """

    @property
    def concurrency(self) -> int:
        """How many requests it answers at once."""

    def ask(self, prompt: Prompt, *, tries: int = 0) -> Completion:
        """Answer a prompt in at most ``tries`` attempts (0: default). Raises ``ModelError``."""

    def stream(
        self, prompt: Prompt, *, tries: int = 0, on_usage: Callable[[Usage], None] | None = None
    ) -> Generator[str, None, None]:
        """Yield the answer in pieces, then call ``on_usage``. Raises as ``ask`` does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatReply:
    """The answer so far; ``done`` at its end, ``reason`` says why it ended."""

    text: str = ""
    usage: Usage = Usage()
    reason: str = ""
    done: bool = False
    error: str = ""

    def then(self, piece: "ChatReply") -> "ChatReply":
        """Append a piece. Counts of tokens are running totals: the highest is valid."""
        return replace(
            piece,
            text=self.text + piece.text,
            usage=Usage(*map(max, astuple(self.usage), astuple(piece.usage))),
            reason=piece.reason or self.reason,
            done=self.done or piece.done,
        )


class RemoteLlm(ABC):
    """A language model behind an API."""

    provider: ClassVar[str]
    path: ClassVar[str]  # of the API below the server's address
    answer: ClassVar[type[BaseModel]]  # the schema of an answer, and of an event of a stream
    home: ClassVar[str] = ""  # the service's own host

    def __init__(self, server: ModelServer, model: str, context_tokens: int = 0) -> None:
        self._server = server
        self.model = model
        self.official = server.host == self.home
        self.budget = context_tokens or (KNOWN_CONTEXT if self.official else UNKNOWN_CONTEXT)

    @property
    def name(self) -> str:
        return f"{self.provider}:{self.model}"

    @property
    def caches(self) -> bool:
        return self.official

    @property
    def fills_forms(self) -> bool:
        return self.official

    @property
    def concurrency(self) -> int:
        return SERVICE_CONCURRENCY if self.official else 1

    def ask(self, prompt: Prompt, *, tries: int = 0) -> Completion:
        """Answer a prompt. Raises ``ModelServerError``, also for an empty answer.

        Raises ``ModelRefused``, also for a prompt beyond the budget.
        """
        body = self._request(prompt, stream=False)
        with timed("model", self.name) as tokens:
            try:
                reply = self._read(self._server.post(self.path, body, self.answer, tries=tries))
            except Refusal as refusal:
                raise self._translated(refusal) from None
            tokens |= reply.usage.by_kind
            text = clean(reply.text, _MAX_ANSWER)
            if reply.error or not text:
                raise self._failure(reply)
        return Completion(text=text, usage=reply.usage)

    def stream(
        self, prompt: Prompt, *, tries: int = 0, on_usage: Callable[[Usage], None] | None = None
    ) -> Generator[str, None, None]:
        """Yield the answer in pieces. Raises as ``ask``, also if incomplete, after ``on_usage``."""
        body = self._request(prompt, stream=True)
        reply = ChatReply()
        with timed("model", self.name) as tokens:
            try:
                for event in self._server.stream(self.path, body, self.answer, tries=tries):
                    piece = self._read(event)
                    reply = reply.then(piece)
                    if reply.error or len(reply.text) > _MAX_ANSWER:
                        break
                    if text := piece.text.translate(_CONTROL):
                        yield text
            except Refusal as refusal:
                raise self._translated(refusal) from None
            finally:
                tokens |= reply.usage.by_kind
                if on_usage:
                    on_usage(reply.usage)
            if reply.error or not reply.done or not reply.text.strip():
                raise self._failure(reply)

    def _request(self, prompt: Prompt, *, stream: bool) -> dict[str, Any]:
        size = prompt_tokens(prompt) + prompt.max_tokens
        if size > self.budget:
            raise ModelRefused(
                f"{self.name} reads {self.budget:,} tokens at once; the prompt has about {size:,}.",
                hint="Ask with less text, or raise LLM_CONTEXT_TOKENS if the model reads more.",
            )
        return self._body(prompt, stream=stream)

    def _failure(self, reply: ChatReply) -> ModelServerError:
        if reply.error:
            fault, hint = f"broke off: “{reply.error}”", "Try again later."
        elif not reply.done:
            fault, hint = "broke off in the middle of its answer.", "Try again later."
        else:
            fault = f"gave no answer ({reply.reason or 'it is empty'})."
            hint = "Try again, or choose another LLM_MODEL."
        return ModelServerError(f"{self.name} {fault}", hint=hint)

    def _translated(self, refusal: Refusal) -> Exception:
        return refusal

    @abstractmethod
    def _body(self, prompt: Prompt, *, stream: bool) -> dict[str, Any]: ...

    @abstractmethod
    def _read(self, answer: Any) -> ChatReply: ...


def error_text(error: Any) -> str:
    """Return the cleaned message of an error within an answer, "" for none."""
    if not error:
        return ""
    message = error.get("message") if isinstance(error, dict) else error
    return " ".join(clean(message, 300).split()) or "an error without a message"

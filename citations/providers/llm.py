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
from citations.providers.request_form import RequestForm, is_too_long, numbers_in
from citations.providers.server_errors import Refusal
from citations.text.thoughts import is_thinking, without_thoughts
from transcripts.core.sanitize import clean
from transcripts.core.stages import timed

KNOWN_CONTEXT: Final = 90_000  # tokens; services charge more beyond 100,000
UNKNOWN_CONTEXT: Final = 8_000
SERVICE_CONCURRENCY: Final = 4  # requests at once; a server of one's own answers one by one
_MAX_ANSWER: Final = 400_000  # characters
THINKING_ROOM: Final = 4_000  # tokens for reasoning that cannot be switched off
_LEAST_CONTEXT: Final = 1_000  # tokens, below which nothing can be asked
_MAX_FORMS: Final = 8  # in which a request is tried
_START: Final = 60  # characters of an answer, which may be those of a mark before thoughts
_USED_UP: Final = frozenset({"length", "max_tokens", "MAX_TOKENS"})
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
    has_thoughts: bool = False  # apart from the text
    has_marks: bool = False  # of thoughts, which were left out
    is_whole: bool = False  # the text is the answer from its beginning

    @property
    def is_used_up(self) -> bool:
        """Whether the answer's limit was reached before anything but thoughts came."""
        is_empty = not self.error and not without_thoughts(self.text).strip()
        return is_empty and self.reason in _USED_UP

    def then(self, piece: "ChatReply") -> "ChatReply":
        """Append a piece. Counts of tokens are running totals: the highest is valid."""
        return replace(
            piece,
            text=self.text + piece.text,
            error=self.error or piece.error,
            usage=Usage(*map(max, astuple(self.usage), astuple(piece.usage))),
            reason=piece.reason or self.reason,
            done=self.done or piece.done,
            has_thoughts=self.has_thoughts or piece.has_thoughts,
            has_marks=self.has_marks or piece.has_marks,
        )


class RemoteLlm(ABC):
    """A language model behind an API. Remembers in which form its server takes requests."""

    provider: ClassVar[str]
    path: ClassVar[str]  # of the API below the server's address
    answer: ClassVar[type[BaseModel]]  # the schema of an answer, and of an event of a stream
    home: ClassVar[str] = ""  # the service's own host

    def __init__(self, server: ModelServer, model: str, context_tokens: int = 0) -> None:
        self._server = server
        self.model = model
        self.official = server.host == self.home
        self.context = context_tokens or (KNOWN_CONTEXT if self.official else UNKNOWN_CONTEXT)
        self.form = RequestForm()

    @property
    def budget(self) -> int:
        return self.context - self.form.thinking_room

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
        reply = ChatReply()
        with timed("model", self.name) as tokens:
            for piece in self.replies(prompt, stream=False, tries=tries):
                reply = reply.then(piece)
            tokens |= reply.usage.by_kind
            text = clean(without_thoughts(reply.text), _MAX_ANSWER)
            if reply.error or not text:
                raise self.failure(reply)
        return Completion(text=text, usage=reply.usage)

    def stream(
        self, prompt: Prompt, *, tries: int = 0, on_usage: Callable[[Usage], None] | None = None
    ) -> Generator[str, None, None]:
        """Yield the answer in pieces. Raises as ``ask``, also if incomplete, after ``on_usage``.

        Of thoughts, only those at the beginning are left out.
        """
        reply = ChatReply()
        with timed("model", self.name) as tokens:
            try:
                for piece in self.replies(prompt, stream=True, tries=tries):
                    reply = reply.then(piece)
                    if reply.error or len(reply.text) > _MAX_ANSWER:
                        break
                    if text := piece.text.translate(_CONTROL):
                        yield text
            finally:
                tokens |= reply.usage.by_kind
                if on_usage:
                    on_usage(reply.usage)
            if reply.error or not reply.done or not without_thoughts(reply.text).strip():
                raise self.failure(reply)

    def replies(
        self, prompt: Prompt, *, stream: bool, tries: int
    ) -> Generator[ChatReply, None, None]:
        """Yield the answer's pieces, the first when it is no thought. What the server refuses is
        sent again in another form, and with more room what thoughts have used up.
        """
        size = prompt_tokens(prompt) + prompt.max_tokens
        if size > self.budget:
            raise ModelRefused(
                f"{self._subject} reads {self.budget:,} tokens at once; the prompt has about"
                f" {size:,}.",
                hint="Ask with less text, or raise LLM_CONTEXT_TOKENS if the model reads more.",
            )
        known, first = self.form, ChatReply()
        for attempt in range(_MAX_FORMS):
            room = min(self.form.thinking_room, self.context - size)
            more = replace(prompt, max_tokens=prompt.max_tokens + room)
            body = self.form.fitted(self._body(more, stream=stream))
            pieces = self._answers(body, tries)
            try:
                first = next(pieces, first)
                if first.error and not first.text:  # with the status of a success
                    raise Refusal(first.error, status=400, reason=first.error)
            except Refusal as refusal:
                form = self.form.after(refusal, body) if attempt + 1 < _MAX_FORMS else None
                if form:
                    self.form = form
                    continue
                self.form = known
                self._learn_context(refusal)
                if first.error:
                    break
                raise self._translated(refusal) from None
            if not first.is_used_up or self.form.thinking_room:
                break
            self.form = replace(self.form, thinking_room=min(THINKING_ROOM, self.context // 2))
        yield first
        yield from pieces

    def _answers(self, body: dict[str, Any], tries: int) -> Generator[ChatReply, None, None]:
        """Yield the pieces of an answer; the first is all until something is no thought."""
        start: ChatReply | None = ChatReply()
        text_so_far = ""
        for event in self._server.stream(self.path, body, self.answer, tries=tries):
            piece = self._read(event)
            if piece.is_whole:
                piece = replace(piece, text=piece.text.removeprefix(text_so_far))
            text_so_far += piece.text
            if start is None:
                yield piece
                continue
            start = start.then(piece)
            may_end = len(start.text) < _START or any(end in piece.text for end in ">]▷⟩")
            if piece.error or (may_end and not is_thinking(start.text)):
                text = without_thoughts(start.text).lstrip()
                yield replace(start, text=text, has_marks=text != start.text.lstrip())
                start = None
        if start is not None:
            yield start

    def _learn_context(self, refusal: Refusal) -> None:
        """Remember how much the server reads, where it refuses a prompt for its length."""
        if is_too_long(refusal):
            sizes = [n for n in numbers_in(refusal.reason) if _LEAST_CONTEXT <= n < self.context]
            self.context = min(sizes, default=max(self.context // 2, _LEAST_CONTEXT))

    def failure(self, reply: ChatReply) -> ModelServerError:
        if reply.error:
            fault, hint = f"broke off: “{reply.error}”", "Try again later."
        elif not reply.done:
            fault, hint = "broke off in the middle of its answer.", "Try again later."
        elif reply.text.strip() or reply.has_thoughts:
            fault = f"thought, but gave no answer ({reply.reason or 'it is empty'})."
            hint = "Raise LLM_CONTEXT_TOKENS, or choose an LLM_MODEL that thinks less."
        else:
            fault = f"gave no answer ({reply.reason or 'it is empty'})."
            hint = "Try again, or choose another LLM_MODEL."
        return ModelServerError(f"{self._subject} {fault}", hint=hint)

    @property
    def server(self) -> str:
        """The name of the server."""
        return self._server.names.server

    @property
    def _subject(self) -> str:
        return f"{self.server} ({self.model})"

    def _translated(self, refusal: Refusal) -> Exception:
        return refusal

    @abstractmethod
    def _body(self, prompt: Prompt, *, stream: bool) -> dict[str, Any]: ...

    @abstractmethod
    def _read(self, answer: Any) -> ChatReply: ...

"""What the APIs of language models have in common: a question goes out, an answer comes back whole or in pieces."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final

from pydantic import BaseModel

from citations.errors import ModelRefused, ModelServerError
from citations.providers.http import ModelServer
from citations.providers.llm import Completion, Usage
from citations.providers.prompts import Prompt, prompt_tokens
from citations.providers.server_errors import Refusal
from transcripts.sanitize import clean

KNOWN_CONTEXT: Final = 90_000  # tokens; beyond 100,000 the services have dearer prices
UNKNOWN_CONTEXT: Final = 8_000
_MAX_ANSWER: Final = 400_000  # characters
_CONTROL: Final = dict.fromkeys(code for code in range(32) if chr(code) not in "\n\t")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatReply:
    """What has been said so far; ``latest`` is the newest piece, ``done`` whether it came to its end, and ``reason`` why it ended."""

    text: str = ""
    latest: str = ""
    usage: Usage = Usage()
    reason: str = ""
    done: bool = False
    error: str = ""

    def then(self, next_: "ChatReply") -> "ChatReply":
        """Add what was said next. Counts of tokens are running totals: the highest holds."""
        older, newer = self.usage, next_.usage
        usage = Usage(
            asked=max(older.asked, newer.asked),
            cached=max(older.cached, newer.cached),
            stored=max(older.stored, newer.stored),
            answered=max(older.answered, newer.answered),
        )
        text = self.text + next_.text
        return replace(
            next_,
            text=text,
            latest=next_.text,
            usage=usage,
            reason=next_.reason or self.reason,
            done=self.done or next_.done,
        )


class RemoteLlm(ABC):
    """A language model behind an API."""

    provider: ClassVar[str]
    home: ClassVar[str] = ""  # the host of the service itself

    def __init__(self, server: ModelServer, model: str, context_tokens: int = 0) -> None:
        self._server = server
        self.model = model
        self.official = server.host == self.home
        self.budget = context_tokens or (KNOWN_CONTEXT if self.official else UNKNOWN_CONTEXT)

    @property
    def name(self) -> str:
        """Provider and model."""
        return f"{self.provider}:{self.model}"

    @property
    def caches(self) -> bool:
        """Whether a document that is sent again costs a fraction."""
        return self.official

    def ask(self, prompt: Prompt, *, tries: int = 0) -> Completion:
        """Answer a prompt. Raises ``ModelServerError``, also for an empty answer; ``ModelRefused``, also for a prompt beyond the budget."""
        self._check(prompt)
        try:
            said = self._read(
                self._server.post(
                    self.path, self._body(prompt, stream=False), self.answer, tries=tries
                )
            )
        except Refusal as refusal:
            raise self._known(refusal) from None
        text = clean(said.text, _MAX_ANSWER)
        if said.error or not text:
            raise self._failed(said)
        return Completion(text=text, usage=said.usage)

    def complete(
        self,
        prompt: str,
        *,
        system: str = "",
        document: str = "",
        max_tokens: int = 300,
        tries: int = 0,
    ) -> str:
        """Return the answer to a prompt. Raises as ``ask`` does."""
        return self.ask(
            Prompt(text=prompt, system=system, document=document, max_tokens=max_tokens),
            tries=tries,
        ).text

    def stream(
        self,
        prompt: str,
        *,
        system: str = "",
        document: str = "",
        max_tokens: int = 300,
        tries: int = 0,
        told: Callable[[Usage], None] | None = None,
    ) -> Iterator[str]:
        """Yield the answer as it comes. Raises as ``ask`` does, also where it ends before its end; ``told`` gets what it cost even then."""
        wanted = Prompt(text=prompt, system=system, document=document, max_tokens=max_tokens)
        self._check(wanted)
        heard = ChatReply()
        try:
            for event in self._events(wanted, tries):
                heard = heard.then(self._read(event))
                if heard.error or len(heard.text) > _MAX_ANSWER:
                    break
                if piece := heard.latest.translate(_CONTROL):
                    yield piece
        finally:
            if told:
                told(heard.usage)
        if heard.error or not heard.done or not heard.text.strip():
            raise self._failed(heard)

    def _events(self, prompt: Prompt, tries: int) -> Iterator[Any]:
        try:
            yield from self._server.stream(
                self.path, self._body(prompt, stream=True), self.answer, tries=tries
            )
        except Refusal as refusal:
            raise self._known(refusal) from None

    def _check(self, prompt: Prompt) -> None:
        wanted = prompt_tokens(prompt) + prompt.max_tokens
        if wanted > self.budget:
            raise ModelRefused(
                f"{self.name} reads {self.budget:,} tokens at once; this question has about {wanted:,}.",
                hint="Ask with less text, or raise LLM_CONTEXT_TOKENS if the model reads more.",
            )

    def _failed(self, said: ChatReply) -> ModelServerError:
        if said.error:
            return ModelServerError(
                f"{self.name} broke off: “{said.error}”", hint="Try again later."
            )
        if not said.done:
            return ModelServerError(
                f"{self.name} broke off in the middle of its answer.", hint="Try again later."
            )
        return ModelServerError(
            f"{self.name} gave no answer ({said.reason or 'it is empty'}).",
            hint="Try again, or choose another LLM_MODEL.",
        )

    def _known(self, refusal: Refusal) -> Exception:
        return refusal

    @property
    @abstractmethod
    def path(self) -> str:
        """Where questions go, below the server's address."""

    @property
    @abstractmethod
    def answer(self) -> type[BaseModel]:
        """The form of an answer, and of a piece of one that streams."""

    @abstractmethod
    def _body(self, prompt: Prompt, *, stream: bool) -> dict[str, Any]: ...

    @abstractmethod
    def _read(self, answer: Any) -> ChatReply: ...


def error_text(error: Any) -> str:
    """What an error in the midst of an answer says, short and harmless; "" for none."""
    if not error:
        return ""
    said = error.get("message") if isinstance(error, dict) else error
    return " ".join(clean(said, 300).split()) or "an error without words"

"""The protocol of language models, and a fake for tests."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

from citations.providers.prompts import Prompt, prompt_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens: ``asked`` are all of the input; the cache held ``cached`` and gets ``stored``."""

    asked: int = 0
    cached: int = 0
    stored: int = 0
    answered: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            asked=self.asked + other.asked,
            cached=self.cached + other.cached,
            stored=self.stored + other.stored,
            answered=self.answered + other.answered,
        )


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

    def ask(self, prompt: Prompt, *, tries: int = 0) -> Completion:
        """Answer a prompt in at most ``tries`` attempts (0: default). Raises ``ModelError``."""

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

    def stream(
        self,
        prompt: str,
        *,
        system: str = "",
        document: str = "",
        max_tokens: int = 300,
        tries: int = 0,
        on_usage: Callable[[Usage], None] | None = None,
    ) -> Iterator[str]:
        """Yield the answer in pieces, then call ``on_usage``. Raises as ``ask`` does."""


class FakeLlm:
    """A language model for tests that records its prompts in ``asked``."""

    name = "fake:words"
    caches = True

    def __init__(
        self, answer: Callable[[Prompt], str] | None = None, *, budget: int = 90_000
    ) -> None:
        self._answer = answer or _some_words
        self.budget = budget
        self.asked: list[Prompt] = []

    def ask(self, prompt: Prompt, *, tries: int = 0) -> Completion:
        self.asked.append(prompt)
        text = self._answer(prompt)
        return Completion(
            text=text, usage=Usage(asked=prompt_tokens(prompt), answered=len(text.split()))
        )

    def complete(
        self,
        prompt: str,
        *,
        system: str = "",
        document: str = "",
        max_tokens: int = 300,
        tries: int = 0,
    ) -> str:
        return self.ask(
            Prompt(text=prompt, system=system, document=document, max_tokens=max_tokens)
        ).text

    def stream(
        self,
        prompt: str,
        *,
        system: str = "",
        document: str = "",
        max_tokens: int = 300,
        tries: int = 0,
        on_usage: Callable[[Usage], None] | None = None,
    ) -> Iterator[str]:
        completion = self.ask(
            Prompt(text=prompt, system=system, document=document, max_tokens=max_tokens)
        )
        yield from re.findall(r"\S+\s*", completion.text)
        if on_usage:
            on_usage(completion.usage)


def _some_words(prompt: Prompt) -> str:
    words = re.findall(r"[^\W_]+", prompt.text)
    return f"About {' '.join(words[2:8])}."

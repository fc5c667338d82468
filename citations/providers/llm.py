"""What a language model is, and a fake one for tests."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

from citations.providers.prompts import Prompt, prompt_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens that were paid for: ``asked`` in all, of which ``cached`` came from the service's cache and ``stored`` went into it, and ``answered``."""

    asked: int = 0
    cached: int = 0
    stored: int = 0
    answered: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        """Add up two."""
        return Usage(
            asked=self.asked + other.asked,
            cached=self.cached + other.cached,
            stored=self.stored + other.stored,
            answered=self.answered + other.answered,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """An answer, and what it cost."""

    text: str
    usage: Usage


class Llm(Protocol):
    """A language model. Safe to share between threads."""

    @property
    def name(self) -> str:
        """Provider and model."""

    @property
    def budget(self) -> int:
        """How many tokens a question and its answer may have together, as ``prompts.tokens`` estimates them."""

    @property
    def caches(self) -> bool:
        """Whether a ``document`` that is sent again soon costs a fraction."""

    def ask(self, prompt: Prompt, *, tries: int = 0) -> Completion:
        """Answer a prompt; ask a failing server at most ``tries`` times (0: the usual). Raises ``ModelError``."""

    def complete(
        self,
        prompt: str,
        *,
        system: str = "",
        document: str = "",
        max_tokens: int = 300,
        tries: int = 0,
    ) -> str:
        """Return the answer to a prompt. Raises ``ModelError``."""

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
        """Yield the answer to a prompt as it comes; ``told`` gets what it cost, at the end. Raises ``ModelError``, also on the way."""


class FakeLlm:
    """A language model for tests: answers what ``answer`` makes of a prompt, and keeps the prompts in ``asked``."""

    name = "fake:words"
    caches = True

    def __init__(
        self, answer: Callable[[Prompt], str] | None = None, *, budget: int = 90_000
    ) -> None:
        self._answer = answer or _some_words
        self.budget = budget
        self.asked: list[Prompt] = []

    def ask(self, prompt: Prompt, *, tries: int = 0) -> Completion:
        """Answer a prompt."""
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
        """Return the answer to a prompt."""
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
        told: Callable[[Usage], None] | None = None,
    ) -> Iterator[str]:
        """Yield the answer word by word."""
        done = self.ask(
            Prompt(text=prompt, system=system, document=document, max_tokens=max_tokens)
        )
        yield from re.findall(r"\S+\s*", done.text)
        if told:
            told(done.usage)


def _some_words(prompt: Prompt) -> str:
    words = re.findall(r"[^\W_]+", prompt.text)
    return f"About {' '.join(words[2:8])}."

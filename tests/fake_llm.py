"""A language model that records what it is asked."""

import re
from collections.abc import Callable, Generator

from citations.providers.llm import Completion, Usage
from citations.providers.prompts import Prompt, prompt_tokens


class FakeLlm:
    """Answers with a few words of the prompt, or with what ``answer`` makes of it."""

    name = "fake:words"
    caches = True
    fills_forms = True
    concurrency = 4

    def __init__(
        self, answer: Callable[[Prompt], str] | None = None, *, budget: int = 90_000
    ) -> None:
        self._answer = answer or _some_words
        self.budget = budget
        self.prompts: list[Prompt] = []

    def ask(self, prompt: Prompt, *, tries: int = 0) -> Completion:
        self.prompts.append(prompt)
        text = self._answer(prompt)
        usage = Usage(input=prompt_tokens(prompt), output=len(text.split()))
        return Completion(text=text, usage=usage)

    def stream(
        self, prompt: Prompt, *, tries: int = 0, on_usage: Callable[[Usage], None] | None = None
    ) -> Generator[str, None, None]:
        completion = self.ask(prompt)
        yield from re.findall(r"\S+\s*", completion.text)
        if on_usage:
            on_usage(completion.usage)


def _some_words(prompt: Prompt) -> str:
    words = re.findall(r"[^\W_]+", prompt.text)
    return f"About {' '.join(words[2:8])}."

"""The language models that can be had: OpenAI and every server that speaks its API, Anthropic, Ollama."""

import hashlib
import re
from dataclasses import replace
from typing import Any, Final

from pydantic import BaseModel, Field

from citations import conf
from citations.errors import InvalidProvider
from citations.providers.chat_api import ChatReply, RemoteLlm, error_text
from citations.providers.http import ModelServer
from citations.providers.llm import Llm, Usage
from citations.providers.prompts import Prompt
from citations.providers.server_errors import Refusal, ServerNames, ollama_model_missing

_MODELS: Final = {"openai": "gpt-6-luna", "anthropic": "claude-haiku-5-5", "ollama": "gemma3:4b"}
_THINKING_ROOM: Final = 4_000  # tokens that a model may think in where that cannot be switched off


def make(choice: conf.LlmChoice) -> Llm | None:
    """Make the language model of a choice; None where none is wanted. Nothing is asked yet.

    Raises ``InvalidProvider`` for an unknown provider, a missing key or an address that cannot be used.
    """
    if choice.provider == conf.NO_LLM:
        return None
    if choice.provider not in _MODELS:
        raise InvalidProvider(
            f"There is no language model provider {choice.provider!r}.",
            hint=f"LLM_PROVIDER is one of none, {', '.join(_MODELS)}.",
        )
    return _CLASSES[choice.provider](
        _server(choice), choice.model or _MODELS[choice.provider], choice.context_tokens
    )


# OpenAI, and what speaks its API


class OpenAiLlm(RemoteLlm):
    """Chat completions."""

    provider = "openai"
    home = "api.openai.com"

    @property
    def path(self) -> str:
        """Where questions go."""
        return "/chat/completions"

    @property
    def answer(self) -> type[BaseModel]:
        """The form of an answer."""
        return _Chat

    def _body(self, prompt: Prompt, *, stream: bool) -> dict[str, Any]:
        if not self.official:  # only what every server of this API knows
            text = f"{prompt.document}\n\n{prompt.text}".strip()
            return {
                "model": self.model,
                "messages": _messages(prompt.system, text),
                "max_tokens": prompt.max_tokens,
                "stream": stream,
            }
        body = {
            "model": self.model,
            "messages": _messages(prompt.system, self._parts(prompt)),
            "max_completion_tokens": prompt.max_tokens
            + (0 if self._effort() == "none" else _THINKING_ROOM),
            "stream": stream,
        }
        body |= {"stream_options": {"include_usage": True}} if stream else {}
        body |= {"reasoning_effort": self._effort()} if self._effort() else {}
        body |= (
            {
                "prompt_cache_key": hashlib.sha256(
                    prompt.document.encode(errors="replace")
                ).hexdigest()[:32]
            }
            if prompt.document
            else {}
        )
        return body | (
            {"prompt_cache_options": {"mode": "explicit"}} if self._marks_cache() else {}
        )

    def _parts(self, prompt: Prompt) -> list[dict[str, Any]]:
        """The shared document first, as caches keep beginnings; newer models keep exactly what is marked."""
        document: dict[str, Any] = {"type": "text", "text": prompt.document}
        if self._marks_cache():
            document["prompt_cache_breakpoint"] = {"mode": "explicit"}
        return [*([document] if prompt.document else []), {"type": "text", "text": prompt.text}]

    def _effort(self) -> str:
        """How much the model shall think before it answers; "" for models that cannot."""
        return "" if self._version() < (5, 0) else "minimal" if self._version() < (5, 1) else "none"

    def _marks_cache(self) -> bool:
        return self._version() >= (5, 6)

    def _version(self) -> tuple[int, int]:
        found = re.match(r"gpt-(\d+)(?:\.(\d+))?(?:-|$)", self.model)
        return (int(found[1]), int(found[2] or 0)) if found else (0, 0)

    def _read(self, answer: "_Chat") -> ChatReply:
        choice = answer.choices[0] if answer.choices else _Choice()
        part, cost = choice.message or choice.delta or _Content(), answer.usage or _ChatUsage()
        details = cost.prompt_tokens_details or _ChatDetails()
        return ChatReply(
            text=part.content or "",
            usage=Usage(
                asked=cost.prompt_tokens,
                answered=cost.completion_tokens,
                cached=details.cached_tokens or 0,
                stored=details.cache_write_tokens or 0,
            ),
            reason=part.refusal or choice.finish_reason or "",
            done=choice.finish_reason is not None,
            error=error_text(answer.error),
        )


class _Content(BaseModel):
    content: str | None = None
    refusal: str | None = None


class _Choice(BaseModel):
    message: _Content | None = None
    delta: _Content | None = None
    finish_reason: str | None = None


class _ChatDetails(BaseModel):
    cached_tokens: int | None = 0
    cache_write_tokens: int | None = 0


class _ChatUsage(BaseModel):
    prompt_tokens: int = 0
    completion_tokens: int = 0
    prompt_tokens_details: _ChatDetails | None = None


class _Chat(BaseModel):
    choices: list[_Choice] = Field(default=[])
    usage: _ChatUsage | None = None
    error: Any = None


# Anthropic


class AnthropicLlm(RemoteLlm):
    """Messages. The document is a block of its own that the service keeps for some minutes."""

    provider = "anthropic"
    home = "api.anthropic.com"

    @property
    def path(self) -> str:
        """Where questions go."""
        return "/messages"

    @property
    def answer(self) -> type[BaseModel]:
        """The form of an answer."""
        return _Message

    def _body(self, prompt: Prompt, *, stream: bool) -> dict[str, Any]:
        document = {"type": "text", "text": prompt.document, "cache_control": {"type": "ephemeral"}}
        content = [*([document] if prompt.document else []), {"type": "text", "text": prompt.text}]
        body: dict[str, Any] = {
            "model": self.model,
            "messages": [{"role": "user", "content": content}],
            "stream": stream,
        }
        body |= {"system": prompt.system} if prompt.system else {}
        if re.search(
            r"haiku-[4-9]", self.model
        ):  # others cannot be kept from thinking, or want to be told otherwise
            return body | {"max_tokens": prompt.max_tokens, "thinking": {"type": "disabled"}}
        return body | {"max_tokens": prompt.max_tokens + _THINKING_ROOM}

    def _read(self, answer: "_Message") -> ChatReply:
        cost = answer.usage or (answer.message.usage if answer.message else None) or _MessageUsage()
        text = "".join(block.text for block in answer.content if block.type == "text")
        cached, stored = cost.cache_read_input_tokens or 0, cost.cache_creation_input_tokens or 0
        return ChatReply(
            text=text + (answer.delta.text if answer.delta else ""),
            usage=Usage(
                asked=(cost.input_tokens or 0) + cached + stored,
                cached=cached,
                stored=stored,
                answered=cost.output_tokens or 0,
            ),
            reason=answer.stop_reason or (answer.delta.stop_reason if answer.delta else None) or "",
            done=answer.type in {"message", "message_stop"},
            error=error_text(answer.error),
        )


class _Block(BaseModel):
    type: str = ""
    text: str = ""


class _Delta(BaseModel):
    text: str = ""  # a piece of thought comes under another name
    stop_reason: str | None = None


class _MessageUsage(BaseModel):
    input_tokens: int | None = 0
    output_tokens: int | None = 0
    cache_read_input_tokens: int | None = 0
    cache_creation_input_tokens: int | None = 0


class _Started(BaseModel):
    usage: _MessageUsage | None = None


class _Message(BaseModel):
    type: str = ""
    content: list[_Block] = Field(default=[])
    stop_reason: str | None = None
    usage: _MessageUsage | None = None
    message: _Started | None = None
    delta: _Delta | None = None
    error: Any = None


# Ollama


class OllamaLlm(RemoteLlm):
    """Ollama's own chat API, which can be told how much to read: what is beyond that it drops without a word."""

    provider = "ollama"

    @property
    def path(self) -> str:
        """Where questions go."""
        return "/api/chat"

    @property
    def answer(self) -> type[BaseModel]:
        """The form of an answer."""
        return _OllamaChat

    def _body(self, prompt: Prompt, *, stream: bool) -> dict[str, Any]:
        text = f"{prompt.document}\n\n{prompt.text}".strip()
        # always the same num_ctx: another one would load the model anew
        options = {"num_ctx": self.budget, "num_predict": prompt.max_tokens, "temperature": 0}
        return {
            "model": self.model,
            "messages": _messages(prompt.system, text),
            "stream": stream,
            "think": False,
            "options": options,
        }

    def _read(self, answer: "_OllamaChat") -> ChatReply:
        return ChatReply(
            text=answer.message.content if answer.message else "",
            usage=Usage(asked=answer.prompt_eval_count, answered=answer.eval_count),
            reason=answer.done_reason,
            done=answer.done,
            error=error_text(answer.error),
        )

    def _known(self, refusal: Refusal) -> Exception:
        return (
            ollama_model_missing(self.model) if refusal.status == 404 and refusal.words else refusal
        )


class _OllamaMessage(BaseModel):
    content: str = ""


class _OllamaChat(BaseModel):
    message: _OllamaMessage | None = None
    done: bool = False
    done_reason: str = ""
    prompt_eval_count: int = 0
    eval_count: int = 0
    error: Any = None


_CLASSES: Final[dict[str, type[RemoteLlm]]] = {
    "openai": OpenAiLlm,
    "anthropic": AnthropicLlm,
    "ollama": OllamaLlm,
}


def _server(choice: conf.LlmChoice) -> ModelServer:
    provider = choice.provider
    key = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY", "ollama": ""}[provider]
    address = (
        "LLM_BASE_URL"
        if choice.base_url or provider == "anthropic"
        else f"{provider.upper()}_BASE_URL"
    )
    remote = conf.remote(provider)
    remote = replace(remote, base_url=(choice.base_url or remote.base_url).rstrip("/"))
    named = {"openai": "OpenAI", "anthropic": "Anthropic", "ollama": "Ollama"}[provider]
    names = ServerNames(
        server="The language model's server" if choice.base_url and provider != "ollama" else named,
        key=key,
        address=address,
    )
    header, scheme = ("x-api-key", "") if provider == "anthropic" else ("Authorization", "Bearer ")
    server = ModelServer(
        names,
        remote,
        header=header,
        scheme=scheme,
        extra={"anthropic-version": "2023-06-01"} if provider == "anthropic" else None,
    )
    if server.host == _CLASSES[provider].home and not remote.key:
        raise InvalidProvider(
            f"{named} wants a key, and {key} is empty.", hint=f"Set {key}, or another LLM_PROVIDER."
        )
    return server


def _messages(system: str, content: str | list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        *([{"role": "system", "content": system}] if system else []),
        {"role": "user", "content": content},
    ]

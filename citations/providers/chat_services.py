"""Language models of OpenAI and compatible servers, Anthropic, and Ollama."""

import hashlib
import re
from dataclasses import replace
from typing import Annotated, Any, Final, TypeAlias, TypeVar
from urllib.parse import urlsplit

from pydantic import AliasChoices, BaseModel, BeforeValidator, Field

from citations import conf
from citations.errors import InvalidProvider
from citations.providers.http import ModelServer
from citations.providers.llm import THINKING_ROOM, ChatReply, Llm, RemoteLlm, Usage
from citations.providers.prompts import Prompt
from citations.providers.server_errors import (
    Refusal,
    ServerNames,
    error_message,
    ollama_model_missing,
    server_name,
)
from transcripts.core.sanitize import clean

_MODELS: Final = {"openai": "gpt-6-luna", "anthropic": "claude-haiku-5-5", "ollama": "gemma3:4b"}
_TEXTS: Final = frozenset({None, "text", "output_text"})  # types of parts that are no thoughts
OWN_TIMEOUT: Final = 180.0  # seconds in which a server of one's own may read a prompt


def make(choice: conf.LlmChoice) -> Llm | None:
    """Return the language model of a choice, or None. Raises ``InvalidProvider``."""
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


def usual_model(provider: str) -> str:
    """Return the model of a provider where none is named."""
    return _MODELS[provider]


def _count(value: Any) -> int:
    """Read a number of tokens; 0 for what is none."""
    is_number = isinstance(value, int | float) and 0 <= value < 1e9
    return int(value) if is_number else 0


def _object(value: Any) -> Any:
    """Read an object: a text is its content, an empty list none."""
    return {"content": value} if isinstance(value, str) else value or None


def _objects(value: Any) -> list[Any]:
    """Read a list of objects, which may be a single one or a text."""
    values = value if isinstance(value, list) else [value]
    return [part for part in map(_object, values) if part]


def _word(value: Any) -> str:
    return "" if value in (None, "null") else str(value)


_T = TypeVar("_T")
_Tokens: TypeAlias = Annotated[int, BeforeValidator(_count)]
_Word: TypeAlias = Annotated[str, BeforeValidator(_word)]
_Maybe: TypeAlias = Annotated[_T | None, BeforeValidator(_object)]
_Several: TypeAlias = Annotated[list[_T], BeforeValidator(_objects)]


# OpenAI and compatible servers


class _Content(BaseModel, extra="allow"):
    content: Any = None  # text, or a list of parts, some of which are thoughts
    text: Any = None
    refusal: Any = None

    @property
    def has_thoughts(self) -> bool:
        """Whether there are thoughts apart from the content, under whatever name."""
        fields = (self.model_extra or {}).items()
        return any(value and re.search("reason|think|thought", name) for name, value in fields)


class _Choice(BaseModel):
    message: _Maybe[_Content] = None
    delta: _Maybe[_Content] = None
    text: Any = None  # of completions that are no chat
    finish_reason: _Word = ""
    error: Any = None


class _ChatDetails(BaseModel):
    cached_tokens: _Tokens = 0
    cache_write_tokens: _Tokens = 0


class _ChatUsage(BaseModel):
    prompt_tokens: _Tokens = 0
    completion_tokens: _Tokens = 0
    prompt_tokens_details: _Maybe[_ChatDetails] = None


class _Chat(BaseModel):
    choices: _Several[_Choice] = []
    usage: _Maybe[_ChatUsage] = None
    error: Any = None
    detail: Any = None
    message: Any = None  # of an error
    done: bool = False


class OpenAiLlm(RemoteLlm):
    """Chat completions."""

    provider = "openai"
    home = "api.openai.com"
    path = "/chat/completions"
    answer = _Chat

    def _body(self, prompt: Prompt, *, stream: bool) -> dict[str, Any]:
        if not self.official:  # only what all compatible servers support
            text = f"{prompt.document}\n\n{prompt.text}".strip()
            return {
                "model": self.model,
                "messages": _messages(prompt.system, text),
                "max_tokens": prompt.max_tokens,
                "stream": stream,
            }
        version = self._version()  # the least reasoning effort; "" for a model without reasoning
        effort = "" if version < (5, 0) else "minimal" if version < (5, 1) else "none"
        body: dict[str, Any] = {
            "model": self.model,
            "messages": _messages(prompt.system, self._parts(prompt)),
            "max_completion_tokens": prompt.max_tokens + (effort != "none") * THINKING_ROOM,
            "stream": stream,
        }
        if stream:
            body["stream_options"] = {"include_usage": True}
        if effort:
            body["reasoning_effort"] = effort
        if prompt.document:
            digest = hashlib.sha256(prompt.document.encode(errors="replace")).hexdigest()
            body["prompt_cache_key"] = digest[:32]
        if self._marks_cache():
            body["prompt_cache_options"] = {"mode": "explicit"}
        return body

    def _parts(self, prompt: Prompt) -> list[dict[str, Any]]:
        """The shared document comes first, as caches keep prefixes; newer models need a mark."""
        document: dict[str, Any] = {"type": "text", "text": prompt.document}
        if self._marks_cache():
            document["prompt_cache_breakpoint"] = {"mode": "explicit"}
        return [*([document] if prompt.document else []), {"type": "text", "text": prompt.text}]

    def _marks_cache(self) -> bool:
        return self._version() >= (5, 6)

    def _version(self) -> tuple[int, int]:
        match = re.match(r"gpt-(\d+)(?:\.(\d+))?(?:-|$)", self.model)
        return (int(match[1]), int(match[2] or 0)) if match else (0, 0)

    def _read(self, answer: "_Chat") -> ChatReply:
        choice = answer.choices[0] if answer.choices else _Choice()
        part, cost = choice.message or choice.delta or _Content(), answer.usage or _ChatUsage()
        details = cost.prompt_tokens_details or _ChatDetails()
        texts = (part.content, part.text, choice.text)
        text = _content_text(next((text for text in texts if text is not None), ""))
        is_error = not answer.choices and not answer.usage and not answer.done
        error = answer.error or choice.error or (is_error and (answer.detail or answer.message))
        return ChatReply(
            text=text,
            usage=Usage(
                input=cost.prompt_tokens,
                output=cost.completion_tokens,
                cached=details.cached_tokens,
                stored=details.cache_write_tokens,
            ),
            reason=clean(part.refusal, 300) or choice.finish_reason,
            done=bool(choice.finish_reason or choice.message or answer.done),
            error=_error_text(error or choice.finish_reason == "error"),
            has_thoughts=part.has_thoughts or bool(part.content and not text),
            is_whole=bool(choice.message),
        )


# Anthropic


class _Block(BaseModel):
    type: str | None = None
    text: str | None = Field(default="", validation_alias=AliasChoices("text", "content"))


class _Delta(BaseModel):
    text: str | None = ""  # reasoning comes under another name
    stop_reason: str | None = None


class _MessageUsage(BaseModel):
    input_tokens: _Tokens = 0
    output_tokens: _Tokens = 0
    cache_read_input_tokens: _Tokens = 0
    cache_creation_input_tokens: _Tokens = 0


class _Started(BaseModel):
    usage: _MessageUsage | None = None


class _Message(BaseModel):
    type: str = ""
    content: _Several[_Block] = []
    stop_reason: str | None = None
    usage: _Maybe[_MessageUsage] = None
    message: _Started | None = None
    delta: _Delta | None = None
    error: Any = None


class AnthropicLlm(RemoteLlm):
    """Messages. The document is a block of its own, which the service caches for minutes."""

    provider = "anthropic"
    home = "api.anthropic.com"
    path = "/messages"
    answer = _Message

    def _body(self, prompt: Prompt, *, stream: bool) -> dict[str, Any]:
        document = {"type": "text", "text": prompt.document, "cache_control": {"type": "ephemeral"}}
        content = [*([document] if prompt.document else []), {"type": "text", "text": prompt.text}]
        body: dict[str, Any] = {
            "model": self.model,
            "messages": [{"role": "user", "content": content}],
            "stream": stream,
        }
        body |= {"system": prompt.system} if prompt.system else {}
        if re.search(r"haiku-[4-9]", self.model):  # others cannot switch off reasoning like this
            return body | {"max_tokens": prompt.max_tokens, "thinking": {"type": "disabled"}}
        return body | {"max_tokens": prompt.max_tokens + THINKING_ROOM}

    def _read(self, answer: "_Message") -> ChatReply:
        cost = answer.usage or (answer.message.usage if answer.message else None) or _MessageUsage()
        text = "".join(block.text or "" for block in answer.content if block.type in _TEXTS)
        cached, stored = cost.cache_read_input_tokens, cost.cache_creation_input_tokens
        return ChatReply(
            text=text + ((answer.delta.text or "") if answer.delta else ""),
            usage=Usage(
                input=cost.input_tokens + cached + stored,
                cached=cached,
                stored=stored,
                output=cost.output_tokens,
            ),
            reason=answer.stop_reason or (answer.delta.stop_reason if answer.delta else None) or "",
            done=answer.type in {"message", "message_stop"},
            error=_error_text(answer.error),
        )


# Ollama


class _OllamaMessage(BaseModel):
    content: Any = ""
    thinking: Any = None


class _OllamaChat(BaseModel):
    message: _Maybe[_OllamaMessage] = None
    done: bool = False
    done_reason: str | None = ""
    prompt_eval_count: _Tokens = 0
    eval_count: _Tokens = 0
    error: Any = None


class OllamaLlm(RemoteLlm):
    """Ollama's own chat API, as it drops silently what exceeds ``num_ctx``."""

    provider = "ollama"
    path = "/api/chat"
    answer = _OllamaChat

    def _body(self, prompt: Prompt, *, stream: bool) -> dict[str, Any]:
        text = f"{prompt.document}\n\n{prompt.text}".strip()
        # A different num_ctx would reload the model.
        options = {"num_ctx": self.context, "num_predict": prompt.max_tokens, "temperature": 0}
        return {
            "model": self.model,
            "messages": _messages(prompt.system, text),
            "stream": stream,
            "think": False,
            "options": options,
        }

    def _read(self, answer: "_OllamaChat") -> ChatReply:
        return ChatReply(
            text=_content_text(answer.message.content) if answer.message else "",
            usage=Usage(input=answer.prompt_eval_count, output=answer.eval_count),
            reason=answer.done_reason or "",
            has_thoughts=bool(answer.message and answer.message.thinking),
            done=answer.done,
            error=_error_text(answer.error),
        )

    def _translated(self, refusal: Refusal) -> Exception:
        return (
            ollama_model_missing(self.model)
            if refusal.status == 404 and refusal.reason
            else refusal
        )


_CLASSES: Final[dict[str, type[RemoteLlm]]] = {
    "openai": OpenAiLlm,
    "anthropic": AnthropicLlm,
    "ollama": OllamaLlm,
}


def _server(choice: conf.LlmChoice) -> ModelServer:
    provider = choice.provider
    service = {"openai": "OpenAI", "anthropic": "Anthropic", "ollama": "Ollama"}[provider]
    key = "" if provider == "ollama" else f"{provider.upper()}_API_KEY"
    is_own_address = bool(choice.base_url) or provider == "anthropic"
    remote = conf.remote(provider)
    remote = replace(remote, base_url=(choice.base_url or remote.base_url).rstrip("/"))
    if choice.is_stored:  # the environment's key is for the environment's server
        remote = replace(remote, key=choice.key)
    if not choice.timeout and urlsplit(remote.base_url).hostname != _CLASSES[provider].home:
        remote = replace(remote, timeout=OWN_TIMEOUT)
    is_ollama = provider == "ollama"
    names = ServerNames(
        server="Ollama"
        if is_ollama
        else server_name(service, remote.base_url, _CLASSES[provider].home),
        key=key,
        address="LLM_BASE_URL" if is_own_address else f"{provider.upper()}_BASE_URL",
    )
    if provider == "anthropic":
        extra = {"anthropic-version": "2023-06-01"}
        server = ModelServer(names, remote, header="x-api-key", scheme="", extra=extra)
    else:
        server = ModelServer(names, remote)
    if server.host == _CLASSES[provider].home and not remote.key:
        raise InvalidProvider(
            f"{service} requires a key, and {key} is empty.",
            hint=f"Set {key}, or another LLM_PROVIDER.",
        )
    return server


def _content_text(content: Any) -> str:
    """Return the text of a content, without the parts that are thoughts."""
    if isinstance(content, list):
        return "".join(map(_content_text, content))
    if isinstance(content, dict):
        is_thought = content.get("type") not in _TEXTS or content.get("thought") is True
        return "" if is_thought else _content_text(content.get("text", content.get("value")))
    return content if isinstance(content, str) else ""


def _error_text(error: Any) -> str:
    return (error_message(error) or "an error without a message") if error else ""


def _messages(system: str, content: str | list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        *([{"role": "system", "content": system}] if system else []),
        {"role": "user", "content": content},
    ]

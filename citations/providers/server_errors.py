"""Refusals of model servers, and how their error messages are read and worded."""

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from html import unescape
from typing import Any, Final
from urllib.parse import urlsplit

from pydantic_core import from_json

from citations.errors import ModelMissing, ModelRefused, ModelServerError
from transcripts.core.sanitize import clean


class Refusal(ModelRefused):
    """A refusal with the HTTP ``status`` and the server's ``reason``."""

    def __init__(
        self, message: str, *, hint: str | None = None, status: int = 0, reason: str = ""
    ) -> None:
        super().__init__(message, hint=hint)
        self.status = status
        self.reason = reason


class ServerFailure(ModelServerError):
    """A failure with the HTTP ``status`` and the server's ``reason``, which may be the content."""

    def __init__(self, message: str, *, hint: str, status: int, reason: str) -> None:
        super().__init__(message, hint=hint)
        self.status = status
        self.reason = reason


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerNames:
    """A server's name, and the settings of its key ("": none) and its address."""

    server: str
    key: str
    address: str


def ollama_model_missing(model: str) -> ModelMissing:
    return ModelMissing(
        f"Ollama does not have the model {model}.", hint=f"`ollama pull {model}` gets it."
    )


def server_name(service: str, base_url: str, home: str) -> str:
    """Return the name of the server at an address: the service's at its ``home``, that of another
    known service, or else host and port.
    """
    parts = urlsplit(base_url)
    host = (parts.hostname or "").removeprefix("www.")
    return service if host == home else _SERVICES.get(host) or parts.netloc.rpartition("@")[2]


def parse_error(body: bytes) -> tuple[str, str]:
    """Return the message, shortened and cleaned, and the reason code of an error response."""
    data = re.sub(rb"\A(?:event:[^\n]*\n)?(?:data|error):", b"", body.strip()).strip()
    try:
        answer = from_json(data)
    except ValueError:
        return error_message(_page_text(body.decode(errors="replace"))), ""
    if isinstance(answer, list) and answer:
        answer = answer[0]
    answer = answer if isinstance(answer, dict) else {"message": answer}
    nested = answer.get("error")
    error = nested if isinstance(nested, dict) else answer
    return error_message(answer), str(error.get("code") or error.get("type") or "")[:100]


def error_message(error: Any) -> str:
    """Return the cleaned message of an error in any form in which servers give it, "" for none:
    text, an object with a message, a list of either, or of a validator's findings.
    """
    return " ".join(clean("; ".join(_messages(error, 0)), 300).split())


def is_permanent(message: str) -> bool:
    """Tell whether the message of a failure (500) blames the request, so that it would recur."""
    return bool(_BLAME.search(message))


def quoted(message: str) -> str:
    """End a sentence with a server's message, if there is one."""
    return f": “{message}”" if message else "."


def retry_after(headers: Mapping[str, str], body: str) -> float:
    """Return the seconds for which a server asks to wait, 0 if it does not say it: in a header, as
    a number, “1m30s” or a date, or in words.
    """
    value = headers.get("retry-after", "").strip()
    if milliseconds := headers.get("retry-after-ms"):
        value = f"{milliseconds}ms"
    in_words = _WAIT.search(body)
    if not value and in_words:
        value = in_words[1]
    if _DURATION.fullmatch(value):
        return sum(float(number) * _UNITS[unit] for number, unit in _SPAN.findall(value))
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except ValueError:
        return 0.0


_MESSAGES: Final = (
    *("message", "msg", "error", "detail", "details", "errors", "error_message", "errorMessage"),
    *("error_msg", "error_description", "Message", "description", "reason", "title", "status"),
)
_BLAME: Final = re.compile(
    r"unsupported|not (?:support|allow|permit|implement|enabled)|unknown|unrecogni[sz]ed|invalid"
    r"|unexpected|must |jinja|template|context (?:length|size)|too (?:large|long)",
    re.IGNORECASE,
)
_UNITS: Final = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "ms": 0.001}
_SPAN: Final = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)\s?(ms|[hms]|)(?:(?<=[hms])[a-z]{0,8})?\s?")
_DURATION: Final = re.compile(f"(?:{_SPAN.pattern}){{1,4}}")
_WAIT: Final = re.compile(
    rf"(?:try again|retry)(?:\s?(?:in|after|delay)\W{{0,4}}){{1,2}}({_DURATION.pattern})",
    re.IGNORECASE,
)
_TITLE: Final = re.compile(r"<(title|h1)\b[^>]{0,200}>(.{1,300}?)</\1", re.IGNORECASE | re.DOTALL)
_TAG: Final = re.compile(
    r"<(style|script)\b.*?(?:</\1>|\Z)|<[^<>]{0,500}>", re.IGNORECASE | re.DOTALL
)
_SERVICES: Final = {
    "api.openai.com": "OpenAI",
    "api.anthropic.com": "Anthropic",
    "api.mistral.ai": "Mistral AI",
    "api.groq.com": "Groq",
    "api.deepseek.com": "DeepSeek",
    "api.together.xyz": "Together AI",
    "api.x.ai": "xAI",
    "openrouter.ai": "OpenRouter",
    "generativelanguage.googleapis.com": "Gemini",
}


def _messages(error: Any, depth: int) -> list[str]:
    if isinstance(error, list) and depth < 5:
        return [message for item in error[:5] for message in _messages(item, depth + 1)]
    if isinstance(error, dict) and depth < 5:
        nested = (_messages(error[key], depth + 1) for key in _MESSAGES if error.get(key))
        messages = next(filter(None, nested), [])
        place = error.get("loc") or error.get("param")
        path = ".".join(map(str, place)) if isinstance(place, list) else place
        if messages and isinstance(path, str) and path not in messages[0]:
            messages[0] = f"{path}: {messages[0]}"
        return messages
    return [error] if isinstance(error, str) and error.strip() else []


def _page_text(text: str) -> str:
    """Return the title of a web page, or a plain text as it is."""
    if not text.lstrip().startswith("<"):
        return text
    title = _TITLE.search(text)
    return unescape(_TAG.sub(" ", title[2] if title else text))

"""What model servers say when they refuse, made short and harmless; and how it is told."""

import time
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any

from pydantic import BaseModel, ValidationError

from citations.errors import ModelMissing, ModelRefused
from transcripts.sanitize import clean


class Refusal(ModelRefused):
    """A refusal with the HTTP ``status`` and the server's own ``words``, for those who know what it means."""

    def __init__(
        self, message: str, *, hint: str | None = None, status: int = 0, words: str = ""
    ) -> None:
        super().__init__(message, hint=hint)
        self.status = status
        self.words = words


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerNames:
    """What a person knows a server by: its name, and the settings that hold its key ("": none) and its address."""

    server: str
    key: str
    address: str


def ollama_model_missing(model: str) -> ModelMissing:
    """Say that Ollama does not have ``model``."""
    return ModelMissing(
        f"Ollama does not have the model {model}.", hint=f"`ollama pull {model}` gets it."
    )


def parse_error(body: bytes) -> tuple[str, str]:
    """Return what a server says about an error, short and harmless, and the kind that it names."""
    try:
        answer = _Complaint.model_validate_json(body)
    except ValidationError:
        return "", ""
    cause = (
        answer.error
        if isinstance(answer.error, _Cause)
        else _Cause(message=answer.error or answer.detail)
    )
    return " ".join(clean(cause.message, 300).split()), str(cause.code or cause.type or "")


def quoted(words: str) -> str:
    """End a sentence with a server's words, if there are any."""
    return f": “{words}”" if words else "."


def retry_after(value: str) -> float:
    """Read a Retry-After header, in seconds or as a date; 0 where there is none that makes sense."""
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except ValueError:
        return 0.0


class _Cause(BaseModel):
    message: str = ""
    code: Any = None
    type: Any = None


class _Complaint(BaseModel):
    """The error of OpenAI and Anthropic (an object), Ollama (a text), Voyage (``detail``)."""

    error: _Cause | str = ""
    detail: str = ""

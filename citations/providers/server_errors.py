"""Refusals of model servers, and how their error messages are read and worded."""

import time
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any

from pydantic import BaseModel, ValidationError

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


def parse_error(body: bytes) -> tuple[str, str]:
    """Return the message, shortened and cleaned, and the reason code of an error response."""
    try:
        answer = _ErrorResponse.model_validate_json(body)
    except ValidationError:
        return "", ""
    error = answer.error
    if isinstance(error, str):
        error = _Error(message=error or answer.detail)
    return " ".join(clean(error.message, 300).split()), str(error.code or error.type or "")


def quoted(message: str) -> str:
    """End a sentence with a server's message, if there is one."""
    return f": “{message}”" if message else "."


def retry_after(value: str) -> float:
    """Return the seconds of a Retry-After header (seconds or a date), 0 if it is invalid."""
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except ValueError:
        return 0.0


class _Error(BaseModel):
    message: str = ""
    code: Any = None
    type: Any = None


class _ErrorResponse(BaseModel):
    """An error of OpenAI and Anthropic (an object), Ollama (text), Voyage (``detail``)."""

    error: _Error | str = ""
    detail: str = ""

"""The form in which a model server takes requests for answers, learned from what it refuses."""

import re
from dataclasses import dataclass, replace
from typing import Any, Final

from citations.providers.server_errors import Refusal

_SYSTEM, _PARTS = "system", "parts"  # what is refused besides fields: a role, a list as content
_NEEDED: Final = frozenset({"model", "messages"})
_LIMITS: Final = ("max_tokens", "max_completion_tokens")
_STATUSES: Final = frozenset({400, 405, 415, 422, 500, 501})
_LEAST_TOKENS: Final = 16
_SYSTEM_WORDS: Final = re.compile(
    r"\b(?:system|developer)\b.{0,40}\b(?:role|message|instruction|prompt|support|enabled|allowed)"
    r"|\b(?:role|message|instruction|prompt)s?\b.{0,40}\b(?:system|developer)\b"
    r"|roles? must alternate|only (?:the )?user and assistant"
    r"|must (?:start|begin) with (?:a |the )?[\"'`]?user",
    re.IGNORECASE | re.DOTALL,
)
_PART_WORDS: Final = re.compile(
    r"cache_control|breakpoint|content\b.{0,60}\bstr(?:ing)?\b|\bstring\b.{0,60}\bcontent",
    re.IGNORECASE | re.DOTALL,
)
_CONTEXT: Final = re.compile(r"context|token|length|prompt|input", re.IGNORECASE)
_TOO_MANY: Final = re.compile(
    r"too (?:large|big|high|many|long)|at most|maximum|exceed|less than|greater than|<=",
    re.IGNORECASE,
)
# Refusals that may be of any part of a request, as they name none.
_UNNAMED: Final = re.compile(
    r"\Z|.{0,60}\b(?:bad request|invalid request|malformed|unprocessable|validation|schema|extra"
    r"|unexpected|unsupported|unknown (?:field|parameter|argument)|template)",
    re.IGNORECASE | re.DOTALL,
)
_NUMBER: Final = re.compile(r"\d{1,3}(?:,\d{3})+|\d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestForm:
    """What a server has ``refused`` of requests, and its limit of an answer's tokens (0: none
    known); ``thinking_room`` is added to the limit that a prompt asks for.
    """

    refused: frozenset[str] = frozenset()
    most_tokens: int = 0
    thinking_room: int = 0

    def fitted(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return a request in this form."""
        fitted = {name: value for name, value in body.items() if name not in self.refused}
        for name, other in (_LIMITS, _LIMITS[::-1]):
            if name in body and name in self.refused and other not in self.refused:
                fitted[other] = body[name]
        for name in _LIMITS:
            if self.most_tokens and name in fitted:
                fitted[name] = min(fitted[name], self.most_tokens)
        if _PARTS in self.refused:
            fitted["messages"] = [
                message | {"content": _text(message["content"])} for message in body["messages"]
            ]
        if _SYSTEM in self.refused:
            first = [{"role": _SYSTEM, "content": body[_SYSTEM]}] if _SYSTEM in body else []
            fitted["messages"] = _without_system([*first, *fitted["messages"]])
        return fitted

    def after(self, refusal: Refusal, body: dict[str, Any]) -> "RequestForm | None":
        """Return the form to try after a refusal of ``body``; None where none promises more."""
        if refusal.status not in _STATUSES:
            return None
        message = refusal.reason
        limit = next((body[name] for name in _LIMITS if name in body), 0)
        lower = [number for number in numbers_in(message) if _LEAST_TOKENS <= number < limit]
        if _TOO_MANY.search(message) and _CONTEXT.search(message):
            return replace(self, most_tokens=max(lower)) if lower else None
        part = self._named(message, body) or self._unnamed(message, body)
        return replace(self, refused=self.refused | part) if part else None

    def _named(self, message: str, body: dict[str, Any]) -> frozenset[str]:
        """Return the part of a request that a refusal names, as a server does that knows it."""
        roles = {part["role"] for part in body["messages"]}
        if roles - {"user", "assistant"} and _SYSTEM_WORDS.search(message):
            return frozenset({_SYSTEM})
        has_parts = any(not isinstance(part["content"], str) for part in body["messages"])
        if has_parts and _PART_WORDS.search(message):
            return frozenset({_PARTS})
        fields = sorted(set(body) - _NEEDED, key=lambda name: (-len(name), name))
        named = [(match.start(), name) for name in fields if (match := _mention(name, message))]
        return frozenset({min(named)[1]}) if named else frozenset()

    def _unnamed(self, message: str, body: dict[str, Any]) -> frozenset[str]:
        """Return all that a request can do without, then also its limit and the stream."""
        if not _UNNAMED.match(message):
            return frozenset()
        optional = frozenset(set(body) - _NEEDED)
        first = optional - {*_LIMITS, "stream"}
        if any(part["role"] == "system" for part in body["messages"]):
            first |= {_SYSTEM}
        return first or optional


def is_too_long(refusal: Refusal) -> bool:
    """Tell whether a server refuses a prompt because it reads less."""
    is_about_context = _CONTEXT.search(refusal.reason) and _TOO_MANY.search(refusal.reason)
    return refusal.status in {400, 413, 422, 500} and bool(is_about_context)


def numbers_in(message: str) -> list[int]:
    return [int(number.replace(",", "")) for number in _NUMBER.findall(message)]


def _mention(name: str, message: str) -> re.Match[str] | None:
    words = re.escape(name).replace("_", "[_ -]")
    return re.search(rf"(?<![\w]){words}(?:ing|ed|s)?(?![\w])", message, re.IGNORECASE)


def _text(content: Any) -> str:
    return content if isinstance(content, str) else "\n\n".join(part["text"] for part in content)


def _without_system(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Put the instructions before the text of the user."""
    instructions = [_text(part["content"]) for part in messages if part["role"] == "system"]
    others = [part for part in messages if part["role"] != "system"]
    text = "\n\n".join((*instructions, _text(others[0]["content"])))
    return [others[0] | {"content": text}, *others[1:]]

"""Many texts, sent to a model server in requests of a size that it takes: its refusals teach it."""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Final, Generic, TypeAlias, TypeVar

from citations.errors import ModelError, ModelServerError
from citations.providers.server_errors import Refusal, ServerFailure, parse_error, quoted
from transcripts.core.sanitize import clean

T = TypeVar("T")
ContentError: TypeAlias = Refusal | ServerFailure

_TOO_LARGE: Final = 413
_OF_CONTENT: Final = frozenset({400, _TOO_LARGE, 422, 424, 500})  # what another content may mend
_OF_LENGTH: Final = re.compile(r"token|length|\blong|context|large|exceed|maxim|limit", re.I)
_OF_CHARACTERS: Final = re.compile(r"\bnan\b|unsupported|invalid|illegal|utf|character", re.I)
_OF_SUM: Final = re.compile(r"token|byte|body|payload", re.I)
_SHORT: Final = 64  # bytes from which a text is not shortened any more,
_USUAL: Final = 200  # and where a server does not say that it is the length
_RETRIES: Final = 2  # attempts of what is sent again in another form
_PROBE: Final = "text"
_FAULTS_BETWEEN_CHECKS: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestLimits:
    """Most texts and bytes of a request, and most bytes of a text. A token has at least a byte."""

    texts: int
    together: int
    each: int


Send: TypeAlias = Callable[[list[str], frozenset[str], int], Sequence[T | None]]
"""Sends texts without some fields, in so many attempts (0: as many as usual); returns a value of
each, or None where the reply has none that can be used."""


@dataclass(slots=True, kw_only=True)
class SentTexts(Generic[T]):
    """What came of texts, by their indexes: values, or errors; and which of them were cut."""

    values: dict[int, T] = field(default_factory=dict)
    faults: dict[int, ModelError] = field(default_factory=dict)
    cut: set[int] = field(default_factory=set)

    @property
    def odd(self) -> int:
        """How many texts the server did not take as they are."""
        return len(self.faults) + len(self.cut)


class TextRequests(Generic[T]):
    """The requests to one server, which remembers its limits and the ``optional`` fields that it
    does not know. Thread safe: at worst, threads learn the same twice.
    """

    def __init__(
        self, limits: RequestLimits, *, optional: Iterable[str], unusable: ModelServerError
    ) -> None:
        """Begin with ``limits``; ``unusable`` is the fault of a text without a usable value."""
        self.limits = limits
        self.unusable = unusable
        self.omitted: frozenset[str] = frozenset()
        self._optional = frozenset(optional)

    def send(
        self, texts: Sequence[str], send: Send[T], *, tries: int = 0, partly: bool = False
    ) -> SentTexts[T]:
        """Return what comes of texts. Raises ``ModelError``; if ``partly``, only where the server
        takes no text at all: one that it does not take is a fault then.
        """
        call = _Call(self, send, [clean(text, len(text)) or "." for text in texts], partly)
        call.take(range(len(texts)), tries)
        if call.sent.faults and not call.sent.values:
            call.check(next(iter(call.sent.faults.values())))
        return call.sent

    def omit(self, fields: frozenset[str]) -> bool:
        """Leave out fields from now on; return whether any of them was sent until now."""
        is_new = not fields <= self.omitted
        self.omitted |= fields
        return is_new

    def named(self, error: ContentError) -> frozenset[str]:
        """Return the optional fields that an error names."""
        return frozenset(name for name in self._optional if name in error.reason)

    def answered_without(self, error: ModelError, send: Send[T]) -> frozenset[str] | None:
        """Return the fields without which the server takes a short text, None if it takes none."""
        choices = [self.omitted, self._optional] if isinstance(error, Refusal) else [self.omitted]
        for omitted in choices:
            with suppress(ModelError):
                if send([_PROBE], omitted, 1)[0] is not None:
                    return omitted
        return None

    def narrow(self, texts: list[str], error: ContentError) -> None:
        """Remember that this many texts are too many for one request, and half of them are not."""
        if error.status == _TOO_LARGE or _OF_SUM.search(error.reason):
            half = sum(map(_size, texts)) // 2
            self.limits = replace(self.limits, together=min(self.limits.together, half))
        else:
            half = (len(texts) + 1) // 2
            self.limits = replace(self.limits, texts=min(self.limits.texts, half))


@dataclass(slots=True)
class _Call(Generic[T]):
    """One call, with its texts."""

    requests: TextRequests[T]
    send: Send[T]
    texts: Sequence[str]
    partly: bool
    sent: SentTexts[T] = field(default_factory=SentTexts)
    next_check: int = 0  # faults with which the server is to be checked again

    def take(self, indexes: Sequence[int], tries: int) -> None:
        """Send texts in requests within the limits, which may be narrower after each."""
        rest = list(indexes)
        while rest:
            texts = _first_batch((self._cut(index) for index in rest), self.requests.limits)
            self._take_batch(rest[: len(texts)], texts, tries)
            rest = rest[len(texts) :]

    def check(self, error: ModelError) -> bool:
        """Raise an error if the server is its cause; return whether it was a field, not a text."""
        if len(self.sent.faults) < self.next_check:
            return False
        self.next_check = len(self.sent.faults) + _FAULTS_BETWEEN_CHECKS
        if (omitted := self.requests.answered_without(error, self.send)) is None:
            raise error
        return self.requests.omit(omitted)

    def _take_batch(self, indexes: list[int], texts: list[str], tries: int) -> None:
        try:
            values = self.send(texts, self.requests.omitted, tries)
        except (Refusal, ServerFailure) as error:
            if error.status not in _OF_CONTENT:
                raise
            if self.requests.omit(self.requests.named(error)) or self.check(error):
                self.take(indexes, tries)
            elif len(texts) == 1:
                self._take_alone(indexes[0], texts[0], error)
            else:
                self._take_halves(indexes, texts, error)
        else:
            for index, text, value in zip(indexes, texts, values, strict=True):
                self._keep(index, text, value)

    def _take_halves(self, indexes: list[int], texts: list[str], error: ContentError) -> None:
        middle, odd = (len(texts) + 1) // 2, self.sent.odd
        self.take(indexes[:middle], _RETRIES)
        self.take(indexes[middle:], _RETRIES)
        if odd == self.sent.odd:  # not one of the texts was the reason
            self.requests.narrow(texts, error)

    def _take_alone(self, index: int, text: str, error: ContentError) -> None:
        """Shorten a text that is refused until the server takes it."""
        is_length = error.status == _TOO_LARGE or bool(_OF_LENGTH.search(error.reason))
        least = _SHORT if is_length else _USUAL
        while (is_length or not _OF_CHARACTERS.search(error.reason)) and _size(text) > least:
            text = _start(text, _size(text) // 2)
            try:
                value = self.send([text], self.requests.omitted, _RETRIES)[0]
            except (Refusal, ServerFailure) as again:
                if again.status not in _OF_CONTENT:
                    raise
                error = again
                continue
            if is_length:
                limits = self.requests.limits
                self.requests.limits = replace(limits, each=min(limits.each, _size(text)))
            self._keep(index, text, value)
            return
        if not self.partly:
            raise error
        self.sent.faults[index] = error

    def _keep(self, index: int, text: str, value: T | None) -> None:
        if value is None:
            if not self.partly:
                raise self.requests.unusable
            self.sent.faults[index] = self.requests.unusable
            return
        self.sent.values[index] = value
        if len(text) < len(self.texts[index]):
            self.sent.cut.add(index)

    def _cut(self, index: int) -> str:
        return _start(self.texts[index], self.requests.limits.each)


def inner(value: Any, names: Sequence[str]) -> Any:
    """Return what an object holds under the first of these names, also in objects in it."""
    while isinstance(value, dict):
        value = next((value[name] for name in names if value.get(name) is not None), None)
    return value


def raise_inner_error(error: Any, server: str) -> None:
    """Raise the error, if any, of a reply that comes as a success."""
    if error:
        message = parse_error(json.dumps({"error": error}).encode())[0]
        fault = f"{server} has a problem{quoted(message)}"
        raise ServerFailure(fault, hint="Try again later.", status=500, reason=message)


def _size(text: str) -> int:
    return len(text.encode())


def _start(text: str, limit: int) -> str:
    """Return at most ``limit`` bytes of a text, without half a character."""
    return text.encode()[:limit].decode(errors="ignore")


def _first_batch(texts: Iterable[str], limits: RequestLimits) -> list[str]:
    """Return the texts, at least one, that go into one request."""
    batch: list[str] = []
    size = 0
    for text in texts:
        size += _size(text)
        if batch and (len(batch) == limits.texts or size > limits.together):
            break
        batch.append(text)
    return batch

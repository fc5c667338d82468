"""Speech recognition at a server that speaks OpenAI's ``/audio/transcriptions``: its own, and those
of faster-whisper-server, whisper.cpp, LocalAI and others.

They give words with times, segments with times, or a text alone; what has no times gets them by
its share of the characters.
"""

import io
import re
import wave
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, Final

from pydantic import BaseModel, model_validator

from citations.conf import Remote
from citations.errors import ModelRefused
from citations.providers.http import Form, ModelServer
from citations.providers.server_errors import Refusal, ServerNames, server_name
from transcripts.core import languages
from transcripts.core.errors import InvalidInput
from transcripts.core.languages import MAX_LENGTH

HOME: Final = "https://api.openai.com/v1"
PART_SECONDS: Final = 600.0  # for the answer to a part, of a server without a GPU, too
RATE: Final = 16_000  # samples a second
# The best first; a server that does not know one refuses the request.
FORMATS: Final = (
    {"response_format": "verbose_json", "timestamp_granularities[]": ("segment", "word")},
    {"response_format": "verbose_json"},
    {"response_format": "json"},
)
UNKNOWN: Final = (400, 415, 422, 501)  # statuses of such a refusal
SURE: Final = 1.0
_SENTENCE: Final = re.compile(r"\S.*?(?:[.!?…。？！]+(?=\s|$)|$)", re.DOTALL)

Segment = dict[str, Any]
Timed = tuple[int, int, str, float]  # ms, ms, text, probability


class SpeechReply(BaseModel):
    """What was heard; times in seconds from the beginning of the part."""

    text: str = ""
    language: str = ""
    segments: list[Any] = []
    words: list[Any] = []

    @model_validator(mode="before")
    @classmethod
    def _read(cls, reply: Any) -> dict[str, Any]:
        if not isinstance(reply, dict) or not isinstance(reply.get("text"), str):
            raise ValueError("no text")
        return {name: reply[name] for name in cls.model_fields if reply.get(name)}

    def timed(self, length: int) -> list[Segment]:
        """Return the segments of a part of ``length`` ms, each with its words."""
        words = [word for each in self.words if (word := _timed(each, "word", length))]
        segments = []
        for segment in self.segments:
            own = segment.get("words") or () if isinstance(segment, dict) else ()
            spoken = [word for each in own if (word := _timed(each, "word", length))]
            if timed := _timed(segment, "text", length):
                begin, end, text, _ = timed
                spoken = spoken or [word for word in words if begin <= word[0] < end]
                segments.append({"text": text, "words": spoken or list(_spread(text, begin, end))})
        if segments:
            return segments
        if words:
            return [{"text": self.text, "words": words}]
        sentences = [match[0] for match in _SENTENCE.finditer(self.text)]
        return [
            {"text": text, "words": list(_spread(text, begin, end))}
            for text, (begin, end) in zip(sentences, _shares(sentences, 0, length), strict=True)
        ]


class SpeechServer:
    """A server that recognises speech with a ``model``."""

    def __init__(self, remote: Remote, model: str) -> None:
        """Raises ``InvalidProvider`` for an address or a key that cannot be used."""
        name = server_name("OpenAI", remote.base_url, HOME)
        names = ServerNames(server=name, key="SPEECH_API_KEY", address="SPEECH_BASE_URL")
        self._server, self._model = ModelServer(names, remote), model
        self._first = 0  # of what the server knows

    def hear(self, samples: bytes, language: str) -> tuple[str, list[Segment]]:
        """Return the language and the segments of 16-bit samples at 16 kHz; a segment has its
        ``text`` and ``words``: [start and end in ms, text, probability].

        Raises ``ModelServerError``, and ``ModelRefused`` in the server's words.
        """
        reply = self._ask(_wav(samples), language)
        length = len(samples) // 2 * 1000 // RATE
        return language or _tag(reply.language), reply.timed(length)

    def _ask(self, audio: bytes, language: str) -> SpeechReply:
        about: dict[str, Any] = {"model": self._model, "temperature": "0"}
        about |= {"language": language.partition("-")[0]} if language else {}
        refusal: ModelRefused | None = None
        for number, choice in enumerate(FORMATS[self._first :], self._first):
            form = Form(
                fields={**about, **choice}, name="part.wav", media_type="audio/wav", data=audio
            )
            try:
                reply = self._server.post("audio/transcriptions", form, SpeechReply)
            except Refusal as error:
                refusal = refusal or error
                if error.status not in UNKNOWN:
                    break
            else:
                self._first = number
                return reply
        raise refusal or AssertionError


def _tag(language: str) -> str:
    """Return the tag of a language that a server names, “german” or “de”; "" for one unknown."""
    with suppress(InvalidInput):
        return languages.parse(language[:MAX_LENGTH])
    return ""


def _wav(samples: bytes) -> bytes:
    file = io.BytesIO()
    with wave.open(file, "wb") as target:
        target.setparams((1, 2, RATE, 0, "NONE", ""))
        target.writeframes(samples)
    return file.getvalue()


def _timed(row: Any, name: str, length: int) -> Timed | None:
    """Return a text with its times within the part, None if it has none."""
    try:
        text = str(row[name])
        begin, end = (min(max(0, round(1000 * float(row[at]))), length) for at in ("start", "end"))
        probability = float(row.get("probability") or SURE)
    except (KeyError, TypeError, ValueError, OverflowError, AttributeError):
        return None
    return (begin, max(begin, end), text, probability) if text.strip() else None


def _spread(text: str, begin: int, end: int) -> Iterator[Timed]:
    """Yield the words of a text with the times that they have by their lengths."""
    words = text.split()
    for word, (start, stop) in zip(words, _shares(words, begin, end), strict=True):
        yield start, stop, word, SURE


def _shares(texts: Sequence[str], begin: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the parts of a time that texts take by their numbers of characters."""
    total, count = sum(map(len, texts)) or 1, 0
    for text in texts:
        first, count = count, count + len(text)
        yield begin + (end - begin) * first // total, begin + (end - begin) * count // total

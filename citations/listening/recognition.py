"""Who recognises speech: Whisper on this machine, or a server."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Final

from citations import conf
from citations.errors import ModelMissing, SpeechMissing
from citations.providers import weights
from citations.providers.speech_services import PART_SECONDS, SpeechServer
from citations.readers.speech import decoder, whisper
from transcripts.core.errors import KnowledgeBaseError
from transcripts.models import Collection, Listening
from transcripts.text.cues import Cue, Word

UNSURE: Final = 0.4  # a probability below which a word is shown as unsure
PACE: Final = 0.35  # seconds of work for a second of speech: the base model's most on two cores

Segments = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Recognizer:
    """A model by its name, and the function that returns the language and the segments that it
    hears in samples, given a language or "".
    """

    name: str
    hear: Callable[[bytes, str], tuple[str, Segments]]


def recognizer() -> Recognizer:
    """Return who recognises speech by the settings.

    Raises ``SpeechMissing`` if nobody can, ``InvalidProvider`` for an address or key that cannot be
    used, and ``ModelError`` for weights that are not those of the model.
    """
    choice = conf.speech()
    if choice is None or not decoder.is_installed():
        raise SpeechMissing
    if choice.provider != "local":
        return Recognizer(choice.model, _server(choice).hear)
    if not whisper.is_installed():
        raise SpeechMissing
    try:
        folder = weights.find(choice.model)
    except ModelMissing:
        raise SpeechMissing(f"The model {choice.model} is not on this machine.") from None
    return Recognizer(_name(choice.model), partial(_hear, folder))


def is_available(collection: Collection | None = None) -> bool:
    """Return whether recordings can be listened to, and may in a collection."""
    if collection and collection.listens is Listening.NEVER:
        return False
    try:
        recognizer()
    except KnowledgeBaseError:
        return False
    return True


def minutes(length: int) -> int:
    """Estimate how many minutes it takes to listen to so many ms."""
    return math.ceil(length * PACE / 60_000)


def offer(length: int) -> str:
    """Say how long it takes to listen to so many ms (0: unknown); "" if nobody can."""
    if not is_available():
        return ""
    how = f"about {minutes(length)} min" if length else "a third to half as long as it is"
    return f"Listening to it takes {how} on this machine."


def cues_of(segments: Segments, *, start: int) -> Iterable[Cue]:
    """Yield the captions of a part that begins at ``start`` (ms), with the words' times."""
    for segment in segments:
        words, text = segment["words"], segment["text"].strip()
        if words and text:
            yield Cue(
                start=start + words[0][0],
                end=start + max(words[-1][1], words[0][0]),
                text=text,
                words=tuple(
                    Word(start + begin, word.strip(), probability < UNSURE)
                    for begin, _, word, probability in words
                    if word.strip()
                ),
            )


@lru_cache(maxsize=2)
def _server(choice: conf.SpeechChoice) -> SpeechServer:
    """Return the server of the settings, which keeps its connections."""
    timeout = conf.model_timeout() or PART_SECONDS
    remote = conf.Remote(base_url=choice.base_url, key=choice.key, timeout=timeout)
    return SpeechServer(remote, choice.model)


def _hear(folder: Path, samples: bytes, language: str) -> tuple[str, Segments]:
    threads = conf.model_threads()
    return whisper.hear(samples, model=folder, threads=threads, language=language)


def _name(model: str) -> str:
    """Return what people call a model: “Whisper base” is called so, others by their names."""
    sizes = {conf.WHISPER.format(size): f"Whisper {size}" for size in conf.WHISPER_SIZES}
    return sizes.get(model, Path(model).name if model.startswith("/") else model)

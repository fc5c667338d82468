"""Audio and video files that are added: beside the recording of their name, or to be heard."""

import tempfile
from pathlib import Path
from typing import IO, Any

from citations.listening import recognition
from citations.readers.speech import decoder
from transcripts.adding import listening
from transcripts.core.errors import KnowledgeBaseError, MediaWithoutCaptions
from transcripts.media import files as media
from transcripts.models import Collection, Job, Video


def add(
    collection: Collection,
    file: IO[bytes],
    *,
    name: str,
    listens: bool,
    offers: bool = False,
    **about: Any,
) -> Video | Job:
    """Store a file with the recording of the same name. Where there is none, return the job that
    listens to it if ``listens``, or one that ``offers`` to; ``about`` as of ``listening.request``.

    Raises ``SpeechMissing``, and what ``media.add`` raises.
    """
    try:
        return media.add(collection, file, name=name)
    except MediaWithoutCaptions:
        if listens:
            recognition.recognizer()
            return listening.request(collection, file, name=name, **about)
        if not (offers and recognition.is_available()):
            raise
        return listening.offer(collection, file, name=name, hint=_estimate(file), **about)


def _estimate(file: IO[bytes]) -> str:
    """Say how long it takes to listen to a file, as far as it says how long it is."""
    with tempfile.NamedTemporaryFile(prefix="cuebase-sound-") as copy:
        file.seek(0)
        while data := file.read(media.PART):
            copy.write(data)
        copy.flush()
        try:
            length = decoder.length_of(Path(copy.name))
        except KnowledgeBaseError:  # the job will say so
            length = 0
    file.seek(0)
    if not length:
        return "Listening to it takes about half as long as it is, on this machine."
    return f"Listening to it takes about {recognition.minutes(length)} min on this machine."

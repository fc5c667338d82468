"""Audio and video files that are added: beside the recording of their name, or to be heard."""

import tempfile
from pathlib import Path
from typing import IO, Any

from citations.listening import recognition
from citations.readers.speech import decoder
from transcripts.adding import listening
from transcripts.core.errors import KnowledgeBaseError, MediaWithoutCaptions
from transcripts.media import files as media
from transcripts.models import Collection, Job, Listening, Video


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
    listens to it if it ``listens`` or its collection always does, or one that ``offers`` to;
    ``about`` as of ``listening.request``.

    Raises ``SpeechMissing``, ``ListeningForbidden``, and what ``media.add`` raises.
    """
    try:
        return media.add(collection, file, name=name)
    except MediaWithoutCaptions:
        if listens or collection.listens is Listening.ALWAYS and recognition.is_available():
            recognition.recognizer()
            return listening.request(collection, file, name=name, **about)
        if not (offers and recognition.is_available(collection)):
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
    return recognition.offer(length)

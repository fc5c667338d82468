"""The sample library: the sample talks, a textbook on what they are about, and a lecture that is ready to be replayed beside it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from django.contrib.auth.models import User
from django.db import transaction

from citations.documents import storage as document_storage
from citations.lectures import sessions
from citations.models import LectureSession, Source
from transcripts import samples as talks
from transcripts.models import Collection, Transcript
from transcripts.scope import Scope
from transcripts.storage import StoredTranscript

TEXTBOOK: Final = Path(__file__).resolve().parent / "sample" / "counting-waiting-keeping-time.pdf"
TITLE: Final = "Counting, Waiting, Keeping Time"
LECTURE: Final = "Sample lecture: When a service says no"
LANGUAGE: Final = "en"


@dataclass(frozen=True, slots=True, kw_only=True)
class Samples:
    """What the samples consist of."""

    talks: tuple[StoredTranscript, ...]
    textbook: Source
    lecture: LectureSession


def load(collection: Collection | None = None, *, owner: User | None = None) -> Samples:
    """Store the samples in a collection, by default one of their own; what is there already stays as it is."""
    with transaction.atomic():
        stored = tuple(talks.load(collection))
        shelf = stored[0].video.collection
        textbook = _textbook(shelf)
        spoken = next(
            one.transcript
            for one in stored
            if one.video.key == talks.LONG and one.transcript.language == LANGUAGE
        )
        return Samples(
            talks=stored, textbook=textbook, lecture=_lecture(shelf, textbook, spoken, owner)
        )


def _textbook(shelf: Collection) -> Source:
    with TEXTBOOK.open("rb") as file:
        return document_storage.add(
            shelf, file, name=TEXTBOOK.name, title=TITLE, tags=talks.TAGS, language=LANGUAGE
        ).source


def _lecture(
    shelf: Collection, textbook: Source, spoken: Transcript, owner: User | None
) -> LectureSession:
    """Return the lecture, made if there is none. It names the textbook: else the talk would cite itself."""
    known = LectureSession.objects.filter(
        collection=shelf, transcript=spoken, title=LECTURE
    ).first()
    everything = frozenset({shelf.pk})
    return known or sessions.start(
        Scope(readable=everything, writable=everything),
        owner,
        title=LECTURE,
        collection=shelf,
        sources=[str(textbook.uuid)],
        language=LANGUAGE,
        transcript=spoken,
    )

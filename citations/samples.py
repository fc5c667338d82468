"""The sample library: talks, a textbook on their subject, and a lecture to replay."""

from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

from django.contrib.auth.models import User
from django.db import transaction

from citations.documents import storage as document_storage
from citations.lectures import sessions
from citations.models import LectureSession, Source
from transcripts import samples as talks
from transcripts.adding.storage import StoredTranscript
from transcripts.core.errors import Conflict
from transcripts.core.scope import Scope
from transcripts.library import collections
from transcripts.models import Collection, Role, Transcript, Video
from transcripts.models.collections import SAMPLES_NAME

TEXTBOOK: Final = Path(__file__).resolve().parent / "sample" / "counting-waiting-keeping-time.pdf"
TITLE: Final = "Counting, Waiting, Keeping Time"
LECTURE: Final = "Sample lecture: When a service says no"
LANGUAGE: Final = "en"
NAME_LENGTH: Final = 120  # of a collection


@dataclass(frozen=True, slots=True, kw_only=True)
class Samples:
    talks: tuple[StoredTranscript, ...]
    textbook: Source
    lecture: LectureSession


def load(collection: Collection | None = None, *, owner: User | None = None) -> Samples:
    """Store the samples in a collection, by default one of their own; existing ones are kept."""
    with transaction.atomic():
        stored = tuple(talks.load(collection))
        collection = stored[0].video.collection
        with TEXTBOOK.open("rb") as file:
            about: dict[str, Any] = {"title": TITLE, "tags": talks.TAGS, "language": LANGUAGE}
            added = document_storage.add(collection, file, name=TEXTBOOK.name, **about)
        spoken = next(
            talk.transcript
            for talk in stored
            if talk.video.key == talks.LONG and talk.transcript.language == LANGUAGE
        )
        lecture = _lecture(collection, added.source, spoken, owner)
        return Samples(talks=stored, textbook=added.source, lecture=lecture)


def are_in(scope: Scope) -> bool:
    """Tell whether the talk that the guided start opens can be read."""
    return Video.objects.visible(scope).filter(key=talks.LONG).exists()


def collection_of(user: User) -> Collection:
    """Return the collection of samples that a user owns, or make it.

    Raises ``Conflict`` if other people's have its names.
    """
    names = (SAMPLES_NAME, f"{SAMPLES_NAME} of {user.username}"[:NAME_LENGTH])
    for name in names:
        with suppress(Conflict):
            return collections.create(name, owner=user)
        existing = Collection.objects.get(name=name)
        if collections.role_in(existing, user) == Role.OWNER:
            return existing
    raise Conflict(f"There is a collection “{names[-1]}” already.", hint="Rename it first.")


def _lecture(
    collection: Collection, textbook: Source, spoken: Transcript, owner: User | None
) -> LectureSession:
    """Return the lecture, with the textbook as its source: the talk would cite itself."""
    existing = LectureSession.objects.filter(
        collection=collection, transcript=spoken, title=LECTURE
    ).first()
    if existing:
        return existing
    keys = frozenset({collection.pk})
    lecture = sessions.start(
        Scope(readable=keys, writable=keys),
        owner,
        title=LECTURE,
        collection=collection,
        sources=[str(textbook.uuid)],
        language=LANGUAGE,
        transcript=spoken,
    )
    # A library begins with what can be read, not with a lecture that has still to be replayed.
    lecture.created_at = spoken.video.created_at - timedelta(seconds=1)
    lecture.save(update_fields=["created_at"])
    return lecture

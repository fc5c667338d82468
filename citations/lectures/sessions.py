"""Lecture sessions and their citations."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, count
from typing import Final
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, Max, Prefetch, prefetch_related_objects
from django.utils import timezone
from django.utils.translation import gettext

from citations.errors import CitationNotFound, InvalidFilter, LectureNotFound
from citations.library.filters import Filter, matching
from citations.models import (
    Citation,
    CitationQuerySet,
    LectureSession,
    Source,
    SourceQuerySet,
    Window,
    WindowOutcome,
    WindowQuerySet,
)
from transcripts.core import audit, deleting
from transcripts.core.audit import Action
from transcripts.core.errors import TranscriptNotFound
from transcripts.core.lists import containing, page_of, row_of
from transcripts.core.sanitize import clean
from transcripts.core.scope import Scope
from transcripts.library import reading as library
from transcripts.models import Collection, Transcript

MAX_SOURCES: Final = 500  # of a session
MAX_REPLAYED_TITLE: Final = 270  # characters that leave room for a number
CITABLE: Final = ("pk", "collection", "names_sources", "transcript__video")
NOTHING_FOUND: Final = (
    WindowOutcome.NO_DOCUMENTS,
    WindowOutcome.NOT_INDEXED,
    WindowOutcome.TOO_FAR,
    WindowOutcome.TOO_WEAK,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionPage:
    """A page of sessions with ``citation_count``, newest first; ``next`` is an offset or None."""

    sessions: tuple[LectureSession, ...]
    total: int
    next: int | None


def start(
    scope: Scope,
    user: User | None,
    *,
    title: str = "",
    collection: Collection | str = "",
    sources: Sequence[str] = (),
    language: str = "",
    transcript: Transcript | None = None,
) -> LectureSession:
    """Start a lecture in a writable collection ("": the default one).

    ``sources`` are ids of sources to cite; none: the whole collection, including later sources.
    ``transcript`` is the recording to replay. Raises ``Forbidden``, ``CollectionNotFound``,
    ``SourceNotFound``, ``TranscriptNotFound``, ``InvalidInput``.
    """
    target = (
        collection
        if isinstance(collection, Collection)
        else library.target_collection(scope, collection)
    )
    scope.require_write(target.pk)
    _check_visible(scope, transcript)
    named = _find_sources(target, sources)
    name = clean(title, 300) or (
        _replay_title(transcript.video.title, transcript, target)
        if transcript
        else f"Lecture of {timezone.localtime():%-d %B %Y, %H:%M}"
    )
    speech_language = clean(language, 35) or (transcript.language if transcript else "")
    with transaction.atomic():
        columns = {
            "title": name,
            "language": speech_language,
            "transcript": transcript,
            "names_sources": bool(named),
        }
        session = LectureSession.objects.create(collection=target, owner=user, **columns)
        session.sources.set(named)
    return session


def start_again(scope: Scope, user: User | None, session: LectureSession) -> LectureSession:
    """Start a lecture with another's settings and a title of its own.

    Raises ``Forbidden``, ``TranscriptNotFound``.
    """
    scope.require_write(session.collection_id)
    _check_visible(scope, session.transcript)
    columns = {
        name: getattr(session, name)
        for name in ("collection", "title", "language", "transcript", "names_sources")
    }
    if session.transcript is not None:
        columns["title"] = _replay_title(session.title, session.transcript, session.collection)
    with transaction.atomic():
        copy = LectureSession.objects.create(owner=user, **columns)
        copy.sources.set(session.sources.filter(collection=session.collection_id))
    return copy


def list_sessions(
    scope: Scope, *, words: str = "", collection: str = "", offset: int = 0, limit: int = 24
) -> SessionPage:
    """Return sessions with all ``words`` in the title. Raises ``CollectionNotFound``."""
    sessions = LectureSession.objects.visible(scope)
    if collection:
        sessions = sessions.filter(collection=library.find_collection(scope, collection))
    sessions = containing(sessions, words, "title")
    counted = sessions.annotate(citation_count=Count("citations")).defer("buffer")
    newest = counted.select_related("collection", "owner").order_by("-created_at", "-pk")
    rows, following = page_of(newest, offset, limit)
    return SessionPage(sessions=rows, total=sessions.count(), next=following)


def find_session(scope: Scope, reference: UUID | str, *, write: bool = False) -> LectureSession:
    """Return a visible session. Raises ``LectureNotFound``, and ``Forbidden`` if read-only."""
    visible = LectureSession.objects.visible(scope).select_related("collection")
    session = row_of(visible, reference, LectureNotFound)
    if write:
        scope.require_write(session.collection_id)
    return session


def delete(session: LectureSession) -> None:
    """Delete a session with its speech and citations. Its sources stay."""
    with transaction.atomic():
        audit.record(Action.DELETE, "lecture", session.uuid, collection=session.collection)
        deleting.delete_row(session)


def citable_sources(session: LectureSession) -> SourceQuerySet:
    """Return what a session may cite: its sources or collection, less its recording."""
    columns = LectureSession.objects.filter(pk=session.pk).values_list(*CITABLE)
    return sources_of(*columns.get())


def sources_of(pk: int, collection: int, names_sources: bool, video: int | None) -> SourceQuerySet:
    """Return what the session of these columns, ``CITABLE``, may cite."""
    citable = Source.objects.visible(Scope(readable=frozenset({collection})))
    if video is not None:
        citable = citable.exclude(video=video)
    return citable.filter(lectures=pk) if names_sources else citable


def early_windows(session: LectureSession) -> WindowQuerySet:
    """Return the windows that found nothing before all was ready that the session may cite."""
    ready_at = citable_sources(session).aggregate(latest=Max("ready_at"))["latest"]
    windows = Window.objects.filter(session=session, outcome__in=NOTHING_FOUND)
    return windows.filter(finished_at__lt=ready_at) if ready_at else windows.none()


def citations_of(session: LectureSession) -> CitationQuerySet:
    """Return a session's visible citations with their sources, by window and rank."""
    scope = Scope(readable=frozenset({session.collection_id}))
    visible = Citation.objects.visible(scope).filter(session=session)
    related = visible.select_related("source__video__media")
    return related.order_by("window_index", "rank")


def find_citation(scope: Scope, reference: UUID | str) -> Citation:
    """Return the visible citation of this id. Raises ``CitationNotFound``."""
    visible = Citation.objects.in_lectures().visible(scope)
    related = visible.select_related("source__video__media", "session", "window")
    return row_of(related, reference, CitationNotFound)


def fetch_related(sessions: Sequence[LectureSession]) -> None:
    """Load the related rows that are shown with sessions, without transcripts' texts."""
    light = Transcript.objects.light().select_related("video")
    prefetch_related_objects(sessions, "sources", Prefetch("transcript", light))


def _replay_title(title: str, transcript: Transcript, collection: Collection) -> str:
    """Number the replays of a recording from the second on: "Networks (replay 2)"."""
    numbered = gettext("%(title)s (replay %(number)s)")
    suffix = re.escape(numbered % {"title": "", "number": "N"}).replace("N", r"\d+")
    own = clean(re.sub(f"{suffix}$", "", title), MAX_REPLAYED_TITLE)
    replays = LectureSession.objects.filter(transcript=transcript, collection=collection)
    taken = set(replays.values_list("title", flat=True))
    names = (numbered % {"title": own, "number": number} for number in count(2))
    return next(name for name in chain([own], names) if name not in taken)


def _check_visible(scope: Scope, transcript: Transcript | None) -> None:
    if (
        transcript is not None
        and not Transcript.objects.visible(scope).filter(pk=transcript.pk).exists()
    ):
        raise TranscriptNotFound("There is no such transcript.")


def _find_sources(collection: Collection, references: Sequence[str]) -> list[Source]:
    """Find sources of one collection: who may read a lecture may read all it cites."""
    if len(references) > MAX_SOURCES:
        raise InvalidFilter(
            f"A lecture can name at most {MAX_SOURCES} sources.",
            hint="Name none to cite the whole collection.",
        )
    batches = [tuple(references[start : start + 100]) for start in range(0, len(references), 100)]
    scope = Scope(readable=frozenset({collection.pk}))
    return [source for batch in batches for source in matching(scope, Filter(sources=batch))]

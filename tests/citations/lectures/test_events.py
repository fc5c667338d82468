"""Event streams: past events first, new ones as they happen, none twice, a proper end."""

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from asgiref.sync import async_to_sync, sync_to_async
from django.db import OperationalError
from django.utils import timezone

from citations.lectures import events
from citations.models import LectureEvent, LectureSession, Window, WindowOutcome
from citations.schemas.lectures import SegmentEventOut
from transcripts.core import announcements
from transcripts.models import Collection


@pytest.fixture
def session(collection: Collection) -> LectureSession:
    return LectureSession.objects.create(collection=collection, title="Networks")


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for long, and announcements are not heard: a test's transaction makes none."""
    monkeypatch.setattr(announcements, "POLL_SECONDS", 0.01)
    monkeypatch.setattr(events, "CHECK_SECONDS", 0.01)


def add_events(session: LectureSession, *words: str) -> None:
    spoken = [SegmentEventOut(number=0, text=word, start=None, end=None) for word in words]
    events.publish(session, [("segment", segment) for segment in spoken])


def finish(session: LectureSession) -> None:
    LectureSession.objects.filter(pk=session.pk).update(ended_at=timezone.now())


def watch(
    session: LectureSession, after: int = 0, may_read: Callable[[], bool] = lambda: True
) -> AsyncIterator[list[Any]]:
    return events.watch(session, after, may_read=may_read)


def all_of(session: LectureSession, after: int = 0) -> list[int]:
    """Watch until the end; return the numbers."""

    async def collect() -> list[int]:
        return [event.number async for batch in watch(session, after) for event in batch]

    return async_to_sync(collect)()


@pytest.mark.usefixtures("quick")
def test_what_was_missed_comes_first_and_then_what_happens_each_thing_once(
    session: LectureSession,
) -> None:
    add_events(session, "a", "b", "c")
    session.refresh_from_db()

    async def follow() -> list[int]:
        seen: list[int] = []
        async for batch in watch(session, 1):
            seen += [event.number for event in batch]
            if 3 in seen and 4 not in seen:
                await sync_to_async(add_events)(session, "d")
            elif 4 in seen:
                await sync_to_async(add_events)(session, "e")
                await sync_to_async(finish)(session)
        return seen

    assert async_to_sync(follow)() == [2, 3, 4, 5]


def test_more_than_is_read_at_once_is_told_whole(
    session: LectureSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "AT_ONCE", 2)
    add_events(session, *"abcde")
    finish(session)
    assert all_of(session) == [1, 2, 3, 4, 5]


@pytest.mark.usefixtures("quick")
def test_a_number_that_is_yet_to_come_does_not_hide_what_happens_next(
    session: LectureSession,
) -> None:
    add_events(session, "a")
    session.refresh_from_db()

    async def follow() -> int:
        stream = watch(session, 900)
        await sync_to_async(add_events)(session, "b")
        return int((await anext(stream))[0].number)

    assert async_to_sync(follow)() == 2


def test_a_lecture_is_over_when_it_has_ended_and_no_window_waits(session: LectureSession) -> None:
    add_events(session, "a")
    session.refresh_from_db()
    assert not events.is_over(session, 1)
    finish(session)
    session.refresh_from_db()
    window = Window.objects.create(session=session, index=0, text="x")
    assert not events.is_over(session, 1)
    Window.objects.filter(pk=window.pk).update(outcome=WindowOutcome.CITED)
    assert events.is_over(session, 1)
    assert not events.is_over(session, 0)
    assert all_of(session, 1) == []
    add_events(session, "b")  # the last window was cited since the session was read
    assert not events.is_over(session, 1)
    LectureEvent.objects.all().delete()  # as after a month
    assert events.is_over(session, 0)


@pytest.mark.usefixtures("quick")
def test_whoever_may_no_longer_read_is_told_nothing_more(session: LectureSession) -> None:
    add_events(session, "a")
    answers = iter([True, False])

    async def follow() -> list[int]:
        return [
            event.number
            async for batch in watch(session, 0, lambda: next(answers))
            for event in batch
        ]

    assert async_to_sync(follow)() == [1]


@pytest.mark.usefixtures("quick")
def test_the_stream_of_a_lecture_that_is_deleted_ends(session: LectureSession) -> None:
    async def follow() -> list[Any]:
        stream = watch(session)
        await sync_to_async(LectureSession.objects.filter(pk=session.pk).delete)()
        return [batch async for batch in stream]

    assert async_to_sync(follow)() == []


def test_silence_is_broken_now_and_then(
    session: LectureSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(announcements, "HEARTBEAT_SECONDS", 0.02)
    monkeypatch.setattr(announcements, "MAX_SECONDS", 0.2)

    async def follow() -> list[Any]:
        return [batch async for batch in watch(session)]

    silent = async_to_sync(follow)()
    assert silent
    assert all(batch == [] for batch in silent)


@pytest.mark.usefixtures("quick")
def test_a_database_that_is_away_for_a_moment_does_not_end_the_stream(
    session: LectureSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_events(session, "a")
    finish(session)
    real, tries = events.events_after, iter([True])

    def after(*given: Any) -> Any:
        if next(tries, False):
            raise OperationalError("the server closed the connection")
        return real(*given)

    monkeypatch.setattr(events, "events_after", after)
    assert all_of(session) == [1]

"""Event streams: past events first, new ones as they happen, none twice, a proper end."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from asgiref.sync import async_to_sync, sync_to_async
from django.db import OperationalError, connection
from django.utils import timezone

from citations.lectures import event_stream, events
from citations.models import LectureSession, Window, WindowOutcome
from transcripts.errors import Throttled
from transcripts.models import Collection

USER = 7


@pytest.fixture
def session(collection: Collection) -> LectureSession:
    return LectureSession.objects.create(collection=collection, title="Networks")


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for long, and announcements are not heard: a test's transaction makes none."""
    monkeypatch.setattr(event_stream, "POLL_SECONDS", 0.01)
    monkeypatch.setattr(event_stream, "LISTENING_POLL_SECONDS", 0.01)


def told(session: LectureSession, *words: str) -> None:
    events.publish(session, [("segment", {"text": word}) for word in words])


def finish(session: LectureSession) -> None:
    LectureSession.objects.filter(pk=session.pk).update(ended_at=timezone.now())


def watch(
    session: LectureSession, after: int = 0, may_read: Callable[[], bool] = lambda: True
) -> AsyncIterator[list[Any]]:
    return event_stream.watch(session, after, user=USER, may_read=may_read)


def all_of(session: LectureSession, after: int = 0) -> list[int]:
    """Watch until the end; return the numbers."""

    async def collect() -> list[int]:
        return [one.number async for batch in watch(session, after) for one in batch]

    return async_to_sync(collect)()


@pytest.mark.usefixtures("quick")
def test_what_was_missed_comes_first_and_then_what_happens_each_thing_once(
    session: LectureSession,
) -> None:
    told(session, "a", "b", "c")
    session.refresh_from_db()

    async def follow() -> list[int]:
        seen: list[int] = []
        async for batch in watch(session, 1):
            seen += [one.number for one in batch]
            if 3 in seen and 4 not in seen:
                await sync_to_async(told)(session, "d")
            elif 4 in seen:
                await sync_to_async(told)(session, "e")
                await sync_to_async(finish)(session)
        return seen

    assert async_to_sync(follow)() == [2, 3, 4, 5]


def test_more_than_is_read_at_once_is_told_whole(
    session: LectureSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "AT_ONCE", 2)
    monkeypatch.setattr(events.after, "__kwdefaults__", {"limit": 2})
    told(session, *"abcde")
    finish(session)
    assert all_of(session) == [1, 2, 3, 4, 5]


@pytest.mark.usefixtures("quick")
def test_a_number_that_is_yet_to_come_does_not_hide_what_happens_next(
    session: LectureSession,
) -> None:
    told(session, "a")
    session.refresh_from_db()

    async def follow() -> int:
        stream = watch(session, 900)
        await sync_to_async(told)(session, "b")
        return int((await anext(stream))[0].number)

    assert async_to_sync(follow)() == 2


def test_a_lecture_is_over_when_it_has_ended_and_no_window_waits(session: LectureSession) -> None:
    told(session, "a")
    session.refresh_from_db()
    assert not event_stream.is_over(session, 1)
    finish(session)
    session.refresh_from_db()
    window = Window.objects.create(session=session, index=0, text="x")
    assert not event_stream.is_over(session, 1)
    Window.objects.filter(pk=window.pk).update(outcome=WindowOutcome.CITED)
    assert event_stream.is_over(session, 1)
    assert not event_stream.is_over(session, 0)
    assert all_of(session, 1) == []
    told(session, "b")  # the last window was cited since the session was read
    assert not event_stream.is_over(session, 1)


@pytest.mark.usefixtures("quick")
def test_whoever_may_no_longer_read_is_told_nothing_more(
    session: LectureSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_stream, "HEARTBEAT_SECONDS", 0.0)
    told(session, "a")
    answers = iter([True, False])

    async def follow() -> list[int]:
        return [
            one.number async for batch in watch(session, 0, lambda: next(answers)) for one in batch
        ]

    assert async_to_sync(follow)() == [1]


@pytest.mark.usefixtures("quick")
def test_the_stream_of_a_lecture_that_is_deleted_ends(session: LectureSession) -> None:
    async def follow() -> list[Any]:
        stream = watch(session)
        await sync_to_async(LectureSession.objects.filter(pk=session.pk).delete)()
        return [batch async for batch in stream]

    assert async_to_sync(follow)() == []


@pytest.mark.usefixtures("quick")
def test_silence_is_broken_now_and_then_and_no_stream_goes_on_for_ever(
    session: LectureSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_stream, "HEARTBEAT_SECONDS", 0.02)
    monkeypatch.setattr(event_stream, "MAX_SECONDS", 0.2)

    async def follow() -> list[Any]:
        return [batch async for batch in watch(session)]

    silent = async_to_sync(follow)()
    assert silent
    assert all(batch == [] for batch in silent)


@pytest.mark.usefixtures("quick")
def test_a_database_that_is_away_for_a_moment_does_not_end_the_stream(
    session: LectureSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    told(session, "a")
    finish(session)
    real, tries = events.after, iter([True])

    def after(*given: Any) -> Any:
        if next(tries, False):
            raise OperationalError("the server closed the connection")
        return real(*given)

    monkeypatch.setattr(events, "after", after)
    assert all_of(session) == [1]


def test_nobody_watches_without_end(
    session: LectureSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_stream, "MAX_STREAMS", 1)
    told(session, "a")

    async def follow() -> None:
        stream = watch(session)
        await anext(stream)
        with pytest.raises(Throttled, match="You already watch 1"):
            event_stream.require_free_stream(USER)
        event_stream.require_free_stream(USER + 1)
        await stream.aclose()  # type: ignore[attr-defined]
        event_stream.require_free_stream(USER)

    async_to_sync(follow)()


def test_the_end_of_the_server_ends_streams_at_once(session: LectureSession) -> None:
    async def follow() -> float:
        asyncio.get_running_loop().call_later(0.1, event_stream.end_all)
        began = time.monotonic()
        assert [batch async for batch in watch(session)] == []
        return time.monotonic() - began

    assert async_to_sync(follow)() < event_stream.POLL_SECONDS


@pytest.mark.django_db(transaction=True)
def test_an_announcement_wakes_at_once_and_so_does_the_loss_of_the_connection_that_hears_it(
    transactional_db: None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(event_stream, "LISTENING_POLL_SECONDS", 60.0)
    monkeypatch.setattr(event_stream, "POLL_SECONDS", 0.05)
    monkeypatch.setattr(event_stream, "PAUSE_SECONDS", 0.05)
    session = LectureSession.objects.create(
        collection=Collection.objects.create(name="Lectures", slug="lectures"), title="Networks"
    )

    async def next_number(stream: AsyncIterator[list[Any]]) -> int:
        return int((await asyncio.wait_for(anext(stream), 20))[0].number)

    async def until(condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(20):
            while not condition():
                await asyncio.sleep(0.01)

    async def follow() -> list[int]:
        stream, ear, seen = watch(session), event_stream.current_listener(), []
        first = asyncio.create_task(next_number(stream))
        await until(lambda: ear.is_listening)
        await sync_to_async(told)(session, "a")
        seen.append(await first)
        await sync_to_async(_break_listeners)()
        await until(lambda: not ear.is_listening)
        await sync_to_async(told)(session, "b")
        seen.append(await next_number(stream))
        await until(lambda: ear.is_listening)
        await sync_to_async(told)(session, "c")
        seen.append(await next_number(stream))
        await stream.aclose()  # type: ignore[attr-defined]
        assert not ear.is_listening, "who is not watched is not listened to"
        return seen

    assert asyncio.run(follow()) == [1, 2, 3]
    assert "Lost the connection" in caplog.text


def _break_listeners() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE query LIKE 'LISTEN%' AND datname = current_database()"
        )

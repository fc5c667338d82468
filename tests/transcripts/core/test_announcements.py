"""Announcements: the database says what changed, and whoever waits hears it or knows that it may
have missed it.
"""

import asyncio
import time
from collections.abc import Callable
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.db import connection
from django.test import Client

from kbsite.models import ApiToken
from tests.makers import make_document, make_user
from transcripts.core import announcements
from transcripts.core.announcements import ACCESS, JOBS, SOURCES, current_listener, news
from transcripts.models import Collection, Job, Membership, Role, WorkerPulse, YouTubeGate

pytestmark = pytest.mark.django_db(transaction=True)
EVERYTHING = (JOBS, SOURCES, ACCESS)


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not condition():
            await asyncio.sleep(0.01)


def heard(*changes: Callable[[], Any]) -> list[set[str]]:
    """Return the topics announced by each change."""

    async def listen() -> list[set[str]]:
        heard, listener = [], current_listener()
        with listener.waiting(*EVERYTHING, "end") as waiter:
            await until(lambda: listener.is_listening)
            await waiter.wait(20)
            for change in changes:
                await sync_to_async(change)()
                await sync_to_async(_announce)("end")
                topics: set[str] = set()
                while "end" not in topics:
                    topics |= await waiter.wait(20)
                heard.append(topics - {"end"})
        return heard

    return asyncio.run(listen())


def _announce(topic: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_notify(%s, %s)", (announcements.CHANNEL, topic))


@pytest.fixture
def shelf() -> Collection:
    return Collection.objects.create(name="Lectures", slug="lectures")


def test_what_the_activity_page_shows_is_announced_when_it_changes(shelf: Collection) -> None:
    job = Job.objects.create(collection=shelf, kind="video", target="dQw4w9WgXcQ")
    WorkerPulse.beat()
    assert heard(
        lambda: job.report(step="fetching"),
        lambda: job.report(step="fetching"),  # nothing is new
        WorkerPulse.beat,
        lambda: WorkerPulse.objects.update(seen_at="2026-01-01T00:00Z"),
        WorkerPulse.beat,  # it had been silent for long
        YouTubeGate.reopen,
        lambda: job.delete(),
        lambda: make_document(shelf, ["One."]),
    ) == [{JOBS}, set(), set(), set(), {JOBS}, {JOBS}, {JOBS}, {SOURCES}]


def test_what_ends_the_right_to_read_is_announced(shelf: Collection) -> None:
    ada = make_user("ada", collection=shelf)
    token, _ = ApiToken.issue(ada, name="one", collections=(shelf,))
    browser = Client()
    browser.force_login(ada)
    assert heard(
        lambda: User.objects.filter(pk=ada.pk).update(first_name="Ada"),  # no right
        lambda: Membership.objects.update(role=Role.VIEWER),
        lambda: token.collections.clear(),
        token.revoke,
        lambda: Session.objects.all().delete(),
        lambda: User.objects.filter(pk=ada.pk).update(is_active=False),
        lambda: Membership.objects.all().delete(),
    ) == [set(), {ACCESS}, {ACCESS}, {ACCESS}, {ACCESS}, {ACCESS}, {ACCESS}]


def test_an_announcement_wakes_at_once_and_so_does_the_loss_of_the_connection_that_hears_it(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(announcements, "PAUSE_SECONDS", 0.05)

    async def follow() -> None:
        coming, listener = news(JOBS, every=lambda: 60.0), current_listener()
        assert await anext(coming) == {JOBS}  # what happened before
        assert await anext(coming) == {JOBS}  # and until it was heard
        assert listener.is_listening
        await sync_to_async(_announce)(JOBS)
        assert await asyncio.wait_for(anext(coming), 20) == {JOBS}
        await sync_to_async(_break_listeners)()
        assert await asyncio.wait_for(anext(coming), 20) == {JOBS}
        await until(lambda: listener.is_listening)
        await coming.aclose()
        assert not listener.is_listening, "who does not wait is not listened to"

    asyncio.run(follow())
    assert "Lost the connection" in caplog.text


def _break_listeners() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = %s",
            (announcements.NAME,),
        )


def test_where_a_pooler_swallows_announcements_the_database_is_polled(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(announcements, "CHECK_SECONDS", 0.1)
    monkeypatch.setattr(announcements, "POLL_SECONDS", 0.01)
    monkeypatch.setattr(announcements, "CHANNEL", "elsewhere; UNLISTEN *")

    async def follow() -> None:
        coming = news(JOBS, every=lambda: 60.0)
        for _ in range(20):
            assert await asyncio.wait_for(anext(coming), 20) == {JOBS}
        await until(lambda: "announces nothing" in caplog.text)
        assert not current_listener().is_listening
        await coming.aclose()

    asyncio.run(follow())


def test_the_end_of_the_server_ends_streams_at_once() -> None:
    async def follow() -> float:
        asyncio.get_running_loop().call_later(0.1, announcements.end_all)
        began = time.monotonic()
        assert [topics async for topics in news(JOBS, every=lambda: 60.0)]
        return time.monotonic() - began

    assert asyncio.run(follow()) < announcements.HEARTBEAT_SECONDS

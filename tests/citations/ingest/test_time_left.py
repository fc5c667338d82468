"""When everything is ready that somebody added, by the pace of this installation."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from citations.ingest import time_left
from citations.ingest.time_left import (
    MIN_CHARACTERS,
    IndexedText,
    TextInWork,
    characters_per_second,
    rounded,
)
from citations.models import Source, State
from transcripts.core.errors import Blocked
from transcripts.core.scope import Scope
from transcripts.library import activity
from transcripts.models import Collection, Feed, Job, WorkerPulse, YouTubeGate

pytestmark = pytest.mark.django_db


def add(collection: Collection, size: int, **about: Any) -> Source:
    about = {"kind": "video", "state": State.WORDS} | about
    return Source.objects.create(collection=collection, title="A talk", size=size, **about)


def left(scope: Scope) -> float | None:
    return time_left.seconds_left(scope, activity.summary(scope))


@pytest.fixture(autouse=True)
def _worker(db: None) -> None:
    WorkerPulse.beat()


@pytest.fixture
def indexed(collection: Collection) -> Source:
    """A talk that took a minute and a half: 1,000 characters a second."""
    began = timezone.now() - timedelta(hours=3)
    times = {"begun_at": began, "ready_at": began + timedelta(seconds=90)}
    return add(collection, 90_000, characters=90_000, state=State.READY, **times)


def test_what_waits_takes_as_long_as_what_was_indexed(
    scope: Scope, collection: Collection, indexed: Source
) -> None:
    add(collection, 120_000)
    add(collection, 60_000, state=State.PENDING)
    assert left(scope) == pytest.approx(180)


def test_of_what_is_in_work_the_rest_is_left(
    scope: Scope, collection: Collection, indexed: Source
) -> None:
    add(collection, 240_000, step="embedding", done=5, total=10)
    assert left(scope) == pytest.approx(120)


def test_what_is_in_work_tells_the_pace_of_this_moment(
    scope: Scope, collection: Collection, indexed: Source
) -> None:
    began = timezone.now() - timedelta(seconds=300)
    book = add(collection, 240_000, begun_at=began, step="embedding", done=5, total=10)
    with book.hold():
        assert left(scope) == pytest.approx(120_000 / (210_000 / 390), rel=0.01)
    assert left(scope) == pytest.approx(120), "it lies since its worker was killed"


def test_before_anything_was_indexed_nobody_knows(scope: Scope, collection: Collection) -> None:
    add(collection, 120_000)
    assert left(scope) is None


def test_without_a_worker_nobody_knows(
    scope: Scope, collection: Collection, indexed: Source
) -> None:
    add(collection, 120_000)
    WorkerPulse.objects.all().delete()
    assert left(scope) is None


def test_while_something_waits_for_a_server_nobody_knows(
    scope: Scope, collection: Collection, indexed: Source
) -> None:
    add(collection, 120_000, run_after=timezone.now() + timedelta(minutes=5))
    assert left(scope) is None


def test_what_others_added_elsewhere_is_not_told(
    scope: Scope, collection: Collection, indexed: Source
) -> None:
    add(Collection.objects.create(name="Elsewhere", slug="elsewhere"), 900_000)
    add(collection, 60_000)
    assert left(scope) == pytest.approx(60)


def test_videos_that_are_still_fetched_count_as_usual_ones(
    scope: Scope, collection: Collection, indexed: Source
) -> None:
    add(collection, 30_000)
    Job.objects.create(collection=collection, kind="video", target="dQw4w9WgXcQ")
    assert left(scope) == pytest.approx(30 + 60)


def test_videos_are_fetched_no_faster_than_youtube_is_asked(
    scope: Scope, collection: Collection, indexed: Source, settings: Any
) -> None:
    settings.YOUTUBE_PACING_SECONDS = 500
    Job.objects.create(collection=collection, kind="video", target="dQw4w9WgXcQ")
    assert left(scope) == pytest.approx(500)


def test_while_youtube_pauses_nobody_knows(
    scope: Scope, collection: Collection, indexed: Source
) -> None:
    Job.objects.create(collection=collection, kind="video", target="dQw4w9WgXcQ")
    assert left(scope)
    YouTubeGate.refused(Blocked("YouTube treats this server as a bot."))
    assert left(scope) is None


@pytest.mark.parametrize("kind", ["feed", "files"])
def test_before_a_playlist_or_files_are_read_nobody_knows(
    scope: Scope, collection: Collection, indexed: Source, kind: str
) -> None:
    feed = Feed.objects.create(collection=collection, kind="playlist", youtube_id="PL1")
    Job.objects.create(collection=collection, kind=kind, target="x", feed=feed)
    assert left(scope) is None


def text(characters: int, began: float, ended: float) -> IndexedText:
    return IndexedText(characters=characters, began=began, ended=ended)


def test_a_pace_is_that_of_the_time_in_which_something_was_worked_on() -> None:
    talk, book = text(60_000, 0, 30), text(240_000, 1_000, 1_070)
    assert characters_per_second([book, talk]) == 3_000


def test_what_was_indexed_at_the_same_time_counts_once_as_time() -> None:
    book, between, after = (text(200_000, 0, 100), text(50_000, 20, 40), text(50_000, 90, 120))
    assert characters_per_second([between, after, book]) == 2_500


@pytest.mark.parametrize(
    "texts", [[], [text(MIN_CHARACTERS - 1, 0, 10)], [text(MIN_CHARACTERS, 5, 5)]]
)
def test_too_little_tells_no_pace(texts: list[IndexedText]) -> None:
    assert characters_per_second(texts) is None


@pytest.mark.parametrize(
    ("step", "done", "left"),
    [
        ("", 0, 1_000),
        ("reading pages", 90, 1_000),
        ("adding full stops", 0, 1_000),
        ("embedding", 0, 1_000),
        ("embedding", 50, 500),
        ("embedding", 120, 0),
    ],
)
def test_of_a_text_in_work_a_part_is_left(step: str, done: int, left: float) -> None:
    assert TextInWork(characters=1_000, step=step, done=done, total=100).left == left


@pytest.mark.parametrize(
    ("seconds", "time"),
    [
        (0, ("minute", 0)),
        (49, ("minute", 0)),
        (50, ("minute", 1)),
        (89, ("minute", 1)),
        (240, ("minute", 4)),
        (9.4 * 60, ("minute", 9)),
        (12 * 60, ("minute", 10)),
        (43 * 60, ("minute", 45)),
        (50 * 60, ("hour", 1)),
        (100 * 60, ("hour", 2)),
        (20 * 3_600, ("day", 1)),
        (80 * 3_600, ("day", 3)),
    ],
)
def test_a_time_is_told_as_people_tell_it(seconds: float, time: tuple[str, int]) -> None:
    assert rounded(seconds) == time

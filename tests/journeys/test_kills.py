"""Killed workers: after the next start every job ends, and nothing is stored twice."""

import os
import random
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fork_server import Fork
from tests.instance import Instance, kill, redis_server, wait_until
from tests.youtube_standin import YouTubeStandIn

IDS = [f"kill-video{n}" for n in range(10)]
FILES = 60

ADD_VIDEOS = f"""
from transcripts.models import Collection
from transcripts.adding import acquisition
from kbsite import celery
shelf = Collection.objects.default()
for video_id in {IDS!r}:
    celery.send(acquisition.request(shelf, video_id))
"""
ADD_FILES = f"""
from transcripts.models import Collection
from transcripts.adding import acquisition
from kbsite import celery
from tests.makers import caption_json, make_cues
shelf = Collection.objects.default()
uploads = [
    (f"file-{{n}}.json", caption_json(make_cues(5), id=f"file-{{n}}", lang="en"))
    for n in range({FILES})
]
celery.send(acquisition.request_files(shelf, uploads))
"""
ADD_PLAYLIST = """
from transcripts.models import Collection
from transcripts.adding import acquisition
from kbsite import celery
celery.send(acquisition.request(Collection.objects.default(), "PLkillkillkillkill"))
"""


@pytest.fixture
def youtube() -> Iterator[YouTubeStandIn]:
    with YouTubeStandIn() as standin:
        for video_id in IDS:
            standin.add_video(video_id)
        standin.add_playlist("PLkillkillkillkill", IDS)
        yield standin


@pytest.fixture
def instance(tmp_path: Path, youtube: YouTubeStandIn) -> Iterator[Instance]:
    with Instance(tmp_path / "home", **youtube.environment()) as site:
        yield site


def test_a_request_to_youtube_is_repeated_after_a_kill(
    instance: Instance, youtube: YouTubeStandIn
) -> None:
    youtube.delay = 2
    instance.python(ADD_VIDEOS)
    with instance.worker() as worker:
        _wait_for_step(instance, "asking YouTube")
        kill(worker)
    youtube.delay = 0
    _finishes(instance, videos=len(IDS))


def test_a_kill_while_storing_leaves_no_partial_video(instance: Instance) -> None:
    instance.python(ADD_VIDEOS)
    with instance.worker() as worker, instance.locked("transcripts_transcriptindex"):
        _wait_for_step(instance, "storing")
        time.sleep(0.3)
        assert instance.rows("SELECT count(*) FROM transcripts_video") == [(0,)]
        kill(worker)
    _finishes(instance, videos=len(IDS))


def test_a_kill_while_reading_a_playlist_queues_each_video_once(
    instance: Instance, youtube: YouTubeStandIn
) -> None:
    youtube.delay = 2
    instance.python(ADD_PLAYLIST)
    with instance.worker() as worker:
        _wait_for_step(instance, "reading the list")
        kill(worker)
    youtube.delay = 0
    _finishes(instance, videos=len(IDS))


def test_an_import_continues_with_the_next_file_after_a_kill(instance: Instance) -> None:
    instance.python(ADD_FILES)
    with instance.worker() as worker:
        wait_until(
            lambda: instance.rows("SELECT FROM transcripts_job WHERE done > 3"),
            what="the first files",
        )
        kill(worker)
    assert 0 < instance.rows("SELECT count(*) FROM transcripts_video")[0][0] < FILES
    _finishes(instance, videos=FILES)
    assert instance.rows("SELECT count(*) FROM transcripts_jobfile") == [(0,)]


def test_workers_killed_at_random_moments_lose_nothing(instance: Instance) -> None:
    instance.python(ADD_VIDEOS + ADD_FILES)
    for _ in range(3):
        with instance.worker() as worker:
            time.sleep(random.uniform(1.5, 4))
            kill(worker)
    _finishes(instance, videos=len(IDS) + FILES)


def test_a_program_can_be_killed_as_soon_as_it_is_started() -> None:
    for _ in range(20):
        kill(Fork("-c", "import time; time.sleep(60)", environment=os.environ))


def _wait_for_step(instance: Instance, step: str) -> None:
    wait_until(
        lambda: instance.rows("SELECT FROM transcripts_job WHERE step = %s", step),
        what=f"the step “{step}”",
    )


def _finishes(instance: Instance, *, videos: int) -> None:
    """Start a worker, wait for the last job, and look for anything that is there twice, missing or
    failed.
    """
    with instance.worker():
        wait_until(
            lambda: (
                not instance.rows(
                    "SELECT FROM transcripts_job WHERE state IN ('queued', 'running')"
                )
            ),
            what="all jobs to end",
            patience=120,
        )
    assert instance.rows("SELECT error FROM transcripts_job WHERE state <> 'done'") == []
    assert instance.rows("SELECT count(*), count(DISTINCT key) FROM transcripts_video") == [
        (videos, videos)
    ]
    assert instance.rows("SELECT count(*) FROM transcripts_transcript") == [(videos,)]
    assert instance.rows("SELECT count(*) FROM transcripts_transcriptindex") == [(videos,)]


@pytest.mark.redis
def test_with_redis_a_killed_worker_and_a_restarted_broker_lose_nothing(
    tmp_path: Path, youtube: YouTubeStandIn
) -> None:
    with (
        redis_server(tmp_path) as (broker, url),
        Instance(tmp_path / "home", CELERY_BROKER_URL=url, **youtube.environment()) as instance,
    ):
        instance.python(ADD_VIDEOS + ADD_FILES)
        with instance.worker() as worker:
            wait_until(
                lambda: instance.rows("SELECT FROM transcripts_job WHERE done > 3"),
                what="the first files",
            )
            kill(worker)
        kill(broker)  # nothing is saved: whatever messages there were are gone
        with redis_server(tmp_path, port=int(url.rsplit(":", 1)[1].split("/")[0])):
            instance.rows(
                "UPDATE transcripts_job SET sent_at = sent_at - interval '1 hour' RETURNING id"
            )
            _finishes(instance, videos=len(IDS) + FILES)


def test_a_job_survives_an_unreachable_broker(tmp_path: Path) -> None:
    with Instance(tmp_path / "home", CELERY_BROKER_URL="redis://127.0.0.1:1/0") as instance:
        instance.python(ADD_VIDEOS)
        assert instance.rows("SELECT state, sent_at FROM transcripts_job") == [
            ("queued", None)
        ] * len(IDS)

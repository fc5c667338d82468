"""Whose job is next: people and collections take turns, and what is shown says how many are before
a job.
"""

import random
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest
from django.contrib.auth.models import User

from kbsite.callers import everything
from tests.makers import make_user
from transcripts import tasks
from transcripts.core.errors import Blocked, NetworkProblem
from transcripts.core.scope import NOTHING, Scope
from transcripts.library import activity
from transcripts.models import Collection, Job, YouTubeGate

pytestmark = pytest.mark.django_db


@pytest.fixture
def other(db: None) -> Collection:
    return Collection.objects.create(name="Other", slug="other")


@pytest.fixture
def people(db: None) -> Sequence[User | None]:
    return [make_user("ada"), make_user("bob"), None]


def add(collection: Collection, *targets: str, **about: Any) -> list[Job]:
    about = {"kind": Job.Kind.VIDEO, "priority": 10} | about
    return [Job.objects.create(collection=collection, target=name, **about) for name in targets]


def served(like: Job) -> list[Job]:
    """Do all jobs that wait with this one, and return them in the order of their turns."""
    done = []
    while job := Job.objects.next_like(like):
        job.start()
        job.finish()
        done.append(job)
    return done


def lane(job: Job) -> tuple[int, int, int | None]:
    return (job.priority, job.collection_id, job.created_by_id)


@pytest.mark.parametrize("seed", range(20))
def test_lanes_take_turns_in_the_order_that_is_shown(
    collection: Collection, other: Collection, people: Sequence[User | None], seed: int
) -> None:
    chance = random.Random(seed)
    for number in range(chance.randint(0, 8)):  # what was done before
        about = {"created_by": chance.choice(people), "priority": chance.choice((0, 10))}
        (job,) = add(chance.choice((collection, other)), f"done{number}", **about)
        job.start()
        job.finish()
    waiting = []
    for number in range(chance.randint(1, 25)):
        about = {"created_by": chance.choice(people), "priority": chance.choice((0, 10))}
        waiting += add(chance.choice((collection, other)), f"v{number}", **about)
    activity.annotate(everything(), waiting)
    shown = sorted(waiting, key=lambda job: job.jobs_before or 0)
    assert [job.jobs_before for job in shown] == list(range(len(shown)))
    order = served(waiting[0])
    assert order == shown
    assert [job.priority for job in order] == sorted((job.priority for job in order), reverse=True)
    for priority, collection_id, person in set(map(lane, order)):
        own = [n for n, job in enumerate(order) if lane(job) == (priority, collection_id, person)]
        for first, second in pairwise(own):
            still_wait = {lane(job) for job in order[second:] if job.priority == priority}
            between = [lane(job) for job in order[first + 1 : second]]
            assert still_wait - {lane(order[first])} <= set(between)
            assert len(set(between)) == len(between), "nobody is served twice meanwhile"


def test_nobodys_hundred_videos_stand_before_everybodys(
    collection: Collection, people: Sequence[User | None]
) -> None:
    ada, bob, _ = people
    videos = add(collection, *(f"a{number}" for number in range(100)), created_by=ada)
    videos[0].start()
    videos[0].finish()
    (video,) = add(collection, "b", created_by=bob)
    assert Job.objects.next_like(video) == video


def test_a_message_starts_the_job_whose_turn_it_is(
    collection: Collection, people: Sequence[User | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    ada, bob, _ = people
    files = {"kind": Job.Kind.FILES, "created_by": ada}
    first, second = add(collection, "a1", "a2", **files)
    tasks.run_job(first.pk)
    (late,) = add(collection, "b1", **(files | {"created_by": bob}))
    tasks.run_job(second.pk)
    states = dict(Job.objects.values_list("target", "state"))
    assert states["a2"] == Job.State.QUEUED
    assert states["b1"] != Job.State.QUEUED
    tasks.run_job(late.pk)
    assert not Job.objects.filter(state=Job.State.QUEUED).exists()


def test_files_and_videos_do_not_wait_for_each_other(collection: Collection) -> None:
    jobs = [*add(collection, "v1", "v2"), *add(collection, "f1", kind=Job.Kind.FILES)]
    activity.annotate(everything(), jobs)
    assert [job.jobs_before for job in jobs] == [0, 1, 0]


def test_only_jobs_that_the_reader_may_see_are_counted(
    collection: Collection, other: Collection, scope: Scope
) -> None:
    add(other, "secret1", "secret2")
    own = add(collection, "v1", "v2")
    activity.annotate(scope, own)
    assert [job.jobs_before for job in own] == [0, 1]
    activity.annotate(everything(), own)
    assert [job.jobs_before for job in own] == [1, 3]
    activity.annotate(NOTHING, own)
    assert [job.jobs_before for job in own] == [0, 0]


def test_what_does_not_wait_for_its_turn_has_no_place(collection: Collection) -> None:
    running, done, late = add(collection, "v1", "v2", "v3")
    running.start()
    done.finish()
    late.postpone(until=YouTubeGate.refused(Blocked("No.")))
    activity.annotate(everything(), jobs := [running, done, late])
    assert [job.jobs_before for job in jobs] == [None, None, None]


def test_a_job_keeps_its_place_while_requests_are_spaced(collection: Collection) -> None:
    (job,) = add(collection, "v1")
    YouTubeGate.pass_through(pace=60)
    tasks.run_job(job.pk)
    job.refresh_from_db()
    assert (job.state, job.run_after, job.sent_at, job.error) == ("queued", None, None, "")


def test_a_job_says_until_when_the_queue_pauses(collection: Collection) -> None:
    (job,) = add(collection, "v1")
    until = YouTubeGate.refused(NetworkProblem("No."))
    tasks.run_job(job.pk)
    job.refresh_from_db()
    assert job.run_after
    assert job.run_after >= until.replace(microsecond=0)

"""Durable work: retries, messages and leases."""

import errno
import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.apps import apps
from django.db import OperationalError as DatabaseError
from django.utils import timezone
from kombu.exceptions import OperationalError

from citations.errors import ModelServerError
from citations.models import (
    AbstractsRequest,
    Answer,
    AnswerState,
    Archive,
    Conversation,
    Deletion,
    EmbeddingSpace,
    Guide,
    Source,
    Window,
)
from kbsite.models import KeyedRequest, WebhookDelivery
from tests.serving import until
from transcripts import tasks
from transcripts.core import clock
from transcripts.core.errors import (
    DatabaseLost,
    GateClosed,
    InvalidInput,
    KnowledgeBaseError,
    NetworkProblem,
    ProcessKilled,
    UnexpectedError,
    YouTubeChanged,
)
from transcripts.core.work.disk import StorageFull
from transcripts.core.work.models import (
    DurableWork,
    LeasedWork,
    QueuedWork,
    RetryPolicy,
    keep_alive,
    next_try,
)
from transcripts.models import Collection, Feed, Job, YouTubeGate

pytestmark = pytest.mark.django_db


class TaskStandIn:
    name = "task"

    def __init__(self, error: Exception | None = None) -> None:
        self.sent: list[int] = []
        self.error = error

    def delay(self, pk: int) -> None:
        if self.error:
            raise self.error
        self.sent.append(pk)


@pytest.fixture
def job(collection: Collection) -> Job:
    return Job.objects.create(collection=collection, kind=Job.Kind.VIDEO, target="abcdefghijk")


@pytest.fixture
def answer() -> Answer:
    return Answer.objects.create(conversation=Conversation.objects.create(), ordinal=1)


def seconds_until(moment: Any) -> float:
    return float((moment - clock.now()).total_seconds())


def test_all_durable_work_is_of_one_of_the_two_kinds() -> None:
    works = {model for model in apps.get_models() if issubclass(model, DurableWork)}
    queued = {Job, Source, EmbeddingSpace, WebhookDelivery, Archive, Deletion}
    queued |= {Guide, AbstractsRequest}
    assert works == queued | {Window, Answer, KeyedRequest}
    assert all(issubclass(model, QueuedWork | LeasedWork) for model in works)
    columns = {"run_after", "sent_at", "active_at", "holder", "attempts", "crashes"}
    for model in set(apps.get_models()) - works:
        assert not columns & {field.name for field in model._meta.get_fields()}, model


def test_pauses_grow_up_to_the_longest_and_end_with_the_last_attempt() -> None:
    policy = RetryPolicy(
        pause=timedelta(seconds=10), factor=3, longest=timedelta(seconds=100), attempts=4
    )
    pauses = [policy.next_try(attempts) for attempts in (1, 2, 3)]
    assert [round(seconds_until(pause)) for pause in pauses] == [30, 90, 100]
    assert policy.next_try(4) is None
    assert RetryPolicy(pause=timedelta(seconds=1)).next_try(10_000) is not None


@pytest.mark.parametrize(
    ("error", "pauses"),
    [
        (NetworkProblem("No answer."), [60, 240, None]),
        (YouTubeChanged("What is this?"), [60, None, None]),
        (InvalidInput("No."), [None, None, None]),
        (RuntimeError("Oops"), [60, 240, None]),
        (DatabaseLost(), [1, 2, 4]),
    ],
)
def test_the_error_decides_when_work_is_tried_again(
    error: Exception, pauses: list[int | None]
) -> None:
    moments = [next_try(error, attempts) for attempts in (1, 2, 3)]
    assert [moment and round(seconds_until(moment)) for moment in moments] == pauses


def test_a_message_goes_out_when_the_transaction_commits(
    job: Job, django_capture_on_commit_callbacks: Any
) -> None:
    task = TaskStandIn()
    with django_capture_on_commit_callbacks(execute=True):
        tasks.nudge_all(task, Job.objects.due().unsent())
        assert task.sent == []
    assert task.sent == [job.pk]
    assert not Job.objects.unsent().exists()
    assert Job.objects.unsent(after=-timedelta(seconds=1)).exists()


def test_a_broker_that_is_away_leaves_the_work_unsent(
    job: Job, django_capture_on_commit_callbacks: Any
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        tasks.nudge(TaskStandIn(OperationalError("away")), job)
    assert Job.objects.unsent().exists()


def test_postponed_work_is_not_due_and_an_attempt_may_not_count(job: Job) -> None:
    job.start()
    job.mark_sent()
    until = timezone.now() + timedelta(hours=1)
    job.postpone(until=until, error=KnowledgeBaseError("Later."), counts=False)
    job.refresh_from_db()
    assert (job.attempts, job.error, job.sent_at) == (0, "Later.", None)
    assert not Job.objects.due().exists()
    job.restart()
    job.refresh_from_db()
    assert (job.error, job.run_after) == ("", None)


@pytest.mark.parametrize(
    ("error", "state", "code", "attempts"),
    [
        (NetworkProblem("No answer."), "queued", NetworkProblem.code, 1),
        (InvalidInput("No."), "failed", InvalidInput.code, 1),
        (RuntimeError("Oops"), "queued", UnexpectedError.code, 1),
        (OSError(errno.ENOSPC, "full"), "queued", StorageFull.code, 0),
        (DatabaseError(), "queued", DatabaseLost.code, 1),
    ],
)
def test_an_error_that_leaves_an_attempt_is_recorded_and_is_no_crash(
    job: Job, error: Exception, state: str, code: str, attempts: int
) -> None:
    with job.attempt(Job.objects.due()) as is_begun:
        assert is_begun
        assert (Job.objects.get().state, Job.objects.get().crashes) == ("running", 1)
        raise error
    job = Job.objects.get()
    assert (job.state, job.error_code, job.attempts, job.crashes) == (state, code, attempts, 0)


def test_an_attempt_is_at_the_work_as_it_is_now(job: Job) -> None:
    Job.objects.update(language="de")
    with job.attempt(Job.objects.filter(state="queued")) as is_begun:
        assert (is_begun, job.language) == (True, "de")
        Job.objects.update(state="done")
    with job.attempt(Job.objects.filter(state="queued")) as is_begun:
        assert not is_begun
    Job.objects.all().delete()
    with job.attempt(Job.objects.all()) as is_begun:
        assert not is_begun


def test_work_that_kills_its_processes_ends_or_waits_for_somebody_to_change_something(
    job: Job,
) -> None:
    deletion = Deletion.objects.create(total=1, door="page")
    works: list[QueuedWork] = [job, deletion]
    for work in works:
        for _ in range(work.MAX_CRASHES):
            assert work.crashes < work.MAX_CRASHES
            work.start()
            work.refresh_from_db()
        with work.attempt(type(work)._default_manager.all()) as is_begun:  # type: ignore[arg-type]
            assert not is_begun
        work.refresh_from_db()
        assert (work.error_code, work.crashes) == (ProcessKilled.code, 0)
    assert job.state == Job.State.FAILED
    assert deletion.run_after
    assert round(seconds_until(deletion.run_after)) == 600


def test_attempts_that_a_server_refused_are_no_crashes(job: Job) -> None:
    for _ in range(2 * Job.MAX_CRASHES):
        with job.attempt(Job.objects.all()) as is_begun:
            assert is_begun
            raise ModelServerError("Away.")
    assert (job.state, job.attempts) == (Job.State.QUEUED, 2 * Job.MAX_CRASHES)


def test_work_that_was_deleted_stays_deleted(job: Job) -> None:
    Job.objects.all().delete()
    job.change(step="late")
    assert job.step == ""
    assert not Job.objects.exists()


def test_a_lease_belongs_to_one_holder_until_it_gives_no_sign_of_life(answer: Answer) -> None:
    first, second = uuid4(), uuid4()
    assert Answer.objects.running().free().claim(first) == 1
    assert Answer.objects.running().free().claim(second) == 0
    assert Answer.objects.leased().exists()
    Answer.objects.update(active_at=timezone.now() - Answer.LEASE - timedelta(seconds=1))
    answer.refresh_from_db()
    assert not answer.is_active
    assert Answer.objects.running().renew(first)
    Answer.objects.update(active_at=timezone.now() - Answer.LEASE - timedelta(seconds=1))
    assert not Answer.objects.leased().exists()
    assert Answer.objects.running().free().claim(second) == 1
    assert not Answer.objects.renew(first)
    answer.refresh_from_db()
    assert (answer.attempts, answer.holder, answer.state) == (2, second, AnswerState.RUNNING)


@pytest.mark.django_db(transaction=True)
def test_a_lease_is_renewed_while_its_holder_works_and_not_after(
    answer: Answer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Answer, "LEASE", timedelta(seconds=0.6))
    holder, work = uuid4(), Answer.objects.filter(pk=answer.pk)
    work.claim(holder)

    def age() -> None:
        work.update(active_at=clock.now() - timedelta(hours=1))

    def is_renewed() -> bool:
        return work.filter(active_at__gt=clock.now() - timedelta(minutes=30)).exists()

    with keep_alive(work, holder):
        age()
        until(is_renewed)
    until(lambda: not any(thread.name == "lease" for thread in threading.enumerate()))
    age()
    assert not is_renewed()
    with keep_alive(work, holder):
        work.claim(uuid4())  # another took it for dead
        until(lambda: not any(thread.name == "lease" for thread in threading.enumerate()))


# A clock that jumps


@pytest.fixture(params=[-5, 5])
def jump(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Return a function that sets this machine's clock hours back or forth."""

    def jump() -> None:
        jumped = timezone.now() + timedelta(hours=request.param)
        monkeypatch.setattr(timezone, "now", lambda: jumped)

    return jump


def test_a_clock_that_jumps_ends_no_lease(answer: Answer, jump: Callable[[], None]) -> None:
    assert Answer.objects.running().claim(uuid4())
    jump()
    assert Answer.objects.leased().exists()
    assert not Answer.objects.free().exists()
    answer.refresh_from_db()
    assert answer.is_active


def test_what_is_asked_on_a_machine_whose_clock_is_ahead_gives_a_sign_of_life_now(
    jump: Callable[[], None],
) -> None:
    jump()
    answer = Answer.objects.create(conversation=Conversation.objects.create(), ordinal=1)
    assert abs(clock.now() - answer.active_at) < timedelta(minutes=1)


def test_a_clock_that_jumps_moves_no_next_try(job: Job, jump: Callable[[], None]) -> None:
    until = next_try(NetworkProblem("No answer."), attempts=1)
    jump()
    again = next_try(NetworkProblem("No answer."), attempts=1)
    assert until is not None
    assert again is not None
    assert abs(again - until) < timedelta(minutes=1)
    job.postpone(until=again)
    assert not Job.objects.due().exists()
    job.postpone(until=clock.now())
    assert Job.objects.due().exists()


def test_a_clock_that_jumps_loses_no_message(job: Job, jump: Callable[[], None]) -> None:
    job.mark_sent()
    jump()
    assert not Job.objects.unsent().exists()
    job.mark_sent()
    assert Job.objects.unsent(after=timedelta(0)).exists()


def test_a_clock_that_jumps_neither_opens_nor_shuts_the_gate_to_youtube(
    jump: Callable[[], None],
) -> None:
    YouTubeGate.refused(NetworkProblem("No."))
    jump()
    assert YouTubeGate.current().state == "closed"
    with pytest.raises(GateClosed):
        YouTubeGate.pass_through(pace=60)
    YouTubeGate.reopen()
    YouTubeGate.pass_through(pace=60)
    assert not YouTubeGate.current().is_free
    assert YouTubeGate.current().free_at < clock.now() + timedelta(minutes=2)


def test_a_clock_that_jumps_reads_no_playlist_early_or_late(
    collection: Collection, jump: Callable[[], None]
) -> None:
    feed = Feed.objects.create(
        collection=collection, kind=Feed.Kind.PLAYLIST, youtube_id="PLlist", every_hours=2
    )
    feed.plan()
    jump()
    assert not Feed.objects.due().exists()
    Feed.objects.update(next_sync_at=clock.now())
    assert Feed.objects.due().exists()

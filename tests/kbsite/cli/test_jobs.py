"""jobs and sync."""

import pytest

from tests.kbsite.cli.conftest import Kb
from tests.youtube_standin import MANUAL, PLAYLIST, YouTubeStandIn
from transcripts.core.errors import Blocked, NoCaptions
from transcripts.models import Collection, Feed, Job, YouTubeGate


@pytest.fixture
def failed(library: Collection) -> Job:
    job = Job.objects.create(collection=library, kind=Job.Kind.VIDEO, target=MANUAL)
    job.start()
    job.fail(NoCaptions("The video has no captions."))
    return job


def test_unfinished_and_failed_jobs_are_listed_and_done_ones_on_demand(
    kb: Kb, failed: Job, library: Collection
) -> None:
    done = Job.objects.create(collection=library, kind=Job.Kind.VIDEO, target="done-job-01")
    done.finish()
    assert [job["id"] for job in kb("jobs", "--json").json["jobs"]] == [failed.pk]
    assert [job["id"] for job in kb("jobs", "--all", "--json").json["jobs"]] == [done.pk, failed.pk]
    result = kb("jobs")
    assert "The video has no captions." in result.out
    assert failed.hint in result.err


def test_a_job_that_failed_in_part_is_listed_with_those_that_failed(
    kb: Kb, library: Collection
) -> None:
    problems = [{"name": "a.txt", "code": "unreadable", "message": "", "hint": ""}]
    about = {"kind": Job.Kind.FILES, "target": "files", "done": 2, "problems": problems}
    job = Job.objects.create(collection=library, **about)
    job.finish()
    assert [listed["id"] for listed in kb("jobs", "--json").json["jobs"]] == [job.pk]
    assert "1 of 2 files read" in kb("jobs").out


def test_an_empty_list_says_how_finished_jobs_are_listed(kb: Kb, library: Collection) -> None:
    assert "No jobs." in kb("jobs").out
    Job.objects.create(collection=library, kind=Job.Kind.VIDEO, target="done-job-01").finish()
    said = kb("jobs").out
    assert "No job is open" in said
    assert "`kb jobs --all` lists finished ones." in said
    assert "captions fetched" in kb("jobs", "--all").out


def test_a_job_that_is_done_says_what_it_did_as_its_page_does(kb: Kb, library: Collection) -> None:
    feed = Feed.objects.create(collection=library, kind="playlist", youtube_id=PLAYLIST)
    for kind, about in {
        Job.Kind.VIDEO: {},
        Job.Kind.FEED: {"feed": feed, "done": 3},
        Job.Kind.FILES: {
            "done": 2,
            "problems": [{"name": "a.txt", "code": "unreadable", "message": "", "hint": ""}],
        },
    }.items():
        Job.objects.create(collection=library, kind=kind, target=f"a-{kind}", **about).finish()
    said = kb("jobs", "--all").out
    for words in ("captions fetched", "3 videos found", "1 of 2 files read"):
        assert words in said
    assert {job["state"] for job in kb("jobs", "--all", "--json").json["jobs"]} == {"done"}


def test_the_gate_is_shown_and_can_be_opened(kb: Kb) -> None:
    assert kb("jobs", "--json").json["youtube"]["state"] == "open"
    YouTubeGate.refused(Blocked("YouTube treats this server as a bot."))
    result = kb("jobs")
    assert "closed until" in result.out
    assert "as a bot" in result.out
    assert kb("jobs", "--json").json["youtube"]["closed_until"]
    assert kb("jobs", "reopen", "--json").json["youtube"]["state"] == "open"


def test_a_failed_job_can_be_done_again(kb: Kb, failed: Job) -> None:
    assert kb("jobs", "retry", failed.pk, "--listen", "--json").json["jobs"][0]["state"] == "queued"
    assert Job.objects.get(pk=failed.pk).listens == Job.Listens.MISSING
    kb("jobs", "retry", failed.pk, code=5)


def test_a_job_that_waits_says_how_many_are_before_it(kb: Kb, library: Collection) -> None:
    for target in ("first-video", "other-video"):
        Job.objects.create(collection=library, kind=Job.Kind.VIDEO, target=target)
    assert "1 before this" in kb("jobs").out
    assert [job["jobs_before"] for job in kb("jobs", "--json").json["jobs"]] == [1, 0]


def test_a_retry_can_be_waited_for(kb: Kb, failed: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    with YouTubeStandIn() as standin:
        for name, value in standin.environment().items():
            monkeypatch.setenv(name, value)
        assert kb("jobs", "retry", failed.pk, "--wait", "--json").json["jobs"][0]["state"] == "done"


def test_sync_asks_for_all_lists_or_for_one(
    kb: Kb, library: Collection, collection: Collection
) -> None:
    first = Feed.objects.create(
        collection=library, kind="playlist", youtube_id=PLAYLIST, title="Lectures"
    )
    Feed.objects.create(collection=collection, kind="channel", youtube_id="@standin")
    jobs = kb("sync", f"https://www.youtube.com/playlist?list={PLAYLIST}", "--json").json["jobs"]
    assert [job["target"] for job in jobs] == [first.youtube_id]
    assert [job["target"] for job in kb("sync", "lectures", "--json").json["jobs"]] == [
        first.youtube_id
    ]
    assert {job["target"] for job in kb("sync", "--json").json["jobs"]} == {PLAYLIST, "@standin"}
    assert Job.objects.count() == 2

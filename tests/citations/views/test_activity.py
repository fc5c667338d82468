"""The Activity page shows jobs, feeds and the gate."""

import re
from datetime import timedelta
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from selectolax.lexbor import LexborHTMLParser

from citations.errors import ModelRefused
from citations.models import LexEntry, Source, State
from tests.html import assert_shows, text_of
from tests.makers import make_document, make_source, make_video
from transcripts.adding import acquisition
from transcripts.core.errors import Blocked, NetworkProblem, NoCaptions
from transcripts.models import Collection, Feed, Job, Video, WorkerPulse, YouTubeGate
from transcripts.models.waiting import OUTAGE_REQUESTS


@pytest.fixture
def failed(collection: Collection) -> Job:
    """A job that came to nothing."""
    job = Job.objects.create(collection=collection, kind=Job.Kind.VIDEO, target="dQw4w9WgXcQ")
    job.fail(NoCaptions("This video has no captions."))
    return job


@pytest.fixture
def video(collection: Collection) -> Video:
    return make_video(collection)


def test_the_drawer_has_the_latest_and_leads_to_all(page: Client, failed: Job) -> None:
    html = text_of(page.get("/activity/", headers={"HX-Request": "true"}))
    assert "<html" not in html
    assert "This video has no captions." in html
    assert 'sse-connect="/activity/events/?drawer=1"' in html
    assert "All activity" in html


def test_the_indicator_counts_what_is_going_on_and_asks_again_only_then(
    page: Client, stranger: Client, failed: Job
) -> None:
    assert "every 10s" not in text_of(page.get("/activity/now/"))
    Job.objects.update(state="queued")
    make_document(failed.collection, ["x"])
    busy = text_of(page.get("/activity/now/"))
    assert "2 in progress" in busy
    assert "every 60s" in busy  # nothing gets further: no worker runs
    WorkerPulse.beat()
    assert "every 10s" in text_of(page.get("/activity/now/"))
    assert "2 in progress" not in text_of(stranger.get("/activity/now/"))


def test_the_counter_of_a_search_renews_itself_until_all_is_indexed(
    page: Client, collection: Collection
) -> None:
    book = make_document(collection, ["x"])
    WorkerPulse.beat()
    for address in ("/search/", "/search/?q=x&mode=words", "/activity/now/"):
        html = text_of(page.get(address))
        assert "1 source can be searched only by words so far." in html
        assert "No worker is running" not in html
        assert html.count('hx-select="#indexing-state"') == 1
    WorkerPulse.objects.all().delete()
    assert "No worker is running, so this cannot continue." in text_of(page.get("/activity/now/"))
    book.reach(State.READY)
    assert 'hx-select="#indexing-state"' not in text_of(page.get("/activity/now/"))


def test_the_page_says_which_words_are_still_to_be_indexed_again(
    page: Client, stranger: Client, collection: Collection
) -> None:
    books = [make_document(collection, [text], title=text) for text in ("a", "b")]
    assert "indexed again" not in text_of(page.get("/activity/"))
    LexEntry.objects.filter(source=books[0]).update(tokenizer_version=0)
    assert "The words of 1 of 2 sources are still to be" in text_of(page.get("/activity/"))
    assert "indexed again" not in text_of(stranger.get("/activity/"))
    books[1].delete()
    assert "The words of the only source are indexed again" in text_of(page.get("/activity/"))


READINESS = ("1 of 3 ready", "1 of 3 ready, 1 failed", "All 2 are ready", "Nothing is in progress")


def test_the_drawer_and_what_was_added_say_how_much_is_ready(
    page: Client, collection: Collection
) -> None:
    def said() -> set[str]:
        drawer = text_of(page.get("/activity/", headers={"HX-Request": "true"}))
        added = text_of(page.get("/activity/now/"))
        return {
            max((text for text in READINESS if text in html), key=len) for html in (drawer, added)
        }

    assert said() == {"Nothing is in progress"}
    books = [make_document(collection, [text], title=text) for text in ("a", "b")]
    job = Job.objects.create(collection=collection, kind="video", target="dQw4w9WgXcQ")
    books[0].reach(State.READY)
    assert said() == {"1 of 3 ready"}
    books[1].fail(ModelRefused("The server refused the key."))
    assert said() == {"1 of 3 ready, 1 failed"}
    job.delete()
    books[1].reach(State.READY)
    assert said() == {"All 2 are ready"}


def test_how_long_it_takes_is_told_once_there_is_a_pace_to_go_by(
    page: Client, collection: Collection
) -> None:
    WorkerPulse.beat()
    book = make_document(collection, ["x"], title="book")
    Source.objects.filter(pk=book.pk).update(size=240_000, state=State.WORDS)
    addresses: list[tuple[str, dict[str, str]]] = [
        ("/activity/", {}),
        ("/activity/", {"HX-Request": "true"}),
        ("/activity/now/", {}),
    ]
    for address, headers in addresses:
        assert_shows(page.get(address, headers=headers), "0 of 1 ready", without=("left",))
    talk = make_document(collection, ["y"], title="talk")
    began = timezone.now() - timedelta(hours=1)
    times = {"begun_at": began, "ready_at": began + timedelta(minutes=1)}
    Source.objects.filter(pk=talk.pk).update(characters=60_000, state=State.READY, **times)
    for address, headers in addresses:
        assert "1 of 2 ready, about 4 minutes left" in text_of(page.get(address, headers=headers))
    german = text_of(page.get("/activity/", headers={"Accept-Language": "de"}))
    assert "1 von 2 fertig, noch etwa 4 Minuten" in german


def test_however_much_is_added_there_is_one_counter(page: Client, collection: Collection) -> None:
    box = LexborHTMLParser(text_of(page.get("/add/", headers={"HX-Request": "true"})))
    assert len(box.css("#readiness")) == 1
    for text in ("0:00\nMoss drinks.", "0:00\nIce melts."):
        added = page.post("/add/", {"what": text}, headers={"HX-Request": "true"})
        [counter] = LexborHTMLParser(text_of(added)).css("#readiness")
        assert counter.attributes["hx-swap-oob"] == "true", "it takes the place of the other"


def test_a_source_is_put_first_by_those_who_may_change_it(
    page: Client, viewer: Client, stranger: Client, collection: Collection
) -> None:
    book = make_document(collection, ["x"], title="A book")
    address = f"/sources/{book.uuid}/first/"
    assert address in text_of(page.get(f"/sources/{book.uuid}/passages/"))
    assert address not in text_of(viewer.get(f"/sources/{book.uuid}/passages/"))
    assert viewer.post(address).status_code == 403
    assert stranger.post(address).status_code == 404
    shown = text_of(page.post(address, follow=True))
    assert_shows(shown, "“A book” is indexed next.", "next in line")
    book.reach(State.READY)
    shown = text_of(page.post(address, follow=True))
    assert_shows(shown, "“A book” is no longer waiting to be indexed.", without=(address,))


def test_the_page_of_a_source_that_is_not_ready_renews_its_state(
    page: Client, collection: Collection
) -> None:
    book = make_document(collection, ["x"], title="A book")
    shown = LexborHTMLParser(text_of(page.get(f"/sources/{book.uuid}/passages/")))
    assert shown.css_first("#source-live[hx-get] form[hx-trigger=load]")
    book.reach(State.READY)
    ready = text_of(page.get(f"/sources/{book.uuid}/passages/"))
    assert "hx-get" not in ready.split('id="source-live"')[1].split(">")[0]


@pytest.mark.parametrize(
    ("state", "columns", "said"),
    [
        (State.PENDING, {}, "waiting"),
        (State.PENDING, {"step": "reading pages", "total": 9}, "being indexed"),
        (State.WORDS, {}, "waiting, already found by words"),
        (State.WORDS, {"step": "embedding"}, "being indexed, already found by words"),
        (State.PENDING, {"wanted_at": timezone.now()}, "next in line"),
        (State.WORDS, {"wanted_at": timezone.now()}, "next in line, already found by words"),
        (State.READY, {}, "ready"),
        (State.FAILED, {}, "failed"),
    ],
)
def test_a_source_is_waiting_being_indexed_ready_or_failed(
    page: Client, collection: Collection, state: State, columns: dict[str, Any], said: str
) -> None:
    book = make_document(collection, ["x"])
    Source.objects.update(state=state, **columns)
    html = text_of(page.get(f"/sources/{book.uuid}/passages/"))
    [shown] = re.findall(r'<span\s+class="state[^>]*>(.*?)</span>', html, re.DOTALL)
    assert re.sub("<[^>]+>", "", shown).strip() == said


def test_a_video_that_is_still_to_be_fetched_has_the_title_of_its_playlist(
    page: Client, collection: Collection
) -> None:
    feed = Feed.objects.create(
        collection=collection, kind="playlist", youtube_id="PL123", title="A course"
    )
    feed.entries.create(youtube_id="dQw4w9WgXcQ", position=1, title="Package relay")
    for target in ("dQw4w9WgXcQ", "AyjU0EJZjR8"):
        Job.objects.create(collection=collection, kind="video", target=target, feed=feed)
    assert_shows(page.get("/activity/"), "Package relay", "AyjU0EJZjR8")


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"kind": "feed", "done": 10}, "10 videos found"),
        ({"kind": "files", "done": 18, "total": 18}, "18 files read"),
        ({"kind": "feed", "done": 0}, "It has no new video."),
        ({"kind": "video", "done": 2, "total": 2}, "captions fetched"),
        (
            {"kind": "files", "done": 3, "total": 3, "problems": [{"code": "x", "name": "a"}]},
            "2 of 3 files read",
        ),
    ],
)
def test_what_is_done_says_what_and_that_it_is_not_ready_yet(
    page: Client, collection: Collection, columns: dict[str, Any], said: str
) -> None:
    feed = Feed.objects.create(collection=collection, kind="playlist", youtube_id="PL123")
    job = Job.objects.create(collection=collection, target="x", state="done", feed=feed, **columns)
    html = text_of(page.get(f"/jobs/{job.pk}/"))
    others = {"videos found", "files read", "captions fetched"}
    assert_shows(html, said, without=[text for text in others if text not in said])
    assert ("shows how m" in html) == (columns["kind"] == "feed" and bool(columns["done"]))


def test_sources_that_are_being_indexed_show_how_far_they_are(
    page: Client, stranger: Client, collection: Collection
) -> None:
    book = make_document(collection, ["x"], title="A book")
    book.report(step="embedding", done=20, total=80)
    html = text_of(page.get("/activity/"))
    assert 'value="25" aria-label="Progress of A book"' in html
    assert "Embedding · 20 of 80" in html
    assert "A book" not in text_of(stranger.get("/activity/"))


def test_sources_that_could_not_be_indexed_are_listed_with_the_reason_and_what_to_do(
    page: Client, viewer: Client, stranger: Client, collection: Collection
) -> None:
    source = make_document(collection, ["Ice."], title="Broken notes")
    drawer = {"HTTP_HX_REQUEST": "true"}
    assert "Failed" not in text_of(page.get("/activity/", **drawer))
    reason = {"error_code": "document_broken", "error": "The PDF cannot be read."}
    Source.objects.filter(pk=source.pk).update(state=State.FAILED, **reason)
    for html in (text_of(page.get("/activity/")), text_of(page.get("/activity/", **drawer))):
        assert "Broken notes" in html
        assert "The PDF cannot be read." in html
        assert f'value="document-{source.pk}"' in html  # to delete it
    assert f'value="document-{source.pk}"' not in text_of(viewer.get("/activity/", **drawer))
    assert "Broken notes" not in text_of(stranger.get("/activity/", **drawer))


def test_activity_without_jobs_or_a_worker_shows_what_to_do(page: Client) -> None:
    assert_shows(page.get("/activity/"), "Nothing has been added yet", "No worker is running")
    WorkerPulse.beat()
    assert "No worker is running" not in text_of(page.get("/activity/"))


def test_a_failed_job_shows_its_error_and_can_be_retried(page: Client, failed: Job) -> None:
    assert_shows(page.get("/activity/"), "This video has no captions.", "Upload a caption file")
    page.post(f"/jobs/{failed.pk}/retry/")
    failed.refresh_from_db()
    assert failed.state == Job.State.QUEUED


def test_a_job_that_is_tried_again_from_the_drawer_leaves_the_page_as_it_is(
    page: Client, failed: Job
) -> None:
    headers = {"HTTP_HX_REQUEST": "true", "HTTP_HX_TARGET": "drawer-body"}
    response = page.post(f"/jobs/{failed.pk}/retry/", **headers)
    assert (response.status_code, "HX-Redirect" in response) == (204, False)
    failed.refresh_from_db()
    assert failed.state == Job.State.QUEUED
    assert "queued again" not in text_of(page.get("/library/"))


def test_a_postponed_job_says_in_how_long_it_is_tried_again(page: Client, failed: Job) -> None:
    Job.objects.update(state="queued", run_after=timezone.now() + timedelta(minutes=28, seconds=9))
    assert "Is tried again in 28\xa0minutes." in text_of(page.get(f"/jobs/{failed.pk}/"))
    Job.objects.update(run_after=timezone.now() - timedelta(minutes=19))
    assert_shows(page.get(f"/jobs/{failed.pk}/"), "Waits for its turn.", without=("tried again",))


@pytest.mark.parametrize(
    ("step", "done", "shown"), [("importing", 0, "Importing"), ("empty.srt", 1, "empty.srt")]
)
def test_a_job_that_reads_files_names_each_as_it_is_named(
    page: Client, collection: Collection, step: str, done: int, shown: str
) -> None:
    job = Job.objects.create(
        collection=collection, kind="files", target="x", state="running", total=2
    )
    job.report(step=step, done=done)
    tree = LexborHTMLParser(text_of(page.get(f"/jobs/{job.pk}/")))
    steps = tree.css_first(".job progress + p")
    assert steps is not None
    assert steps.text(separator=" ").split() == [shown, "·", str(done), "of", "2", "files", "read"]


def test_a_job_that_waits_says_how_many_are_before_it(page: Client, collection: Collection) -> None:
    jobs = [
        Job.objects.create(collection=collection, kind=Job.Kind.VIDEO, target=f"v{number}")
        for number in range(4)
    ]
    assert "Waits for its turn." in text_of(page.get(f"/jobs/{jobs[0].pk}/"))
    assert "Waiting; 3 before this." in text_of(page.get(f"/jobs/{jobs[3].pk}/"))
    assert "Waiting; 3 before this." in text_of(page.get("/activity/"))


def test_a_gate_that_closed_for_want_of_a_network_does_not_blame_youtube(page: Client) -> None:
    for _ in range(OUTAGE_REQUESTS):
        YouTubeGate.unreachable(NetworkProblem("No route to the host."))
    html = text_of(page.get("/activity/"))
    assert "YouTube cannot be reached; the queue pauses until" in " ".join(html.split())
    assert "refusing" not in html


def test_jobs_are_listed_by_state(page: Client, failed: Job) -> None:
    assert "dQw4w9WgXcQ" in text_of(page.get("/activity/?state=failed"))
    assert "No job is running now" in text_of(page.get("/activity/?state=running"))


def test_a_job_that_failed_in_part_is_listed_and_counted_with_those_that_failed(
    page: Client, collection: Collection, failed: Job
) -> None:
    for name, codes in {"partial": ["same_text", "unreadable"], "copies": ["same_text"]}.items():
        problems = [{"name": "a", "code": code, "message": "", "hint": ""} for code in codes]
        job = Job.objects.create(collection=collection, kind=Job.Kind.FILES, target=name, done=2)
        job.change(problems=problems)
        job.finish()
        assert job.is_partial is (name == "partial")
    listed = LexborHTMLParser(text_of(page.get("/activity/?state=failed")))
    titles = {title.text().strip() for title in listed.css(".job h3")}
    assert titles == {"partial", "Video dQw4w9WgXcQ"}
    counts = {
        state: listed.css_first(f'.chip[href$="?state={state}"] .chip-count').text().strip()
        for state in ("failed", "done")
    }
    assert counts == {"failed": "2", "done": "2"}


def test_a_viewer_cannot_retry_a_job(viewer: Client, failed: Job) -> None:
    assert viewer.post(f"/jobs/{failed.pk}/retry/").status_code == 403


def test_a_closed_gate_shows_the_reason_and_can_be_opened(browser: Client) -> None:
    until = timezone.localtime(YouTubeGate.refused(Blocked("YouTube treats this server as a bot.")))
    assert_shows(browser.get("/activity/"), "treats this server as a bot", f"{until:%H:%M}")
    browser.post("/gate/reopen/")
    assert YouTubeGate.current().state == "open"


def test_whoever_administers_no_server_sees_the_gate_and_whom_to_ask(
    page: Client, viewer: Client
) -> None:
    YouTubeGate.refused(Blocked("No."))
    for client in (page, viewer):  # an owner of one collection, too: the gate is that of all
        html = text_of(client.get("/activity/"))
        assert "YouTube is refusing this server" in html
        assert "Administrators of this server" in html
        assert "Try now" not in html
        refusal = client.post("/gate/reopen/")
        assert refusal.status_code == 403
        assert "Ask an administrator of this server." in text_of(refusal)
    assert YouTubeGate.current().state == "closed"


def test_staff_with_the_permission_open_the_gate(page: Client, owner: User) -> None:
    YouTubeGate.refused(Blocked("No."))
    owner.user_permissions.add(Permission.objects.get(codename="change_youtubegate"))
    assert "Try now" in text_of(page.get("/activity/"))
    page.post("/gate/reopen/")
    assert YouTubeGate.current().state == "open"


@pytest.fixture
def feed(collection: Collection) -> Feed:
    """A channel."""
    return Feed.objects.create(
        collection=collection, kind=Feed.Kind.CHANNEL, youtube_id="@hall", title="Lecture Hall"
    )


def test_only_editors_see_the_actions_of_a_channel(
    page: Client, viewer: Client, feed: Feed
) -> None:
    assert "Fetch what is new" in text_of(page.get("/activity/"))
    assert "Fetch what is new" not in text_of(viewer.get("/activity/"))


def test_a_channel_is_checked_on_request(page: Client, feed: Feed) -> None:
    page.post(f"/feeds/{feed.pk}/sync/")
    assert Job.objects.get().feed == feed


def test_the_schedule_of_a_channel_can_be_set_and_removed(page: Client, feed: Feed) -> None:
    page.post(f"/feeds/{feed.pk}/schedule/", {"newest": "3", "every_hours": "12"})
    feed.refresh_from_db()
    assert (feed.newest, feed.every_hours) == (3, 12)
    assert feed.next_sync_at is not None
    assert abs(feed.next_sync_at - timezone.now() - timedelta(hours=12)) < timedelta(minutes=1)
    page.post(f"/feeds/{feed.pk}/schedule/", {"newest": "", "every_hours": ""})
    feed.refresh_from_db()
    assert (feed.newest, feed.every_hours, feed.next_sync_at) == (None, None, None)


def test_removing_a_channel_asks_for_confirmation_and_keeps_its_videos(
    page: Client, feed: Feed, video: Video
) -> None:
    assert "Remove “Lecture Hall”?" in text_of(page.get(f"/feeds/{feed.pk}/remove/"))
    page.post(f"/feeds/{feed.pk}/remove/")
    assert not Feed.objects.exists()
    assert Video.objects.exists()


@pytest.mark.parametrize("path", ["sync", "schedule", "remove"])
def test_a_channel_is_changed_by_editors_only(
    viewer: Client, stranger: Client, feed: Feed, path: str
) -> None:
    assert viewer.post(f"/feeds/{feed.pk}/{path}/").status_code == 403
    assert stranger.post(f"/feeds/{feed.pk}/{path}/").status_code == 404


def test_the_stream_of_a_finished_job_ends(page: Client, failed: Job) -> None:
    response: Any = page.get(f"/jobs/{failed.pk}/events/")
    assert response["Content-Type"] == "text/event-stream"
    assert response["Cache-Control"] == "private, no-store"


def test_the_list_of_what_is_going_on_comes_with_the_counter_of_the_header(
    page: Client, collection: Collection
) -> None:
    WorkerPulse.beat()
    Job.objects.create(collection=collection, kind="video", target="dQw4w9WgXcQ")
    counter = LexborHTMLParser(text_of(page.get("/activity/now/"))).css_first("#activity-now")
    assert "hx-swap-oob" not in counter.attributes
    response: Any = page.get("/activity/events/")

    async def read() -> str:
        async for part in response.streaming_content:
            if b"data:" in part:
                return bytes(part).decode()
        raise AssertionError("nothing was sent")

    first = async_to_sync(read)()
    sent = LexborHTMLParser("\n".join(re.findall("(?m)^data: ?(.*)$", first)))
    pushed = sent.css_first("#activity-now")
    assert pushed.attributes["hx-swap-oob"] == "true"
    labels = [" ".join(str(link.attributes["aria-label"]).split()) for link in (counter, pushed)]
    assert labels == ["Activity: 1 in progress"] * 2
    assert not LexborHTMLParser(text_of(page.get("/activity/"))).css("#live #activity-now")


def test_an_import_of_files_is_named_in_the_language_of_the_page(
    page: Client, owner: User, collection: Collection
) -> None:
    uploads = [(f"{name}.srt", b"1\n00:00:01,000 --> 00:00:02,000\nHello.\n") for name in "ab"]
    acquisition.request_files(collection, uploads, by=owner)
    assert "2 transcripts" in text_of(page.get("/activity/"))
    assert "2 Transkripte" in text_of(page.get("/activity/", headers={"Accept-Language": "de"}))


def test_the_activity_page_and_its_drawer_ask_no_more_for_twelve_of_each_than_for_three(
    page: Client, collection: Collection
) -> None:
    """A file that was read, a video that is to be fetched, a playlist, and a source in each
    state.
    """

    def add(numbers: range) -> None:
        for number in numbers:
            video = make_video(collection, key=f"v{number}")
            about: dict[str, Any] = {"collection": collection, "target": str(number)}
            feed = Feed.objects.create(
                collection=collection, kind="playlist", youtube_id=f"PL{number}"
            )
            feed.entries.create(youtube_id=str(number), position=1, title="Package relay")
            Job.objects.create(**about, kind="video", feed=feed)
            Job.objects.create(**about, kind="feed", feed=feed, state="failed", error_code="x")
            imported = Job.objects.create(**about, kind="files", state="done", done=2, total=2)
            imported.add_read("talk.vtt", video=video, change="added")
            make_document(collection, ["x"], title=f"w{number}").reach(State.WORDS)
            make_document(collection, ["x"], title=f"f{number}").fail(ModelRefused("No."))
            make_source(video, texts=["x"])

    def queries(headers: dict[str, str]) -> int:
        with CaptureQueriesContext(connection) as statements:
            assert page.get("/activity/", headers=headers).status_code == 200
        return len(statements)

    kinds: tuple[dict[str, str], ...] = ({}, {"HX-Request": "true"})
    YouTubeGate.current()  # which makes its row
    add(range(3))
    few = [queries(headers) for headers in kinds]
    add(range(3, 12))
    assert [queries(headers) for headers in kinds] == few

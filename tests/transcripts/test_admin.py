"""The admin: every table is shown, work is started, and ten thousand videos are like ten."""

import re
from io import BytesIO
from typing import Any

import pytest
from django.apps import apps
from django.contrib import admin
from django.contrib.auth.models import Permission, User
from django.db import connection, models
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from kbsite.models import ApiToken, SignInLink
from tests.admin_pages import act, listing
from tests.makers import make_cues, make_user, make_video, multiply
from transcripts.core.errors import RateLimited
from transcripts.media import files as media
from transcripts.models import (
    AuditEntry,
    Collection,
    Feed,
    Job,
    JobFile,
    Membership,
    RawCaptions,
    Thumbnail,
    Transcript,
    TranscriptIndex,
    Video,
    WorkerPulse,
    YouTubeGate,
)

MANY = 10_000
OURS = [
    model
    for label in ("transcripts", "kbsite")
    for model in apps.get_app_config(label).get_models()
]


@pytest.fixture
def one_of_each(collection: Collection, boss: User) -> None:
    video = make_video(collection, cues=make_cues(5))
    feed = Feed.objects.create(
        collection=collection, kind="channel", youtube_id="UCx", title="Course"
    )
    feed.entries.create(youtube_id="abcdefghijk", position=0, title="A talk")
    job = Job.objects.create(
        collection=collection,
        kind="files",
        target="3 files",
        state="running",
        done=1,
        total=3,
        feed=feed,
        created_by=boss,
    )
    job.problems = [{"name": "<b>.vtt", "code": "empty", "message": "Nothing <i>", "hint": ""}]
    job.save()
    JobFile.objects.create(job=job, name="a.vtt", data=b"x" * 1234)
    Thumbnail.objects.create(video=video, data=b"x" * 5000, content_type="image/jpeg")
    media.replace(video, BytesIO(b"ID3" + b"x" * 5000), name="talk.mp3")
    Membership.objects.create(collection=collection, user=boss, role="owner")
    WorkerPulse.beat()
    YouTubeGate.current()


@pytest.fixture
def ten_thousand(collection: Collection) -> None:
    video = Video.objects.create(
        collection=collection, key="v0", title="Lecture 0", description="d" * 200, youtube_id="0"
    )
    transcript = Transcript.objects.create(
        video=video,
        language="en",
        origin="auto",
        cues=[[0, 1, "x"]],
        digest="",
        cue_count=1,
        characters=1,
        duration=1,
    )
    raw = RawCaptions.objects.create(transcript=transcript, name="x.vtt", data=b"x")
    copies = MANY - 1
    multiply(
        video, copies, key="'v' || n", title="'Lecture ' || n", youtube_id="lpad(n::text, 11, '0')"
    )
    multiply(transcript, copies, video_id=f"{video.pk} + n")
    multiply(raw, copies, transcript_id=f"{transcript.pk} + n")
    with connection.cursor() as cursor:
        cursor.execute(
            "ANALYZE transcripts_video, transcripts_transcript, transcripts_rawcaptions"
        )  # as the database does by itself within a minute


# Looking


@pytest.mark.parametrize("model", OURS, ids=lambda model: model.__name__)
def test_every_table_can_be_searched_and_filtered(model: type[models.Model]) -> None:
    table = admin.site.get_model_admin(model)
    assert table.search_fields
    assert table.list_filter
    assert len(table.list_display) > 1
    assert not table.show_full_result_count
    long_fields = {
        field.name
        for field in model._meta.fields
        if isinstance(field, models.BinaryField) or field.name in ("cues", "word_times")
    }
    secret = {"digest"} if model in (ApiToken, SignInLink) else set()
    assert long_fields | secret <= {*(table.exclude or ())}


@pytest.mark.parametrize("model", OURS, ids=lambda model: model.__name__)
@pytest.mark.usefixtures("one_of_each")
def test_every_page_of_every_table_opens(
    browser: Client, boss: User, model: type[models.Model]
) -> None:
    ApiToken.issue(boss, name="x")
    assert browser.get(listing(model, q="lecture")).status_code == 200
    page = browser.get(listing(model))
    assert page.status_code == 200
    row = model._default_manager.first()
    names = ("change", "delete", "history") if row else ()
    for name in names:
        assert row is not None
        response = browser.get(
            reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_{name}", args=[row.pk])
        )
        lasting = model in (AuditEntry, YouTubeGate)  # not to be deleted
        assert response.status_code in ((200, 403) if lasting else (200,)), name
        assert "x" * 200 not in response.content.decode()
        assert "default-src 'none'" in response["Content-Security-Policy"]


@pytest.mark.usefixtures("one_of_each")
def test_listings_load_no_long_column_and_need_no_query_per_row(
    browser: Client, boss: User, django_assert_max_num_queries: Any
) -> None:
    for n in range(10):
        shelf = Collection.objects.create(name=f"C{n}", slug=f"c{n}")
        Membership.objects.create(collection=shelf, user=make_user(f"u{n}"), role="viewer")
        video = make_video(shelf, key=f"v{n}", cues=make_cues(3))
        Thumbnail.objects.create(video=video, data=b"x", content_type="image/png")
        Feed.objects.create(collection=shelf, kind="channel", youtube_id=f"UC{n}")
        job = Job.objects.create(collection=shelf, kind="files", target=f"{n}", created_by=boss)
        JobFile.objects.create(job=job, name="a.vtt", data=b"x")
        ApiToken.issue(boss, name=f"t{n}", collections=(shelf,))
    for model in OURS:
        with django_assert_max_num_queries(12) as captured:
            assert browser.get(listing(model)).status_code == 200
        for query in captured.captured_queries:
            columns = re.sub(r"LENGTH\([^)]*\)", "", query["sql"].partition(" FROM ")[0])
            assert not re.search(r'"(cues|word_times|data)"|video"."description"', columns)


def test_progress_is_a_bar_without_a_style(browser: Client, one_of_each: None) -> None:
    page = browser.get(listing(Job)).content.decode()
    assert '<progress max="100" value="33">33%</progress>' in page
    assert 'style="' not in re.sub(r"(?s)<header.*?</header>", "", page)


def test_problems_are_escaped(browser: Client, one_of_each: None) -> None:
    page = browser.get(
        reverse("admin:transcripts_job_change", args=[Job.objects.get().pk])
    ).content.decode()
    assert "&lt;b&gt;.vtt: Nothing &lt;i&gt;" in page


def test_nobody_but_staff_gets_in(client: Client, collection: Collection) -> None:
    client.force_login(make_user("ada", collection=collection))
    assert client.get(listing(Video)).status_code in (302, 403)


# Changing


def test_tags_are_words(browser: Client, collection: Collection) -> None:
    video = make_video(collection)
    path = reverse("admin:transcripts_video_change", args=[video.pk])
    inline = {"transcripts-TOTAL_FORMS": "1", "transcripts-INITIAL_FORMS": "1"}
    inline |= {
        "transcripts-0-id": str(video.transcripts.get().pk),
        "transcripts-0-video": str(video.pk),
    }
    for tags in ("[" * 3001, "\0"):
        assert browser.post(path, {"title": "Not this", "tags": tags, **inline}).status_code == 200
    assert browser.post(path, {"title": "T", "tags": " a,, week 3 ", **inline}).status_code == 302
    video.refresh_from_db()
    assert (video.title, video.tags) == ("T", ["a", "week 3"])
    assert 'value="a, week 3"' in browser.get(path).content.decode()


def test_a_changed_feed_is_scheduled_again(browser: Client, one_of_each: None) -> None:
    feed = Feed.objects.get()
    browser.post(
        reverse("admin:transcripts_feed_change", args=[feed.pk]),
        {"title": "Course", "every_hours": "24", "newest": ""},
    )
    feed.refresh_from_db()
    assert feed.every_hours == 24
    assert feed.next_sync_at is not None


# Adding


def paste(browser: Client, collection: Collection, addresses: str, **more: str) -> str:
    response = browser.post(
        reverse("admin:transcripts_job_add"),
        {"addresses": addresses, "collection": collection.pk, **more},
    )
    assert response.status_code == 200
    return response.content.decode()


def test_videos_are_added_by_pasting_addresses(browser: Client) -> None:
    for model in ("video", "feed"):
        assert browser.get(reverse(f"admin:transcripts_{model}_add")).headers[
            "Location"
        ] == reverse("admin:transcripts_job_add")
    assert browser.get(reverse("admin:transcripts_job_add")).status_code == 200


def test_each_line_becomes_a_job_or_an_error(
    browser: Client, boss: User, collection: Collection
) -> None:
    lines = (
        "https://youtu.be/dQw4w9WgXcQ\n\n https://www.youtube.com/watch?v=jNQXAC9IVRw"
        " \nftp://example.com/<b>\nhttps://youtu.be/dQw4w9WgXcQ\nno address"
    )
    page = paste(browser, collection, lines, language="de", tags="a, b,,")
    jobs = {job.target: job for job in Job.objects.all()}
    assert set(jobs) == {"dQw4w9WgXcQ", "jNQXAC9IVRw"}
    assert all(
        (job.created_by, job.language, job.tags) == (boss, "de", ["a", "b"])
        for job in jobs.values()
    )
    assert page.count("/change/") >= 2
    assert "ftp://example.com/&lt;b&gt;" in page
    left = page.partition("<textarea")[2].partition("</textarea>")[0]
    assert "example.com" in left
    assert "youtu.be" not in left


def test_too_many_lines_are_refused_as_a_whole(browser: Client, collection: Collection) -> None:
    assert "501 lines" in paste(
        browser, collection, "\n".join(f"https://youtu.be/{n:011}" for n in range(501))
    )
    assert not Job.objects.exists()


def test_adding_needs_the_permission_to_add(collection: Collection) -> None:
    client = Client()
    client.force_login(make_user("helper", is_staff=True))
    assert client.get(reverse("admin:transcripts_job_add")).status_code == 403
    assert client.post(reverse("admin:transcripts_job_add"), {"addresses": "x"}).status_code == 403


# Asking for work


def test_only_youtube_videos_are_fetched_again(browser: Client, collection: Collection) -> None:
    make_video(collection, key="file")
    tube = make_video(collection, key="tube")
    Video.objects.filter(pk=tube.pk).update(youtube_id="dQw4w9WgXcQ")
    page = act(browser, Video, "fetch", Video.objects.all())
    assert "1 queued" in page
    assert "came from a file" in page
    assert Job.objects.get().target == "dQw4w9WgXcQ"


def test_originals_are_parsed_again(browser: Client, collection: Collection) -> None:
    video = make_video(collection)
    Transcript.objects.update(cues=[[0, 1, "broken"]], digest="")
    assert "1 transcripts parsed" in act(browser, Video, "reparse", [video])
    assert video.transcripts.get().cue_count == 60
    RawCaptions.objects.all().delete()
    assert "was not stored" in act(browser, Transcript, "reparse", Transcript.objects.all())


def test_too_many_transcripts_to_parse_are_refused(browser: Client, collection: Collection) -> None:
    for n in range(51):
        make_video(collection, key=f"v{n}", cues=make_cues(1))
    page = act(browser, Transcript, "reparse", Transcript.objects.all()[:1], select_across="1")
    assert "the limit is 50" in page


def test_failed_jobs_are_retried(browser: Client, collection: Collection) -> None:
    failed = Job.objects.create(
        collection=collection, kind="video", target="a", state="failed", finished_at=timezone.now()
    )
    queued = Job.objects.create(collection=collection, kind="video", target="b")
    page = act(browser, Job, "retry", [failed, queued])
    assert "1 queued" in page
    assert "has not ended" in page
    failed.refresh_from_db()
    assert failed.state == "queued"


def test_feeds_are_checked_now(browser: Client, one_of_each: None) -> None:
    assert "1 queued" in act(browser, Feed, "sync", Feed.objects.all())
    assert Job.objects.get(kind="feed").target == "UCx"


def test_the_gate_is_reopened(browser: Client) -> None:
    YouTubeGate.refused(RateLimited("too many"))
    act(browser, YouTubeGate, "reopen", [YouTubeGate.current()])
    assert YouTubeGate.current().state == "open"


def test_work_needs_the_permission_to_change(collection: Collection) -> None:
    helper = make_user("helper", is_staff=True)
    helper.user_permissions.add(Permission.objects.get(codename="view_job"))
    client = Client()
    client.force_login(helper)
    job = Job.objects.create(collection=collection, kind="video", target="a", state="failed")
    act(client, Job, "retry", [job])
    job.refresh_from_db()
    assert job.state == "failed"


# Ten thousand


@pytest.mark.usefixtures("ten_thousand")
def test_ten_thousand_videos_are_listed_searched_and_filtered(
    browser: Client, django_assert_max_num_queries: Any
) -> None:
    for model in (Video, Transcript, RawCaptions, TranscriptIndex, Job):
        for query in ({}, {"q": "Lecture 999"}, {"p": "50"}, {"o": "1"}):
            with django_assert_max_num_queries(12):
                response = browser.get(listing(model, **query))
            assert response.status_code in (200, 302)
            assert len(response.content) < 300_000


@pytest.mark.usefixtures("ten_thousand")
def test_ten_thousand_videos_are_deleted_after_confirmation(
    browser: Client, collection: Collection, django_assert_max_num_queries: Any
) -> None:
    other = make_video(Collection.objects.create(name="Other", slug="other"), key="other")
    first = Video.objects.filter(collection=collection).values_list("pk", flat=True)[0]
    chosen = {"action": "delete_selected", "_selected_action": [first], "select_across": "1"}
    path = listing(Video, collection__id__exact=str(collection.pk))
    with django_assert_max_num_queries(31):
        page = browser.post(path, chosen).content.decode()
    assert "Recordings: 10000" in page
    assert "Transcripts: 10000" in page
    assert "Raw captions: 10000" in page
    assert len(page) < 30_000
    hidden = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', page))
    assert browser.post(path, hidden, follow=True).status_code == 200
    assert list(Video.objects.all()) == [other]
    assert Transcript.objects.count() == RawCaptions.objects.count() == 1


@pytest.mark.usefixtures("ten_thousand")
def test_the_deletion_of_a_collection_is_counted(
    browser: Client, collection: Collection, django_assert_max_num_queries: Any
) -> None:
    with django_assert_max_num_queries(46):
        page = browser.get(
            reverse("admin:transcripts_collection_delete", args=[collection.pk])
        ).content.decode()
    assert "Transcripts: 10,000" in page
    assert len(page) < 30_000


def test_selected_videos_are_deleted(browser: Client, collection: Collection) -> None:
    videos = [make_video(collection, key=f"v{n}", cues=make_cues(2)) for n in range(3)]
    page = browser.post(
        listing(Video),
        {"action": "delete_selected", "_selected_action": [video.pk for video in videos[:2]]},
    ).content.decode()
    assert "Recordings: 2" in page
    ticked = re.findall(r'name="_selected_action" value="(\d+)"', page)
    browser.post(
        listing(Video), {"action": "delete_selected", "_selected_action": ticked, "post": "yes"}
    )
    assert list(Video.objects.all()) == videos[2:]


def test_deleting_needs_the_permission_for_all_dependents(collection: Collection) -> None:
    helper = make_user("helper", is_staff=True)
    helper.user_permissions.set(
        Permission.objects.filter(codename__in=("view_video", "delete_video"))
    )
    client = Client()
    client.force_login(helper)
    video = make_video(collection)
    path = reverse("admin:transcripts_video_delete", args=[video.pk])
    assert "permission" in client.get(path).content.decode()
    assert client.post(path, {"post": "yes"}).status_code == 403
    assert Video.objects.exists()

"""The pages: what they show, to whom, and what they refuse.

How they look and move is tried in tests/browser.
"""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any, cast

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone
from django.utils.html import escape

from tests.makers import caption_json, make_cues, make_user, make_video
from transcripts import acquisition, collections, library, storage
from transcripts.cues import Cue
from transcripts.errors import Blocked, NoCaptions
from transcripts.models import (
    Collection,
    Feed,
    Job,
    Membership,
    Role,
    Thumbnail,
    Transcript,
    Video,
    WorkerPulse,
    YouTubeGate,
)
from transcripts.templatetags.transcripts import ago, marked, spoken_length, with_code
from transcripts.views import events

HTMX = {"HTTP_HX_REQUEST": "true"}


@pytest.fixture
def video(collection: Collection) -> Video:
    """A lecture of 50 minutes."""
    return make_video(collection, cues=make_cues(600))


def text_of(response: Any) -> str:
    return cast(str, response.content.decode())


# Library


def test_an_empty_library_says_what_to_do_next(page: Client) -> None:
    found = text_of(page.get("/library/"))
    assert "Your library is empty" in found
    assert "<code>kb add URL</code>" in found


def test_a_viewer_of_an_empty_library_is_told_whom_to_ask(viewer: Client) -> None:
    found = text_of(viewer.get("/library/"))
    assert "ask an owner" in found
    assert 'id="add"' not in found


def test_a_filter_that_nothing_fits_says_so_and_can_be_cleared(page: Client, video: Video) -> None:
    found = text_of(page.get("/library/?q=zebra"))
    assert "Nothing fits “zebra”" in found
    assert "Clear the filter" in found


def test_htmx_gets_the_list_alone(page: Client, video: Video) -> None:
    found = text_of(page.get("/library/?q=lecture", **HTMX))
    assert "Lecture 1" in found
    assert "<html" not in found


def test_the_next_page_comes_after_the_last_card_and_keeps_the_filter(
    page: Client, collection: Collection
) -> None:
    for number in range(25):
        make_video(collection, key=f"v{number:02}", title=f"Talk {number:02}", cues=make_cues(1))
    first = text_of(page.get("/library/?q=talk"))
    assert "q=talk&amp;offset=24" in first
    assert first.count("data-item ") + first.count("data-item>") == 24
    rest = text_of(page.get("/library/?q=talk&offset=24", **HTMX))
    assert "Talk 00" in rest
    assert "More videos" not in rest


def test_titles_are_escaped(page: Client, collection: Collection) -> None:
    make_video(collection, title="<script>alert(1)</script>")
    assert "<script>alert" not in text_of(page.get("/library/"))


def test_the_library_costs_the_same_number_of_queries_for_many_videos(
    page: Client, collection: Collection, django_assert_max_num_queries: Any
) -> None:
    for number in range(20):
        make_video(collection, key=f"v{number}", cues=make_cues(1))
    with django_assert_max_num_queries(12):
        page.get("/library/")


def test_videos_of_other_collections_are_not_listed(stranger: Client, video: Video) -> None:
    assert "Lecture 1" not in text_of(stranger.get("/library/"))


# Adding


def test_an_address_becomes_a_job_that_is_followed_live(
    page: Client, collection: Collection
) -> None:
    found = text_of(
        page.post(
            "/library/add/",
            {"what": "https://youtu.be/dQw4w9WgXcQ", "language": "de", "tags": "a, b"},
            **HTMX,
        )
    )
    job = Job.objects.get()
    assert (job.target, job.language, job.tags, job.collection) == (
        "dQw4w9WgXcQ",
        "de",
        ["a", "b"],
        collection,
    )
    assert f"/jobs/{job.pk}/events/" in found


def test_of_several_addresses_the_wrong_one_does_not_stop_the_others(page: Client) -> None:
    found = text_of(
        page.post(
            "/library/add/", {"what": "https://youtu.be/dQw4w9WgXcQ\nhttps://example.org/x"}, **HTMX
        )
    )
    assert Job.objects.count() == 1
    assert "is not YouTube" in found


def test_a_playlist_keeps_how_much_and_how_often(page: Client) -> None:
    page.post(
        "/library/add/",
        {"what": "https://www.youtube.com/@lecturehall", "newest": "5", "every_hours": "24"},
        **HTMX,
    )
    feed = Feed.objects.get()
    assert (feed.newest, feed.every_hours) == (5, 24)


def test_an_uploaded_file_arrives_and_its_job_links_to_it(page: Client) -> None:
    upload = SimpleUploadedFile("talk.json", caption_json(make_cues(3), id="talk", title="A talk"))
    page.post("/library/add/", {"files": [upload]}, **HTMX)
    job = acquisition.perform(Job.objects.get().pk)
    assert job is not None
    assert f"/videos/{Video.objects.get().pk}/" in text_of(page.get(f"/jobs/{job.pk}/"))


def test_a_pasted_transcript_is_in_the_library_at_once(page: Client) -> None:
    found = text_of(
        page.post(
            "/library/add/",
            {"title": "My talk", "text": "0:00\nHello there.\n0:05\nGood bye."},
            **HTMX,
        )
    )
    video = Video.objects.get()
    assert video.title == "My talk"
    assert "in the library" in found


def test_a_plain_browser_is_sent_to_activity_after_adding(page: Client) -> None:
    response = page.post("/library/add/", {"what": "dQw4w9WgXcQ"}, follow=True)
    assert response.redirect_chain == [("/activity/", 302)]
    assert "is queued" in text_of(response)


def test_nothing_to_add_is_an_error_that_says_what_to_do(page: Client) -> None:
    response = page.post("/library/add/", {"what": " "}, **HTMX)
    assert response.status_code == 422
    assert "Paste an address" in text_of(response)


def test_a_file_that_is_too_large_is_refused_by_name(page: Client, settings: Any) -> None:
    settings.MAX_UPLOAD_BYTES = 10
    response = page.post(
        "/library/add/", {"files": [SimpleUploadedFile("big.vtt", b"x" * 11)]}, **HTMX
    )
    assert response.status_code == 413
    assert "big.vtt" in text_of(response)


def test_a_viewer_cannot_add(viewer: Client, collection: Collection) -> None:
    assert (
        viewer.post(
            "/library/add/", {"what": "dQw4w9WgXcQ", "collection": collection.slug}, **HTMX
        ).status_code
        == 403
    )
    assert not Job.objects.exists()


def test_nobody_adds_to_a_collection_that_they_cannot_see(
    stranger: Client, collection: Collection
) -> None:
    assert (
        stranger.post(
            "/library/add/", {"what": "dQw4w9WgXcQ", "collection": collection.slug}, **HTMX
        ).status_code
        == 404
    )
    assert not Job.objects.exists()


# A video


def test_a_video_opens_at_its_first_chunk_and_links_to_the_next(page: Client, video: Video) -> None:
    found = text_of(page.get(f"/videos/{video.pk}/"))
    assert "Point 0." in found
    assert "Point 60." not in found
    assert "?chunk=1" in found


def test_a_video_opens_at_a_moment_with_its_line_marked(page: Client, video: Video) -> None:
    found = text_of(page.get(f"/videos/{video.pk}/?t=15m7s"))
    assert '<p class="cue at" id="t905000"' in found
    assert "part 4 of 10" in found


def test_a_moment_cut_to_whole_seconds_means_the_line_that_begins_within_it(
    page: Client, collection: Collection
) -> None:
    cues = [
        Cue(start=59_000, end=60_900, text="before"),
        Cue(start=60_900, end=63_000, text="meant"),
    ]
    address = f"/videos/{make_video(collection, cues=cues).pk}/"
    assert '<p class="cue at" id="t60900"' in text_of(page.get(f"{address}?t=60s"))
    assert '<p class="cue at" id="t59000"' in text_of(page.get(f"{address}?t=60.5"))
    assert '<p class="cue at" id="t59000"' in text_of(page.get(f"{address}?t=59s"))


def test_a_moment_behind_the_end_opens_the_last_line(page: Client, video: Video) -> None:
    assert '<p class="cue at" id="t2995000"' in text_of(page.get(f"/videos/{video.pk}/?t=90000"))


def test_a_broken_moment_still_shows_the_video(page: Client, video: Video) -> None:
    assert page.get(f"/videos/{video.pk}/?t=soon").status_code == 200


@pytest.mark.parametrize(
    ("chunk", "status"),
    [("9", 200), ("10", 404), ("-1", 422), ("x", 422), ("9" * 30, 422), ("²", 422)],
)
def test_a_chunk_that_is_not_there_is_told(
    page: Client, video: Video, chunk: str, status: int
) -> None:
    assert page.get(f"/videos/{video.pk}/", {"chunk": chunk}).status_code == status


def test_scrolling_on_brings_the_next_chunk_without_a_way_back(page: Client, video: Video) -> None:
    found = text_of(page.get(f"/videos/{video.pk}/chunks/1/?only=next", **HTMX))
    assert 'rel="next"' in found
    assert 'rel="prev"' not in found
    assert "<html" not in found


def test_the_chunks_together_are_the_transcript(page: Client, video: Video) -> None:
    pages = [
        text_of(page.get(f"/videos/{video.pk}/chunks/{index}/", **HTMX)) for index in range(10)
    ]
    assert all(any(f"Point {number}." in found for found in pages) for number in range(600))


def test_a_plain_browser_that_follows_a_chunk_gets_the_page(page: Client, video: Video) -> None:
    assert page.get(f"/videos/{video.pk}/chunks/2/")["Location"] == f"/videos/{video.pk}/?chunk=2"


def test_hits_mark_the_words_and_lead_to_their_time(page: Client, video: Video) -> None:
    found = text_of(page.get(f"/videos/{video.pk}/search/?q=gradient", **HTMX))
    assert "<mark>gradient</mark>" in found
    assert f"/videos/{video.pk}/?t=0s&amp;q=gradient" in found


def test_hits_escape_what_is_said_and_what_is_asked(page: Client, collection: Collection) -> None:
    cues = make_cues(2, sentences=("<img src=x onerror=alert(1)> gradient & co.",))
    video = make_video(collection, cues=cues)
    found = text_of(page.get(f"/videos/{video.pk}/?q=gradient%3Cscript%3E"))
    assert "<img src=x" not in found
    assert "gradient<script>" not in found
    assert "<mark>gradient</mark>" in found


def test_a_search_without_a_hit_says_so(page: Client, video: Video) -> None:
    assert "Nothing is said about “zebra”" in text_of(
        page.get(f"/videos/{video.pk}/search/?q=zebra", **HTMX)
    )


def test_an_empty_search_clears_the_hits(page: Client, video: Video) -> None:
    assert text_of(page.get(f"/videos/{video.pk}/search/?q=", **HTMX)).strip() == ""


def test_without_scripts_a_search_shows_its_hits_in_the_page(page: Client, video: Video) -> None:
    assert "<mark>gradient</mark>" in text_of(page.get(f"/videos/{video.pk}/?q=gradient"))


def test_a_video_without_transcript_says_where_to_look(
    page: Client, collection: Collection
) -> None:
    bare = Video.objects.create(collection=collection, key="bare", title="Bare")
    assert "has no transcript yet" in text_of(page.get(f"/videos/{bare.pk}/"))


def test_a_language_that_is_missing_names_those_there_are(page: Client, video: Video) -> None:
    response = page.get(f"/videos/{video.pk}/?lang=fr")
    assert response.status_code == 404
    assert "Available: en" in text_of(response)


def test_the_languages_of_a_video_can_be_switched(
    page: Client, video: Video, collection: Collection
) -> None:
    cues = make_cues(3, sentences=("Das ist ein Satz.",))
    storage.add_captions(
        collection, caption_json(cues, id="lecture-1"), name="lecture-1.de.json", language="de"
    )
    assert "?lang=de" in text_of(page.get(f"/videos/{video.pk}/"))
    assert "Das ist ein Satz" in text_of(page.get(f"/videos/{video.pk}/?lang=de"))


def test_a_player_is_offered_for_youtube_only_and_nothing_of_it_is_loaded(
    page: Client, video: Video
) -> None:
    assert 'id="player"' not in text_of(page.get(f"/videos/{video.pk}/"))
    Video.objects.filter(pk=video.pk).update(youtube_id="dQw4w9WgXcQ")
    found = text_of(page.get(f"/videos/{video.pk}/"))
    assert 'data-youtube="dQw4w9WgXcQ"' in found
    assert "<iframe" not in found


@pytest.mark.parametrize(
    ("form", "media_type"),
    [
        ("vtt", "text/vtt"),
        ("srt", "application/x-subrip"),
        ("txt", "text/plain"),
        ("md", "text/markdown"),
    ],
)
def test_a_transcript_can_be_taken_away_as_a_file(
    page: Client, video: Video, form: str, media_type: str
) -> None:
    response = page.get(f"/videos/{video.pk}/download/{form}/")
    assert response["Content-Type"] == f"{media_type}; charset=utf-8"
    assert response["Content-Disposition"] == f'attachment; filename="lecture-1.en.{form}"'
    assert "Point 599." in text_of(response)


def test_a_files_name_cannot_break_out_of_its_header(page: Client, collection: Collection) -> None:
    video = make_video(collection, key='a"; x=ü')
    header = page.get(f"/videos/{video.pk}/download/vtt/")["Content-Disposition"]
    assert header.startswith("attachment; filename*=utf-8''a%22%3B")


def test_an_unknown_format_names_those_there_are(page: Client, video: Video) -> None:
    response = page.get(f"/videos/{video.pk}/download/docx/")
    assert response.status_code == 404
    assert "vtt" in text_of(response)


def test_a_picture_is_drawn_where_none_was_kept(page: Client, video: Video) -> None:
    drawn = page.get(f"/videos/{video.pk}/thumbnail")
    assert drawn["Content-Type"] == "image/svg+xml"
    Thumbnail.objects.create(video=video, data=b"\xff\xd8jpeg", content_type="image/jpeg")
    kept = page.get(f"/videos/{video.pk}/thumbnail")
    assert (kept["Content-Type"], kept.content) == ("image/jpeg", b"\xff\xd8jpeg")


def test_a_video_of_youtube_is_fetched_in_another_language(page: Client, video: Video) -> None:
    Video.objects.filter(pk=video.pk).update(youtube_id="dQw4w9WgXcQ")
    page.post(f"/videos/{video.pk}/fetch/", {"language": "fr"}, **HTMX)
    assert Job.objects.get().language == "fr"


def test_a_file_cannot_be_fetched_from_youtube(page: Client, video: Video) -> None:
    response = page.post(f"/videos/{video.pk}/fetch/", **HTMX)
    assert response.status_code == 422
    assert "came from a file" in text_of(response)


def test_deleting_asks_first_and_says_what_goes(page: Client, video: Video) -> None:
    assert "600 lines" in text_of(page.get(f"/videos/{video.pk}/delete/"))
    assert Video.objects.filter(pk=video.pk).exists()
    response = page.post(f"/videos/{video.pk}/delete/", follow=True)
    assert not Video.objects.exists()
    assert not Transcript.objects.exists()
    assert escape("“Lecture 1” was deleted.") in text_of(response)


def test_a_video_is_found_by_any_address_of_it(page: Client, video: Video) -> None:
    assert page.get("/library/find/", {"id": "lecture-1"})["Location"] == f"/videos/{video.pk}/"


# Who may


READS = (
    "/videos/{0}/",
    "/videos/{0}/chunks/0/",
    "/videos/{0}/search/?q=x",
    "/videos/{0}/download/vtt/",
    "/videos/{0}/thumbnail",
    "/videos/{0}/delete/",
)
WRITES = ("/videos/{0}/fetch/", "/videos/{0}/delete/")


@pytest.mark.parametrize("path", READS)
def test_a_foreign_video_is_as_absent_as_one_that_never_was(
    stranger: Client, video: Video, path: str
) -> None:
    foreign, absent = (stranger.get(path.format(pk), **HTMX) for pk in (video.pk, 10**9))
    assert (foreign.status_code, foreign.content) == (404, absent.content)


@pytest.mark.parametrize("path", WRITES)
def test_a_viewer_changes_nothing(
    viewer: Client, stranger: Client, video: Video, path: str
) -> None:
    assert viewer.post(path.format(video.pk)).status_code == 403
    assert stranger.post(path.format(video.pk)).status_code == 404
    assert Video.objects.exists()


@pytest.mark.parametrize(
    "path",
    [
        "/library/",
        "/activity/",
        "/collections/",
        "/tokens/",
        "/videos/1/",
        "/jobs/1/",
        "/activity/events/",
    ],
)
def test_nobody_sees_a_page_without_signing_in(client: Client, db: None, path: str) -> None:
    assert client.get(path)["Location"].startswith("/sign-in/?next=")


# Activity


@pytest.fixture
def failed(collection: Collection) -> Job:
    """A job that came to nothing."""
    job = Job.objects.create(collection=collection, kind=Job.Kind.VIDEO, target="dQw4w9WgXcQ")
    job.fail(NoCaptions("This video has no captions."))
    return job


def test_activity_without_jobs_says_what_to_do(page: Client) -> None:
    assert "Nothing has been added yet" in text_of(page.get("/activity/"))


def test_a_missing_worker_is_told_with_the_command_that_starts_it(page: Client) -> None:
    assert "No worker is running" in text_of(page.get("/activity/"))
    WorkerPulse.beat()
    assert "No worker is running" not in text_of(page.get("/activity/"))


def test_a_failed_job_shows_why_and_can_be_tried_again(page: Client, failed: Job) -> None:
    found = text_of(page.get("/activity/"))
    assert "This video has no captions." in found
    assert "Upload a caption file" in found
    page.post(f"/jobs/{failed.pk}/retry/")
    failed.refresh_from_db()
    assert failed.state == Job.State.QUEUED


def test_jobs_are_listed_by_state(page: Client, failed: Job) -> None:
    assert "dQw4w9WgXcQ" in text_of(page.get("/activity/?state=failed"))
    assert "No job is running now" in text_of(page.get("/activity/?state=running"))


def test_jobs_of_other_collections_are_absent(stranger: Client, failed: Job) -> None:
    assert "dQw4w9WgXcQ" not in text_of(stranger.get("/activity/"))
    assert stranger.get(f"/jobs/{failed.pk}/").status_code == 404
    assert stranger.get(f"/jobs/{failed.pk}/events/").status_code == 404
    assert stranger.post(f"/jobs/{failed.pk}/retry/").status_code == 404


def test_a_viewer_cannot_try_a_job_again(viewer: Client, failed: Job) -> None:
    assert viewer.post(f"/jobs/{failed.pk}/retry/").status_code == 403


def test_a_closed_gate_says_why_and_until_when_and_can_be_opened(page: Client) -> None:
    until = timezone.localtime(YouTubeGate.refused(Blocked("YouTube treats this server as a bot.")))
    found = text_of(page.get("/activity/"))
    assert "treats this server as a bot" in found
    assert f"{until:%H:%M}" in found
    page.post("/gate/reopen/")
    assert YouTubeGate.current().state == "open"


def test_a_viewer_cannot_open_the_gate(viewer: Client) -> None:
    YouTubeGate.refused(Blocked("No."))
    assert viewer.post("/gate/reopen/").status_code == 403
    assert YouTubeGate.current().state == "closed"


@pytest.fixture
def feed(collection: Collection) -> Feed:
    """A channel."""
    return Feed.objects.create(
        collection=collection, kind=Feed.Kind.CHANNEL, youtube_id="@hall", title="Lecture Hall"
    )


def test_who_may_change_a_channel_is_offered_to(page: Client, viewer: Client, feed: Feed) -> None:
    assert "Sync again" in text_of(page.get("/activity/"))
    assert "Sync again" not in text_of(viewer.get("/activity/"))


def test_a_channel_is_looked_at_again_when_asked(page: Client, feed: Feed) -> None:
    page.post(f"/feeds/{feed.pk}/sync/")
    assert Job.objects.get().feed == feed


def test_a_channel_gets_a_schedule_and_loses_it(page: Client, feed: Feed) -> None:
    page.post(f"/feeds/{feed.pk}/schedule/", {"newest": "3", "every_hours": "12"})
    feed.refresh_from_db()
    assert (feed.newest, feed.every_hours) == (3, 12)
    assert feed.next_sync_at is not None
    assert abs(feed.next_sync_at - timezone.now() - timedelta(hours=12)) < timedelta(minutes=1)
    page.post(f"/feeds/{feed.pk}/schedule/", {"newest": "", "every_hours": ""})
    feed.refresh_from_db()
    assert (feed.newest, feed.every_hours, feed.next_sync_at) == (None, None, None)


def test_a_channel_is_removed_after_a_question_and_its_videos_stay(
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


def test_an_event_stream_of_a_finished_job_says_so_and_ends(page: Client, failed: Job) -> None:
    response: Any = page.get(f"/jobs/{failed.pk}/events/")
    assert response["Content-Type"] == "text/event-stream"
    assert response["Cache-Control"] == "no-store"


def test_a_stream_sends_what_has_changed_and_ends_with_the_final_state() -> None:
    states = iter([("one", False), ("one", False), ("two\nlines", True)])

    async def collect() -> list[str]:
        stream = cast(
            AsyncIterator[bytes], events.stream("job", lambda: next(states)).streaming_content
        )
        return [part.decode() async for part in stream]

    sent = asyncio.run(collect())
    assert sent == [
        "event: job\ndata: one\n\n",
        "event: job\ndata: two\ndata: lines\n\n",
        "event: finished\ndata: finished\n\n",
    ]


def test_a_stream_does_not_send_again_what_differs_only_in_the_token_of_its_forms() -> None:
    form = '<input type="hidden" name="csrfmiddlewaretoken" value="{}">'
    states = iter([(form.format("a"), False), (form.format("b"), False), (form.format("c"), True)])

    async def collect() -> list[str]:
        stream = cast(
            AsyncIterator[bytes], events.stream("job", lambda: next(states)).streaming_content
        )
        return [part.decode() async for part in stream]

    assert [part.splitlines()[0] for part in asyncio.run(collect())] == [
        "event: job",
        "event: finished",
    ]


def test_no_line_break_in_the_data_can_begin_another_event() -> None:
    assert events.event("job", "a\r\nevent: x\u2028y\x85z").count("event:") == 2
    assert events.event("job", "a\r\nevent: x").splitlines()[1:3] == ["data: a", "data: event: x"]


# Collections


def test_a_new_collection_belongs_to_whoever_made_it(page: Client, owner: User) -> None:
    page.post("/collections/create/", {"name": "Physics  II"})
    made = Collection.objects.get(name="Physics II")
    assert made.slug == "physics-ii"
    assert collections.role_in(made, owner) == Role.OWNER


def test_two_collections_of_alike_names_get_different_short_names(page: Client) -> None:
    page.post("/collections/create/", {"name": "Физика"})
    page.post("/collections/create/", {"name": "物理"})
    assert Collection.objects.filter(slug__startswith="collection").count() == 2


def test_a_name_that_is_taken_is_told(page: Client, collection: Collection) -> None:
    response = page.post("/collections/create/", {"name": collection.name})
    assert response.status_code == 409
    assert "already" in text_of(response)


def test_members_are_added_promoted_and_taken_off(page: Client, collection: Collection) -> None:
    bob = make_user("bob")
    page.post(f"/collections/{collection.pk}/members/", {"username": "bob", "role": "viewer"})
    page.post(f"/collections/{collection.pk}/members/", {"username": "bob", "role": "editor"})
    assert collections.role_in(collection, bob) == Role.EDITOR
    page.post(f"/collections/{collection.pk}/members/{bob.pk}/remove/")
    assert collections.role_in(collection, bob) == ""


def test_the_last_owner_stays(page: Client, owner: User, collection: Collection) -> None:
    assert page.post(f"/collections/{collection.pk}/members/{owner.pk}/remove/").status_code == 409
    assert (
        page.post(
            f"/collections/{collection.pk}/members/", {"username": "ada", "role": "viewer"}
        ).status_code
        == 409
    )
    assert collections.role_in(collection, owner) == Role.OWNER


def test_an_unknown_user_is_told_with_the_command_that_makes_one(
    page: Client, collection: Collection
) -> None:
    response = page.post(
        f"/collections/{collection.pk}/members/", {"username": "nobody", "role": "viewer"}
    )
    assert response.status_code == 422
    assert "kb user add" in text_of(response)


def test_a_collection_is_deleted_after_counting_what_goes(
    page: Client, collection: Collection, video: Video
) -> None:
    assert "1 video with 1 transcript" in text_of(page.get(f"/collections/{collection.pk}/delete/"))
    page.post(f"/collections/{collection.pk}/delete/")
    assert not Collection.objects.filter(pk=collection.pk).exists()
    assert not Video.objects.exists()


CHANGES = ("rename/", "members/", "members/1/remove/", "delete/")


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("role", [Role.VIEWER, Role.EDITOR])
def test_only_an_owner_changes_a_collection(
    collection: Collection, change: str, role: Role
) -> None:
    member, browser = make_user("mia", collection=collection, role=role), Client()
    browser.force_login(member)
    assert (
        browser.post(
            f"/collections/{collection.pk}/{change}",
            {"name": "x", "username": "mia", "role": "owner"},
        ).status_code
        == 403
    )
    assert Membership.objects.get(user=member).role == role


@pytest.mark.parametrize("change", ["", *CHANGES])
def test_a_foreign_collection_is_absent(
    stranger: Client, collection: Collection, change: str
) -> None:
    path = f"/collections/{collection.pk}/{change}"
    assert (stranger.post(path) if change else stranger.get(path)).status_code == 404


def test_members_are_shown_to_owners_only(
    viewer: Client, page: Client, collection: Collection
) -> None:
    assert "Add a member" in text_of(page.get(f"/collections/{collection.pk}/"))
    assert "Add a member" not in text_of(viewer.get(f"/collections/{collection.pk}/"))


# How things are written


def test_marking_escapes_everything_but_its_own_marks() -> None:
    assert (
        marked("<b>a & b</b>", [(3, 4), (7, 8)])
        == "&lt;b&gt;<mark>a</mark> &amp; <mark>b</mark>&lt;/b&gt;"
    )


def test_code_in_hints_is_escaped() -> None:
    assert with_code("run `kb <x>` & wait") == "run <code>kb &lt;x&gt;</code> &amp; wait"


@pytest.mark.parametrize(
    ("ms", "said"), [(40_000, "40 s"), (61_000, "1 min"), (3_900_000, "1 h 5 min")]
)
def test_lengths_are_written_as_spoken(ms: int, said: str) -> None:
    assert spoken_length(ms) == said


def test_a_moment_just_gone_is_not_zero_minutes_ago() -> None:
    assert ago(timezone.now()) == "just now"
    assert ago(timezone.now() - timedelta(hours=3)) == "3\xa0hours ago"


def test_the_chunk_of_a_moment_is_the_one_it_lies_in(video: Video) -> None:
    transcript = library.find_transcript(video)
    assert [library.chunk_index_at(transcript, seconds) for seconds in (0, 299.9, 300, 10**6)] == [
        0,
        0,
        1,
        9,
    ]


def test_tags_are_those_of_visible_videos(collection: Collection, video: Video, scope: Any) -> None:
    Video.objects.filter(pk=video.pk).update(tags=["b", "a"])
    other = make_video(Collection.objects.create(name="Hidden", slug="hidden"))
    Video.objects.filter(pk=other.pk).update(tags=["secret"])
    assert library.tags(scope) == ["a", "b"]

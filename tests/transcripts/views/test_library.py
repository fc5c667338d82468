"""The Library page lists videos and adds to them."""

from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from tests.makers import caption_json, make_cues, make_video, restarting_vtt
from tests.transcripts.views.pages import HTMX, text_of
from transcripts import acquisition
from transcripts.models import Collection, Feed, Job, Video


def test_an_empty_library_shows_the_next_step(page: Client) -> None:
    found = text_of(page.get("/library/"))
    assert "Your library is empty" in found
    assert "<code>kb add URL</code>" in found


def test_a_viewer_of_an_empty_library_learns_whom_to_ask(viewer: Client) -> None:
    found = text_of(viewer.get("/library/"))
    assert "ask an owner" in found
    assert 'id="add"' not in found


def test_a_filter_without_a_match_can_be_cleared(page: Client, video: Video) -> None:
    found = text_of(page.get("/library/?q=zebra"))
    assert "Nothing fits “zebra”" in found
    assert "Clear the filter" in found


def test_htmx_gets_the_list_alone(page: Client, video: Video) -> None:
    found = text_of(page.get("/library/?q=lecture", **HTMX))
    assert "Lecture 1" in found
    assert "<html" not in found


def test_the_next_page_keeps_the_filter(page: Client, collection: Collection) -> None:
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


def test_the_number_of_queries_does_not_grow_with_the_library(
    page: Client, collection: Collection, django_assert_max_num_queries: Any
) -> None:
    for number in range(20):
        make_video(collection, key=f"v{number}", cues=make_cues(1))
    with django_assert_max_num_queries(12):
        page.get("/library/")


def test_videos_of_other_collections_are_not_listed(stranger: Client, video: Video) -> None:
    assert "Lecture 1" not in text_of(stranger.get("/library/"))


# Adding


def test_an_address_becomes_a_job_with_live_progress(page: Client, collection: Collection) -> None:
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


def test_a_wrong_address_does_not_stop_the_others(page: Client) -> None:
    found = text_of(
        page.post(
            "/library/add/", {"what": "https://youtu.be/dQw4w9WgXcQ\nhttps://example.org/x"}, **HTMX
        )
    )
    assert Job.objects.count() == 1
    assert "is not YouTube" in found


def test_a_playlist_keeps_its_limit_and_schedule(page: Client) -> None:
    page.post(
        "/library/add/",
        {"what": "https://www.youtube.com/@lecturehall", "newest": "5", "every_hours": "24"},
        **HTMX,
    )
    feed = Feed.objects.get()
    assert (feed.newest, feed.every_hours) == (5, 24)


def test_the_job_of_an_upload_links_to_the_video(page: Client) -> None:
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


def test_pasted_captions_whose_clock_starts_again_are_stored_with_a_warning(page: Client) -> None:
    pasted = {"title": "Talks", "text": restarting_vtt().decode()}
    assert "read as 2 parts" in text_of(page.post("/library/add/", pasted, **HTMX))
    assert "read as 2 parts" in text_of(page.post("/library/add/", pasted, follow=True))


def test_a_machine_translation_can_be_asked_for(page: Client) -> None:
    page.post("/library/add/", {"what": "dQw4w9WgXcQ", "language": "de", "translated": "on"})
    assert Job.objects.get().translated


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

"""The page of a playlist or channel."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from tests.transcripts.views.pages import text_of
from transcripts.core.errors import NoCaptions
from transcripts.models import Collection, Feed, Job, Video


@pytest.fixture
def feed(collection: Collection) -> Feed:
    """A playlist with a stored video, one that failed and one that was never fetched."""
    feed = Feed.objects.create(
        collection=collection, kind="playlist", youtube_id="PLcourse", title="A course"
    )
    names = ("stored-0001", "failed-0001", "absent-0001")
    for place, id in enumerate(names):
        feed.entries.create(youtube_id=id, position=place, title=f"Talk {id}")
    job = Job.objects.create(collection=collection, kind="video", target=names[1], feed=feed)
    job.fail(NoCaptions("It has no captions."))
    return feed


def test_it_lists_its_videos_in_order_with_what_became_of_them(
    page: Client, feed: Feed, video: Video
) -> None:
    Video.objects.filter(pk=video.pk).update(youtube_id="stored-0001")
    html = text_of(page.get(f"/feeds/{feed.pk}/"))
    assert "1 of 3 videos are in the library" in html
    places = [html.index(part) for part in (str(video), "Talk failed-0001", "Talk absent-0001")]
    assert places == sorted(places)
    assert "It has no captions." in html
    assert "Not looked at yet." in html


def test_what_is_new_is_fetched_by_the_job_that_reads_the_list(page: Client, feed: Feed) -> None:
    response = page.post(f"/feeds/{feed.pk}/sync/", follow=True)
    job = Job.objects.get(kind="feed")
    assert (job.feed, job.created_by is not None) == (feed, True)
    assert response.redirect_chain == [(f"/feeds/{feed.pk}/", 302)]
    assert f'sse-connect="/jobs/{job.pk}/events/"' in text_of(response)


def test_it_says_when_it_was_looked_at_and_how_many_came(page: Client, feed: Feed) -> None:
    feed.synced(title="A course", new_count=0)
    assert "Nothing was new." in text_of(page.get(f"/feeds/{feed.pk}/"))
    Feed.objects.update(new_count=2, last_synced_at=timezone.now() - timedelta(hours=3))
    html = text_of(page.get(f"/feeds/{feed.pk}/"))
    assert "Looked at 3\xa0hours ago." in html
    assert "2 videos were new." in html


def test_one_video_of_it_is_fetched_though_it_failed_or_was_deleted(
    page: Client, feed: Feed
) -> None:
    for id in ("failed-0001", "absent-0001"):
        page.post(f"/feeds/{feed.pk}/fetch/", {"video": id})
        assert Job.objects.unfinished().filter(kind="video", target=id).exists()
    assert page.post(f"/feeds/{feed.pk}/fetch/", {"video": "dQw4w9WgXcQ"}).status_code == 404


def test_a_viewer_sees_it_and_changes_nothing(viewer: Client, feed: Feed) -> None:
    html = text_of(viewer.get(f"/feeds/{feed.pk}/"))
    assert "Talk absent-0001" in html
    for action in ("Fetch what is new", "Fetch it", "Try again", "Schedule"):
        assert f"{action}<" not in html
    for path in ("sync", "fetch"):
        response = viewer.post(f"/feeds/{feed.pk}/{path}/", {"video": "absent-0001"})
        assert response.status_code == 403


def test_a_list_that_was_never_read_says_what_to_do(page: Client, collection: Collection) -> None:
    empty = Feed.objects.create(collection=collection, kind="channel", youtube_id="@hall")
    html = text_of(page.get(f"/feeds/{empty.pk}/"))
    assert "No video of it is known yet" in html
    assert "“Fetch what is new” reads the list at YouTube." in html


def test_the_name_of_a_playlist_leads_to_its_page_and_from_there_to_its_recordings(
    page: Client, feed: Feed
) -> None:
    response = page.get("/feeds/find/", {"playlist": "a course"})
    assert response["Location"] == f"/feeds/{feed.pk}/"
    listed = "/library/?playlist=A%20course&amp;collection=lectures"
    assert f'href="{listed}"' in text_of(page.get(f"/feeds/{feed.pk}/"))


def test_the_name_of_a_channel_that_nobody_follows_leads_to_its_recordings(page: Client) -> None:
    response = page.get("/feeds/find/", {"channel": "Ann & Bo", "collection": "lectures"})
    assert response["Location"] == "/library/?channel=Ann+%26+Bo&collection=lectures"
    assert page.get("/feeds/find/", {"channel": ""})["Location"] == "/library/"

"""Podcasts: the episodes of a feed, their captions and chapters, and the sound of those without."""

from typing import Any

import pytest

from citations.documents import podcasts
from citations.readers import podcast_feed
from tests.makers import done
from tests.tones import make_recording
from tests.web_standin import Web
from transcripts.adding import acquisition, listening
from transcripts.models import Collection, Job, MediaFile, Video

pytestmark = pytest.mark.django_db
ADDRESS = "https://pod.example/feed"
FEED = """<?xml version="1.0"?><rss version="2.0"
xmlns:podcast="https://podcastindex.org/namespace/1.0"
xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd"><channel><title>Shelves</title>
<item><title>The first shelf</title><guid>one</guid><pubDate>Mon, 01 Jan 2024 10:00:00 GMT</pubDate>
<itunes:duration>1:30</itunes:duration><enclosure url="https://pod.example/1.mp3" length="9"
type="audio/mpeg"/><podcast:transcript url="https://pod.example/1.vtt" type="text/vtt"/>
<podcast:chapters url="https://pod.example/1.json" type="application/json+chapters"/></item>
<item><title>The second shelf</title><guid>two</guid>
<enclosure url="https://pod.example/2.mp3" length="9" type="audio/mpeg"/></item>
<item><title>A letter</title><guid>three</guid></item></channel></rss>"""
VTT = b"WEBVTT\n\n00:01.000 --> 00:02.000\nhello there world\n"
CHAPTERS = (
    b'{"version": "1.2.0", "chapters": [{"startTime": 0, "title": "Welcome"}, {"title": ""}]}'
)


@pytest.fixture
def podcast(web: Web) -> Web:
    web.give("pod.example/feed", FEED.encode(), Content_Type="application/rss+xml")
    web.give("pod.example/1.vtt", VTT, Content_Type="text/vtt")
    web.give("pod.example/1.json", CHAPTERS, Content_Type="application/json")
    web.give("pod.example/2.mp3", make_recording("mp3"), Content_Type="audio/mpeg")
    return web


def test_the_episodes_of_a_podcast_are_recordings_with_captions_and_chapters(
    collection: Collection, podcast: Web
) -> None:
    job = done(acquisition.request(collection, ADDRESS, tags=["shelves"]))
    assert job.state == Job.State.DONE, job.error
    videos = {video.title: video for video in Video.objects.all()}
    assert videos.keys() == {"The first shelf", "The second shelf"}
    assert job.items == {video.pk for video in videos.values()}
    first = videos["The first shelf"]
    assert (first.channel, first.duration, first.tags) == ("Shelves", 90_000, ["shelves"])
    assert first.published_at
    assert first.published_at.date().isoformat() == "2024-01-01"
    assert first.chapters == [[0, "Welcome"]]
    assert first.transcripts.get().origin == "upload"
    assert not videos["The second shelf"].transcripts.exists()
    requests = len(podcast.hosts)
    done(acquisition.request(collection, ADDRESS))
    assert (len(podcast.hosts), Video.objects.count()) == (requests + 1, 2)


def test_older_episodes_of_a_long_feed_are_left_out_and_told(
    collection: Collection, podcast: Web
) -> None:
    head, _, _ = FEED.partition("<item>")
    rows = "".join(
        f"<item><title>Shelf {n}</title><guid>{n}</guid>"
        f"<pubDate>Mon, 01 Jan {1900 + n} 10:00:00 GMT</pubDate>"
        f'<enclosure url="https://pod.example/{n}.mp3" type="audio/mpeg"/></item>'
        for n in range(70, 70 + podcasts.MOST + 2)
    )
    podcast.give("pod.example/feed", f"{head}{rows}</channel></rss>".encode())
    job = done(acquisition.request(collection, ADDRESS))
    assert [problem["code"] for problem in job.problems] == ["episodes_left_out"]
    assert "102 episodes" in job.problems[0]["message"]
    assert not Video.objects.filter(title__in=["Shelf 70", "Shelf 71"]).exists()
    assert Video.objects.count() == podcasts.MOST


def test_the_sound_of_an_episode_without_captions_is_fetched_when_it_is_to_be_heard(
    collection: Collection, podcast: Web
) -> None:
    done(acquisition.request(collection, ADDRESS))
    video = Video.objects.get(title="The second shelf")
    job = listening.request_again(video)
    assert listening.request_again(video) == job
    assert (done(job).kind, job.state) == (Job.Kind.LISTEN, Job.State.QUEUED), job.error
    assert MediaFile.objects.get().video == video  # it is kept, to be played
    assert listening.request_again(video) == job


def test_episodes_are_heard_at_once_where_that_is_asked_for(
    collection: Collection, podcast: Web
) -> None:
    done(acquisition.request(collection, ADDRESS, listens=True))
    (job,) = Job.objects.filter(state=Job.State.QUEUED)
    assert (job.target, job.listens) == ("https://pod.example/2.mp3", Job.Listens.NOW)


def test_what_an_episode_lacks_is_told_and_the_others_are_added(
    collection: Collection, podcast: Web, settings: Any
) -> None:
    podcast.give("pod.example/1.vtt", status=404)
    job = done(acquisition.request(collection, ADDRESS))
    assert (job.state, job.problems[0]["name"]) == (Job.State.DONE, "The first shelf")
    settings.MAX_MEDIA_BYTES = 100
    sound = done(listening.request_again(Video.objects.get(title="The second shelf")))
    assert sound.error_code == "media_too_large"
    settings.MAX_MEDIA_BYTES = 1_000_000
    podcast.give("pod.example/2.mp3", b"<html>", Content_Type="text/html")
    acquisition.retry(sound)
    assert done(sound).error_code == "invalid_input"


def test_what_is_no_podcast_is_a_page(collection: Collection, podcast: Web) -> None:
    for number, data in enumerate((b"<rss><channel>", b"<rss version='2.0'><channel/></rss>")):
        assert podcast_feed.read(data, ADDRESS) == (), number
    assert podcast_feed.chapters_of(b"[1]") == ()

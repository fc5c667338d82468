"""Videos without captions, with yt-dlp and a stand-in for YouTube: who may have them heard, and how
their sound gets here.
"""

from typing import Any

import pytest

from tests.makers import done
from tests.youtube_standin import PLAYLIST, YouTubeStandIn
from transcripts.adding import acquisition, listening
from transcripts.adding.listening import Heard, ListeningForbidden
from transcripts.models import Collection, Job, MediaFile, Video, YouTubeGate
from transcripts.text.cues import Cue

pytestmark = [pytest.mark.django_db, pytest.mark.youtube]
SILENT = "silent-vide"
SOUND = bytes(4) + b"ftypM4A " + bytes(3_000_000)


def offer(length: int) -> str:
    return f"It takes {length} ms."


@pytest.fixture(autouse=True)
def silent(youtube: YouTubeStandIn, settings: Any) -> YouTubeStandIn:
    settings.SPEECH_OFFER = f"{__name__}.offer"
    youtube.add_video(SILENT, title="A silent film", tracks=(), sound=SOUND, seconds=90)
    return youtube


def hear(job: Job) -> Video:
    """Let the job hear all of its file."""
    job.start()
    cue = Cue(0, 900, "Now it speaks.")
    about: Any = {"language": "en", "cues": [cue], "made_by": "Whisper base", "seconds": 9.0}
    listening.store(job, Heard(end=90_000, total=90_000, is_last=True, **about))
    return Video.objects.get()


def test_a_video_without_captions_is_heard_when_somebody_asks_for_it(
    collection: Collection, silent: YouTubeStandIn
) -> None:
    job = done(acquisition.request(collection, SILENT))
    assert (job.state, job.error_code) == (Job.State.FAILED, "no_captions")
    assert job.hint == "It takes 90000 ms."
    assert not silent.requests_for("/videoplayback")
    acquisition.retry(job, listens=True)
    assert done(job).kind == Job.Kind.VIDEO  # it waits at the gate again, for its sound
    assert done(job).kind == Job.Kind.LISTEN
    assert not job.needs_youtube
    assert (job.state, job.priority, job.total) == (Job.State.QUEUED, listening.PRIORITY, 90_000)
    assert str(job.video) == "A silent film"
    assert MediaFile.objects.get(job=job).size == len(SOUND)
    assert len(silent.requests_for("/videoplayback")) == 2  # of two megabytes
    video = hear(job)
    assert (video.youtube_id, video.channel, video.partial) == (SILENT, "Stand-in Channel", False)
    assert video.transcripts.get().made_by == "Whisper base"
    assert not MediaFile.objects.exists()  # YouTube plays it


def test_what_was_asked_for_at_first_or_is_always_allowed_is_not_asked_again(
    collection: Collection, silent: YouTubeStandIn
) -> None:
    job = done(acquisition.request(collection, SILENT, listens=True))
    assert done(job).kind == Job.Kind.LISTEN
    silent.add_playlist(PLAYLIST, [SILENT])
    other = Collection.objects.create(name="Films", slug="films", listening="always")
    done(acquisition.request(other, PLAYLIST))
    of_list = Job.objects.get(collection=other, target=SILENT)
    done(of_list)
    assert done(of_list).kind == Job.Kind.LISTEN


def test_where_it_is_forbidden_nobody_is_offered_it_and_asking_is_refused(
    collection: Collection, silent: YouTubeStandIn
) -> None:
    Collection.objects.update(listening="never")
    collection.refresh_from_db()
    job = done(acquisition.request(collection, SILENT))
    assert "takes" not in job.hint
    with pytest.raises(ListeningForbidden):
        acquisition.retry(job, listens=True)
    with pytest.raises(ListeningForbidden):
        acquisition.request(collection, SILENT, listens=True)
    assert not silent.requests_for("/videoplayback")


def test_a_refusal_of_the_sound_closes_the_gate_and_keeps_the_wish(
    collection: Collection, silent: YouTubeStandIn
) -> None:
    job = done(acquisition.request(collection, SILENT, listens=True))
    silent.blocked = True
    assert (done(job).state, job.listens) == (Job.State.QUEUED, Job.Listens.NOW)
    assert YouTubeGate.current().state == "closed"


def test_sound_that_is_too_large_or_missing_is_told(
    collection: Collection, silent: YouTubeStandIn, settings: Any
) -> None:
    settings.MAX_MEDIA_BYTES = 1_000_000
    job = done(acquisition.request(collection, SILENT, listens=True))
    assert done(job).error_code == "media_too_large"
    silent.change_video(SILENT, sound=b"")
    acquisition.retry(job)
    assert done(job).error_code == "unplayable"


def test_a_video_that_has_captions_is_heard_again_beside_them(
    collection: Collection, silent: YouTubeStandIn
) -> None:
    silent.add_video("first-video", sound=SOUND, seconds=90)
    video = done(acquisition.request(collection, "first-video")).video
    assert video
    job = listening.request_again(video)
    assert listening.request_again(video) == job
    assert done(job).kind == Job.Kind.LISTEN
    assert listening.request_again(video) == job
    hear(job)
    assert {row.origin for row in video.transcripts.all()} == {"manual", "heard"}

"""Recordings that are listened to: what is stored part by part, stopped, killed and heard again."""

from dataclasses import replace
from io import BytesIO
from typing import Any

import pytest

from tests.makers import make_cues, make_video
from transcripts.adding import acquisition, listening
from transcripts.adding.listening import Heard
from transcripts.captions.caption_errors import EmptyCaptions
from transcripts.core.errors import Conflict
from transcripts.core.scope import Scope
from transcripts.library import reading as library
from transcripts.media import files as media
from transcripts.models import Collection, HeardPart, Job, MediaFile, Transcript, Video
from transcripts.text.cues import Cue, Word

pytestmark = pytest.mark.django_db
SOUND = b"ID3" + bytes(2_000)
PART = 100_000  # ms


def heard(number: int, *words: str, parts: int = 3) -> Heard:
    """Return what is heard of part ``number`` of several, from 0."""
    start = number * PART
    cues = [
        Cue(start + 1_000 * place, start + 1_000 * place + 900, word, (Word(start, word, True),))
        for place, word in enumerate(words)
    ]
    return Heard(
        end=start + PART,
        total=parts * PART,
        is_last=number == parts - 1,
        language="en",
        cues=cues,
        made_by="Whisper base",
        seconds=40.0,
    )


def requested(collection: Collection, **about: Any) -> Job:
    job = listening.request(collection, BytesIO(SOUND), name="My talk.mp3", **about)
    job.start()
    return job


def texts(video: Video) -> list[str]:
    return [cue[2] for cue in Transcript.objects.get(video=video).cues]


def test_each_part_is_stored_and_read_while_the_next_ones_are_heard(
    collection: Collection, scope: Scope
) -> None:
    job = requested(collection, tags=["talks"])
    assert listening.store(job, heard(0, "Hello", "world"))
    video = library.find_video(scope, "My talk")
    assert (video.title, video.tags, video.partial) == ("My talk", ["talks"], True)
    assert texts(video) == ["Hello", "world"]
    assert (job.done, job.total, job.percent) == (PART, 3 * PART, 33)
    assert listening.seconds_left(job) == pytest.approx(80)
    assert listening.store(job, heard(1, "again"))
    assert not listening.store(job, heard(2, "end"))
    assert texts(video) == ["Hello", "world", "again", "end"]
    transcript = Transcript.objects.get()
    assert (transcript.origin, transcript.language) == ("heard", "en")
    assert (transcript.made_by, transcript.made_at is not None) == ("Whisper base", True)
    assert (transcript.word_times or [])[0] == [[0, "Hello", 1]]
    video.refresh_from_db()
    job.refresh_from_db()
    assert (video.partial, video.duration) == (False, 3 * PART)
    assert (job.state, job.video, job.state_text) == (Job.State.DONE, video, "heard")
    assert MediaFile.objects.get().video == video
    assert not HeardPart.objects.exists()


def test_an_attempt_goes_on_where_the_last_part_was_stored(collection: Collection) -> None:
    job = requested(collection)
    listening.store(job, heard(0, "one"))
    job.postpone()
    again = Job.objects.get(pk=job.pk)
    assert listening.heard_until(again) == PART
    assert not listening.store(again, heard(1))  # which nobody has begun
    again.start()
    assert (again.attempts, again.crashes) == (2, 2)
    listening.store(again, heard(1, "two", parts=3))
    assert (again.attempts, again.crashes) == (1, 1)  # kills count only while nothing is heard
    listening.store(again, heard(2, "three"))
    assert texts(Video.objects.get()) == ["one", "two", "three"]


def test_what_was_heard_of_a_stopped_job_is_kept_and_it_can_go_on(collection: Collection) -> None:
    job = requested(collection)
    for number in range(6):
        listening.store(job, heard(number, f"w{number}", parts=9))
    listening.store(job, heard(6, "w6", parts=9))  # stored; not in the transcript yet
    assert len(texts(Video.objects.get())) == 6
    listening.stop(job)
    assert len(texts(Video.objects.get())) == 7
    assert not listening.store(job, heard(7, "late", parts=9))
    stopped = Job.objects.get(pk=job.pk)
    assert (stopped.state, stopped.error_code) == (Job.State.FAILED, "listening_stopped")
    listening.stop(stopped)  # which changes nothing
    acquisition.retry(stopped)
    assert listening.heard_until(stopped) == 7 * PART


def test_a_recording_that_is_heard_again_keeps_its_captions_and_gets_others_beside_them(
    collection: Collection,
) -> None:
    video = make_video(collection, key="talk", cues=make_cues(3))
    media.replace(video, BytesIO(SOUND), name="talk.mp3")
    job = listening.request_again(video)
    assert listening.request_again(video) == job
    job.start()
    listening.store(job, heard(0, "one"))
    assert [row.origin for row in video.transcripts.all()] == ["upload"]
    listening.store(job, heard(1, "two", parts=2))
    assert {row.origin for row in video.transcripts.all()} == {"upload", "heard"}
    again = listening.request_again(video)
    again.start()
    listening.store(again, heard(0, "new"))
    assert [cue[2] for cue in video.transcripts.get(origin="heard").cues] == ["one", "two"]
    listening.store(again, heard(1, "text", parts=2))
    assert [cue[2] for cue in video.transcripts.get(origin="heard").cues] == ["new", "text"]
    video.refresh_from_db()
    assert not video.partial


def test_two_files_of_one_name_are_two_recordings(collection: Collection) -> None:
    for text in ("first", "second"):
        listening.store(requested(collection), heard(0, text, parts=1))
    assert {video.key: texts(video) for video in Video.objects.all()} == {
        "My talk": ["first"],
        "My talk (2)": ["second"],
    }


def test_a_recording_without_speech_or_that_was_deleted_is_told(collection: Collection) -> None:
    silent = requested(collection)
    assert listening.store(silent, heard(0))
    with pytest.raises(EmptyCaptions):
        listening.store(silent, heard(1, parts=2))
    job = requested(collection)
    listening.store(job, heard(0, "one"))
    Video.objects.get().delete()
    with pytest.raises(Conflict):
        listening.store(Job.objects.get(pk=job.pk), heard(1, "two"))
    assert not Video.objects.exists()


def test_a_file_without_captions_is_kept_until_somebody_has_it_heard(
    collection: Collection,
) -> None:
    job = listening.offer(collection, BytesIO(SOUND), name="talk.mp3", hint="It takes a minute.")
    assert (job.state, job.error_code) == (Job.State.FAILED, "media_without_captions")
    assert "talk.mp3" in job.error
    acquisition.retry(job)
    job.refresh_from_db()
    job.start()
    listening.store(job, replace(heard(0, "one"), is_last=True))
    assert Video.objects.get().key == "talk"


def test_a_job_that_does_other_work_is_not_stopped(collection: Collection) -> None:
    job = Job.objects.create(collection=collection, kind="files", target="a.vtt")
    with pytest.raises(Conflict):
        listening.stop(job)

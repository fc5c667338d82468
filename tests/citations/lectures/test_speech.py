"""Keeping what was said in a lecture as a recording."""

import pytest
from django.contrib.auth.models import User

from citations.ingest import discovery
from citations.lectures import sessions, speech
from citations.lectures.windows import Utterance
from citations.models import LectureSession, Source, Window
from tests.makers import make_video
from transcripts.core.errors import Conflict, InvalidInput
from transcripts.core.scope import Scope
from transcripts.library import reading as library
from transcripts.models import Collection, Video

pytestmark = pytest.mark.django_db


@pytest.fixture
def lecture(scope: Scope, owner: User, collection: Collection) -> LectureSession:
    return sessions.start(scope, owner, title="Networks, week 3", collection=collection)


def test_what_was_said_becomes_a_recording_with_its_times_title_and_date(
    lecture: LectureSession, owner: User, collection: Collection
) -> None:
    speech.push(lecture, [Utterance(0, "The error <runs> & backwards.", 5_000, 9_000)])
    speech.push(lecture, [Utterance(2, "Every weight learns.", 20_000), Utterance(1, "A remark.")])
    speech.end(lecture)
    video = speech.keep_recording(lecture, owner)
    transcript = video.transcripts.get()
    cues = [(cue.start, cue.end, cue.text) for cue in library.cues_of(transcript)]
    assert cues == [
        (5_000, 9_000, "The error <runs> & backwards."),
        (9_000, 20_000, "A remark."),
        (20_000, 21_000, "Every weight learns."),
    ]
    expected = ("Networks, week 3", lecture.created_at, collection, owner)
    assert (video.title, video.published_at, video.collection, video.added_by) == expected
    assert library.find_video(Scope(readable=frozenset({collection.pk})), str(lecture.uuid))
    lecture.refresh_from_db()
    assert lecture.transcript == transcript


def test_a_recording_of_pasted_text_is_found_as_a_source_of_its_collection(
    lecture: LectureSession, owner: User
) -> None:
    speech.say(lecture, "The error runs backwards.\nEvery weight learns its share.")
    speech.end(lecture)
    video = speech.keep_recording(lecture, owner)
    discovery.adopt()
    source = Source.objects.get(video=video)
    assert source.title == "Networks, week 3"
    texts = [cue.text for cue in library.cues_of(video.transcripts.get())]
    assert texts == ["The error runs backwards.", "Every weight learns its share."]


def test_windows_that_a_program_cut_are_kept_where_there_is_no_other_speech(
    lecture: LectureSession, owner: User
) -> None:
    Window.objects.create(session=lecture, index=0, text="A window of a program.")
    speech.end(lecture)
    video = speech.keep_recording(lecture, owner)
    texts = [cue.text for cue in library.cues_of(video.transcripts.get())]
    assert texts == ["A window of a program."]


def test_a_lecture_is_kept_once(lecture: LectureSession, owner: User) -> None:
    speech.say(lecture, "The error runs backwards.")
    speech.end(lecture)
    assert speech.keep_recording(lecture, owner) == speech.keep_recording(lecture, owner)
    assert Video.objects.count() == 1


def test_a_replay_has_its_recording(scope: Scope, owner: User, collection: Collection) -> None:
    video = make_video(collection)
    replay = sessions.start(scope, owner, collection=collection, transcript=video.transcripts.get())
    speech.end(replay)
    assert speech.keep_recording(replay, owner) == video
    assert Video.objects.count() == 1


def test_an_open_lecture_and_an_empty_one_are_not_kept(
    lecture: LectureSession, owner: User
) -> None:
    with pytest.raises(Conflict):
        speech.keep_recording(lecture, owner)
    speech.end(lecture)
    with pytest.raises(InvalidInput, match="Nothing was said"):
        speech.keep_recording(lecture, owner)
    assert not Video.objects.exists()


def test_a_lecture_whose_recording_was_deleted_can_be_kept_again(
    lecture: LectureSession, owner: User
) -> None:
    speech.say(lecture, "The error runs backwards.")
    speech.end(lecture)
    speech.keep_recording(lecture, owner).delete()
    again = speech.keep_recording(lecture, owner)
    lecture.refresh_from_db()
    assert lecture.transcript == again.transcripts.get()

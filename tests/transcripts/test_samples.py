"""The sample library."""

import json

import pytest

from transcripts import captions, samples
from transcripts.library import reading as library
from transcripts.models import Collection, Transcript, Video

pytestmark = pytest.mark.django_db

FILES = sorted(path for path in samples.FOLDER.iterdir() if path.suffix == ".vtt")


def test_the_samples_are_stored_once_however_often_they_are_loaded() -> None:
    first = samples.load()
    assert {stored.change for stored in samples.load()} == {"unchanged"}
    assert len(first) == Transcript.objects.count() == 4
    assert Video.objects.count() == 3


def test_the_samples_get_their_own_collection_or_a_given_one() -> None:
    samples.load()
    assert set(Video.objects.values_list("collection__slug", "collection__name")) == {
        ("samples", "Sample library")
    }
    other = Collection.objects.create(name="Other", slug="other")
    samples.load(other)
    assert other.videos.count() == 3


def test_a_sample_has_a_title_a_channel_chapters_and_no_youtube_address() -> None:
    samples.load()
    for video in Video.objects.all():
        assert video.title != video.key
        assert video.channel == "Cuebase samples"
        assert len(video.chapters) >= 5
        assert video.youtube_id == ""
        assert video.tags == ["sample"]


def test_one_talk_has_two_languages() -> None:
    samples.load()
    talk = Video.objects.get(key="why-captions-have-times")
    assert {transcript.language for transcript in talk.transcripts.all()} == {"en", "de"}
    assert library.find_transcript(talk).language == "en"
    assert "Untertitel" in library.read(talk, language="de").reading.text


def test_the_long_talk_has_several_chunks() -> None:
    samples.load()
    talk = Video.objects.get(key=samples.LONG)
    assert talk.duration > 12 * 60_000
    assert library.read(talk, chunk_index=2).reading.total_chunks >= 3


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_the_samples_are_spoken_at_a_natural_pace(path: object) -> None:
    cues = captions.parse(path.read_bytes(), name=path.name).cues  # type: ignore[attr-defined]
    words = sum(len(cue.text.split()) for cue in cues)
    assert 130 <= words / (cues[-1].end / 60_000) <= 165
    assert all(0 < cue.end - cue.start <= 8_000 for cue in cues)
    assert all(before.end <= after.start for before, after in zip(cues, cues[1:], strict=False))


def test_the_chapters_begin_where_their_first_sentence_does() -> None:
    for path in FILES:
        if ".en." in path.name:
            info = json.loads(
                path.with_name(path.name.replace(".en.vtt", ".info.json")).read_text()
            )
            starts = {
                cue.start for cue in captions.parse(path.read_bytes(), name=path.name).cues
            } | {0}
            assert all(
                round(chapter["start_time"] * 1000) in starts for chapter in info["chapters"]
            )

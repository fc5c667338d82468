"""Listing, finding, reading and searching videos."""

from contextlib import suppress
from typing import Any

import pytest

from tests.makers import caption_json, make_cues, make_video
from transcripts.adding import storage
from transcripts.core.errors import (
    CollectionNotFound,
    EmptyQuery,
    TranscriptNotFound,
    VideoNotFound,
)
from transcripts.core.scope import NOTHING, Scope
from transcripts.library import reading as library
from transcripts.library.reading import VideoFilter
from transcripts.models import Collection, TranscriptIndex, Video

pytestmark = pytest.mark.django_db


def test_a_video_is_found_by_its_id_youtube_id_and_addresses(
    collection: Collection, scope: Scope
) -> None:
    video = make_video(collection, key="talk-7", youtube_id="dQw4w9WgXcQ")
    for reference in (
        "talk-7",
        " talk-7 ",
        "dQw4w9WgXcQ",
        "https://youtu.be/dQw4w9WgXcQ?t=9",
        "https://www.youtube.com/watch?v=dQw4w9WgXcQ",
    ):
        assert library.find_video(scope, reference) == video


def test_a_video_outside_the_scope_does_not_exist(collection: Collection) -> None:
    make_video(collection, key="secret")
    for reference in ("secret", "never-was"):
        with pytest.raises(VideoNotFound) as caught:
            library.find_video(NOTHING, reference)
        assert reference in caught.value.message
    with pytest.raises(CollectionNotFound):
        library.list_videos(NOTHING, VideoFilter(collection="lectures"))


def test_an_id_with_blanks_umlauts_and_slashes_is_normalized(
    collection: Collection, scope: Scope
) -> None:
    make_video(collection, key="Über uns / Teil 1")
    assert library.find_video(scope, "Über uns / Teil 1").key == "Über uns - Teil 1"


def test_a_listing_is_newest_first_and_has_pages(collection: Collection, scope: Scope) -> None:
    made = [make_video(collection, key=f"v{n}") for n in range(5)]
    first = library.list_videos(scope, limit=3)
    rest = library.list_videos(scope, limit=3, offset=first.next or 0)
    assert [*first.videos, *rest.videos] == made[::-1]
    assert (first.total, first.next, rest.next) == (5, 3, None)


def test_a_listing_is_filtered_by_words_channel_tag_and_language(
    collection: Collection, scope: Scope
) -> None:
    make_video(collection, key="a", title="Neural networks", lang="en-GB")
    german = make_video(collection, key="b", title="Neuronale Netze", lang="de")
    Video.objects.filter(pk=german.pk).update(tags=["course"], channel="Uni")
    for wanted, keys in (
        (VideoFilter(words="neur net"), {"a", "b"}),
        (VideoFilter(words="networks"), {"a"}),
        (VideoFilter(language="en"), {"a"}),
        (VideoFilter(tag="course"), {"b"}),
        (VideoFilter(channel="uni"), {"b"}),
        (VideoFilter(collection="lectures"), {"a", "b"}),
    ):
        assert {video.key for video in library.list_videos(scope, wanted).videos} == keys


def test_search_ranks_the_matching_segment_first_and_links_to_it(
    collection: Collection, scope: Scope
) -> None:
    video = make_video(collection, youtube_id="dQw4w9WgXcQ", cues=make_cues(6, seconds=30))
    best = library.search(video, "backpropagation gradient").hits[0]
    assert best.text.startswith(("Backpropagation", "Each weight"))
    assert (
        best.timestamp_link == f"https://www.youtube.com/watch?v=dQw4w9WgXcQ&t={int(best.start)}s"
    )
    assert all(
        best.text[start:end].casefold() in {"backpropagation", "gradient"}
        for start, end in best.spans
    )


def test_the_link_of_a_file_points_to_this_server(collection: Collection) -> None:
    video = make_video(collection)
    assert (
        library.search(video, "networks").hits[0].timestamp_link
        == f"http://127.0.0.1:8000/videos/{video.pk}/?t=0s"
    )


def test_words_are_compared_as_they_are_typed_where_the_setting_says_so(
    collection: Collection, settings: Any
) -> None:
    video = make_video(collection, cues=make_cues(6, seconds=30))
    assert library.search(video, "gradients").hits
    settings.TRANSCRIPT_WORD_FORMS = False
    assert not library.search(video, "backpropagations").hits
    assert library.search(video, "backpropagation").hits


def test_search_without_words_or_transcript_raises(collection: Collection) -> None:
    video = make_video(collection, lang="en")
    with pytest.raises(EmptyQuery):
        library.search(video, "  ")
    with pytest.raises(TranscriptNotFound) as caught:
        library.search(video, "networks", language="fr")
    assert "en" in caught.value.hint
    assert library.search(video, "zebra").hits == ()


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("my_first-talk.en.vtt", "my first-talk"),
        ("algebra-lesson-2.vtt", "algebra lesson 2"),
        ("A-b_c-D_e-1.vtt", "A-b_c-D_e-1"),  # an id of YouTube
    ],
)
def test_a_caption_file_without_a_title_is_called_by_its_name(
    collection: Collection, name: str, title: str
) -> None:
    captions = b"WEBVTT\n\n00:01.000 --> 00:02.000\nhello there\n"
    assert storage.add_captions(collection, captions, name=name).video.title == title


def test_a_changed_transcript_is_read_anew(collection: Collection) -> None:
    video = make_video(collection)
    assert not library.search(video, "zebra").hits
    make_video(collection, cues=[*make_cues(59), make_cues(1, sentences=["A zebra."])[0]])
    assert library.search(video, "zebra").hits


def test_a_missing_or_outdated_index_is_rebuilt(collection: Collection) -> None:
    video = make_video(collection)
    expected = library.search(video, "error 404").hits
    TranscriptIndex.objects.all().delete()
    library._index.cache_clear()
    assert library.search(video, "error 404").hits == expected


def test_a_second_search_loads_no_long_column(
    collection: Collection, django_assert_max_num_queries: object
) -> None:
    video = make_video(collection)
    library.search(video, "networks")
    with django_assert_max_num_queries(1):  # type: ignore[operator]
        library.search(video, "gradient")


def test_a_preferred_language_and_a_manual_transcript_come_first(collection: Collection) -> None:
    video = make_video(collection, lang="de")
    make_video(collection, lang="en-US")
    assert library.find_transcript(video).language == "en-US"
    assert library.find_transcript(video, language="en-GB").language == "en-US"
    assert library.find_transcript(video, language="de").language == "de"
    assert library.find_transcript(video, language="Deutsch").language == "de"
    storage.add_captions(
        collection,
        b"WEBVTT\n\n00:01.000 --> 00:02.000\nhello there\n",
        name="lecture-1.en-US.auto.vtt",
    )
    assert library.find_transcript(video, language="en").origin == "upload"


@pytest.mark.parametrize(
    "hostile", ["a\x00b", "\ud800", "x" * 100_000, "%", "'; DROP TABLE", "\u202e"]
)
def test_no_input_makes_the_database_fail(
    collection: Collection, scope: Scope, hostile: str
) -> None:
    video = make_video(collection)
    assert library.list_videos(
        scope, VideoFilter(words=hostile, channel=hostile, tag=hostile, language=hostile)
    ).total in (0, 1)
    with pytest.raises(VideoNotFound) as caught:
        library.find_video(scope, hostile)
    caught.value.message.encode()
    with pytest.raises(CollectionNotFound):
        library.find_collection(scope, hostile)
    with suppress(EmptyQuery):
        assert library.search(video, hostile).hits == ()


def test_each_of_several_transcripts_in_one_language_has_a_name(collection: Collection) -> None:
    video = make_video(collection, key="talk")
    auto = storage.add_captions(
        collection, caption_json(make_cues(3, seconds=7)), name="talk.en.auto.json"
    ).transcript
    german = storage.add_captions(
        collection, caption_json(make_cues(3)), name="talk.de.auto.json"
    ).transcript
    uploaded = video.transcripts.get(language="en", origin="upload")
    assert library.tracks(video) == ["de", "en", "en.auto"]
    for name, wanted in (
        ("", uploaded),
        ("en", uploaded),
        ("en.auto", auto),
        ("EN.Auto", auto),
        ("de", german),
        ("de.auto", german),
    ):
        assert library.find_transcript(video, language=name) == wanted
    with pytest.raises(TranscriptNotFound) as caught:
        library.find_transcript(video, language="de.upload")
    assert "de, en, en.auto" in caught.value.hint


def test_a_transcript_of_unknown_language_can_be_read(collection: Collection) -> None:
    video = make_video(collection, key="talk", lang="")
    assert library.find_transcript(video).language == ""
    assert library.tracks(video) == []
    with pytest.raises(TranscriptNotFound) as caught:
        library.find_transcript(video, language="en")
    assert "unknown" in caught.value.hint


def test_tags_are_those_of_visible_videos(collection: Collection, scope: Scope) -> None:
    make_video(collection)
    Video.objects.update(tags=["b", "a"])
    other = make_video(Collection.objects.create(name="Hidden", slug="hidden"))
    Video.objects.filter(pk=other.pk).update(tags=["secret"])
    assert library.tags(scope) == ["a", "b"]

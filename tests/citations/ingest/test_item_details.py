"""The title, tags and language of an item, corrected by a person."""

from typing import Any

import pytest

from citations.ingest import discovery, item_details
from citations.ingest.item_details import ItemDetails, details_of
from citations.ingest.selection import select
from citations.lectures import sessions
from citations.models import Source, State
from tests.makers import make_cues, make_document, make_source, make_video
from transcripts.adding import storage
from transcripts.captions import to_vtt
from transcripts.core.errors import InvalidInput
from transcripts.core.scope import Scope
from transcripts.models import CaptionOrigin, Collection, Transcript, Video


@pytest.fixture
def talk(collection: Collection) -> Video:
    return make_video(collection, tags=["old"])


def edit(row: Any, title: str = "", **details: str) -> list[Source]:
    return item_details.edit(row, ItemDetails(title=title or str(row), **details))


def test_what_a_person_wrote_survives_adding_the_recording_again(collection: Collection) -> None:
    talk = make_video(collection)
    edit(talk, "  My\n title ", tags="one, two,, one")
    make_video(collection, cues=make_cues(61))
    talk.refresh_from_db()
    assert (talk.title, talk.tags) == ("My title", ["one", "two"])
    assert talk.edited == ["tags", "title"]


def test_tags_of_another_addition_join_those_of_a_person(collection: Collection) -> None:
    talk = make_video(collection)
    edit(talk, tags="mine")
    data = to_vtt(make_cues()).encode()
    storage.add_captions(collection, data, name="x.en.vtt", key=talk.key, tags=["new"])
    talk.refresh_from_db()
    assert talk.tags == ["mine", "new"]


def test_an_unchanged_form_changes_nothing(talk: Video) -> None:
    before = details_of(talk)
    assert item_details.edit(talk, before) == []
    talk.refresh_from_db()
    assert talk.edited == []


def test_a_recording_of_a_file_is_indexed_again_in_its_true_language(talk: Video) -> None:
    source = make_source(talk)
    assert edit(talk, language="DE-at") == [source]
    source.refresh_from_db()
    assert (source.language, source.state, source.digest) == ("de-at", State.PENDING, "")
    assert Transcript.objects.get().language == "de-at"
    discovery.adopt()
    assert Source.objects.get().language == "de-at"


def test_the_same_language_written_otherwise_changes_nothing(talk: Video) -> None:
    edit(talk, language="pt-br")
    assert edit(talk, language="Brazilian Portuguese") == []
    assert Transcript.objects.get().language == "pt-br"


def test_what_looks_like_a_language_but_is_none_is_refused(talk: Video) -> None:
    with pytest.raises(InvalidInput, match="No language is known as “qx”"):
        edit(talk, language="qx")


def test_a_file_that_tells_no_language_keeps_the_corrected_one(collection: Collection) -> None:
    talk = make_video(collection, lang="")
    edit(talk, language="de")
    make_video(collection, lang="", cues=make_cues(61))
    assert Transcript.objects.get().language == "de"


def test_the_language_of_a_video_is_what_youtube_says(collection: Collection) -> None:
    talk = make_video(collection)
    Video.objects.update(youtube_id="dQw4w9WgXcQ")
    Transcript.objects.update(origin=CaptionOrigin.MANUAL)
    talk.refresh_from_db()
    assert details_of(talk).language is None
    edit(talk, language="de")
    assert Transcript.objects.get().language == "en"


def test_the_language_of_a_file_is_corrected_though_it_names_its_video(
    collection: Collection,
) -> None:
    named: dict[str, Any] = {"lang": "", "youtube_id": "dQw4w9WgXcQ"}
    talk = make_video(collection, **named)
    assert talk.youtube_id
    source = make_source(talk, language="")
    assert edit(talk, title=str(talk), language="de") == [source]
    assert Transcript.objects.get().language == "de"
    fetched = Transcript.objects.get()
    fetched.pk, fetched.language, fetched.origin = None, "en", CaptionOrigin.AUTO
    fetched.save()
    assert details_of(talk).language == "de"
    make_video(collection, cues=make_cues(61), **named)
    expected = {("de", CaptionOrigin.UPLOAD), ("en", CaptionOrigin.AUTO)}
    assert set(Transcript.objects.values_list("language", "origin")) == expected


def test_a_document_and_a_lecture_are_edited(collection: Collection, scope: Scope) -> None:
    notes = make_document(collection, ["Ice."], language="en")
    assert edit(notes, "Ice", tags="a", language="de") == [notes]
    notes.refresh_from_db()
    assert (notes.title, notes.tags, notes.language) == ("Ice", ["a"], "de")
    lecture = sessions.start(scope, None, title="Old", collection=collection.slug)
    edit(lecture, "New", language="fr", tags="ignored")
    lecture.refresh_from_db()
    assert (lecture.title, lecture.language) == ("New", "fr")


def test_several_items_get_a_language_at_once_but_not_what_youtube_names(
    collection: Collection, scope: Scope
) -> None:
    talk, watched = make_video(collection), make_video(collection, key="b")
    Transcript.objects.filter(video=watched).update(origin=CaptionOrigin.MANUAL)
    Video.objects.filter(pk=watched.pk).update(youtube_id="dQw4w9WgXcQ")
    source, notes = make_source(talk), make_document(collection, ["Ice."], language="en")
    rows = [f"video-{talk.pk}", f"video-{watched.pk}", f"document-{notes.pk}"]
    chosen = select(scope, rows)
    assert item_details.set_language(chosen, "de") == (2, [source, notes])
    expected = {(talk.pk, "de"), (watched.pk, "en")}
    assert set(Transcript.objects.values_list("video", "language")) == expected
    with pytest.raises(InvalidInput, match="No language"):
        item_details.set_language(chosen, " ")


@pytest.mark.parametrize(
    "details",
    [
        {"title": " \x00\n"},
        {"title": "x" * 301},
        {"tags": "x" * 101},
        {"tags": ",".join(map(str, range(51)))},
        {"language": "klingon"},
        {"language": "xx"},
        {"language": "en-" + "a" * 40},
        {"language": "e\u0435"},
    ],
)
def test_what_does_not_fit_is_refused(talk: Video, details: dict[str, str]) -> None:
    with pytest.raises(InvalidInput):
        edit(talk, **details)
    talk.refresh_from_db()
    assert (talk.title, talk.edited) == ("Lecture 1", [])

"""The title, tags and language of an item, corrected by a person."""

from typing import Any

import pytest
from django.contrib.auth.models import User

from citations.ingest import discovery, item_details
from citations.ingest import pipeline as ingest_pipeline
from citations.ingest.item_details import ItemDetails, details_of
from citations.ingest.selection import select
from citations.lectures import sessions
from citations.models import Answer, Chunk, Source, State
from citations.notebook import conversations, highlights
from citations.notebook.highlights import HighlightNotes, SelectedText
from citations.quotes import source_texts
from tests.contention import run_against
from tests.makers import (
    caption_json,
    make_citation,
    make_cues,
    make_document,
    make_source,
    make_video,
)
from transcripts import captions
from transcripts.adding import storage, transcript_rows
from transcripts.adding.transcript_rows import StorageChange
from transcripts.captions import to_vtt
from transcripts.core.audit import Action
from transcripts.core.errors import InvalidInput
from transcripts.core.scope import Scope
from transcripts.models import (
    AuditEntry,
    CaptionOrigin,
    Collection,
    Transcript,
    TranscriptIndex,
    Video,
)
from transcripts.text import bm25
from transcripts.text.terms import words_in

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("fake_models")]

SAID = (
    "Speaker 0: A note tells what was thought.",
    "It is written once and read often.",
    "Speaker 1: A programme tells a machine what to do.",
    "Speaker 0: And nobody reads it twice.",
)


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


@pytest.fixture
def source(collection: Collection) -> Source:
    """A conversation of two without names, indexed."""
    video = make_video(collection, key="talk", cues=make_cues(40, sentences=SAID))
    discovery.adopt()
    source = Source.objects.get(video=video)
    ingest_pipeline.ingest(source.pk)
    source.refresh_from_db()
    return source


def rename(source: Source, speaker: str, name: str) -> str:
    """Rename a speaker, and let a worker index what changed."""
    transcript = Transcript.objects.get(pk=source.transcript_id)
    label, sources = item_details.rename_speaker(transcript, speaker, name)
    for stale in sources:
        assert stale.state == State.PENDING
        discovery.adopt()
        ingest_pipeline.ingest(stale.pk)
    source.refresh_from_db()
    return label


def add_again(source: Source, cues: Any) -> StorageChange:
    data = caption_json(cues, id="talk", title="Lecture 1", lang="en")
    return storage.add_captions(source.collection, data, name="talk.json").change


def said(source: Source) -> str:
    return " ".join(row[2] for row in Transcript.objects.get(pk=source.transcript_id).cues)


def test_a_name_stands_in_the_transcript_in_its_index_and_in_what_a_search_finds(
    source: Source,
) -> None:
    assert rename(source, "Speaker 1", " ada  lovelace ") == "Ada Lovelace"
    assert "Ada Lovelace: A programme" in said(source)
    assert "Speaker 1" not in said(source)
    assert said(source).count("Speaker 0: ") == 20
    assert source.state == State.READY
    stored = TranscriptIndex.objects.get(transcript=source.transcript_id).data
    assert bm25.Index.from_bytes(bytes(stored)).rank(words_in("lovelace", "en"), limit=1)
    assert Chunk.objects.filter(source=source, text__contains="Ada Lovelace: ").exists()
    text = source_texts.of(source)
    first = text.text.index("A programme")
    assert text.speaker_of((first, first + 9)) == "Ada Lovelace"
    entry = AuditEntry.objects.filter(action=Action.CHANGE).latest("pk")
    assert entry.details == {"fields": ["speakers"]}


def test_a_name_survives_the_same_captions_and_others(source: Source) -> None:
    rename(source, "Speaker 1", "Ada")
    assert add_again(source, make_cues(40, sentences=SAID)) is StorageChange.UNCHANGED
    assert add_again(source, make_cues(44, sentences=SAID)) is StorageChange.UPDATED
    assert said(source).count("Ada: ") == 11
    assert add_again(source, make_cues(44, sentences=SAID)) is StorageChange.UNCHANGED
    transcript = Transcript.objects.get(pk=source.transcript_id)
    assert transcript_rows.reparse(transcript) is StorageChange.UNCHANGED
    assert not transcript.has_added_stops


def test_a_name_is_taken_back(source: Source) -> None:
    before = said(source)
    rename(source, "Speaker 1", "Ada")
    rename(source, "Ada", "Ada Lovelace")
    rename(source, "Ada Lovelace", "Speaker 1")
    assert said(source) == before
    assert Transcript.objects.get(pk=source.transcript_id).speaker_names == {}
    assert add_again(source, make_cues(40, sentences=SAID)) is StorageChange.UNCHANGED


def test_an_answer_quotes_the_speaker_by_the_new_name(
    source: Source, scope: Scope, owner: User
) -> None:
    text = "Speaker 1: A programme tells a machine what to do."
    claims = [
        {"text": text, "citations": [1], "is_supported": True},
        {"text": "Speaker 1: of another source.", "citations": [2], "is_supported": True},
    ]
    answer = Answer.objects.create(
        conversation=conversations.begin(scope, owner),
        ordinal=1,
        question="?",
        claims=claims,
        state="answered",
    )
    make_citation(answer, source, text)
    rename(source, "Speaker 1", "Ada")
    answer.refresh_from_db()
    expected = ["Ada: A programme tells a machine what to do.", "Speaker 1: of another source."]
    assert [claim["text"] for claim in answer.claims] == expected
    assert answer.citations.get().quote == answer.claims[0]["text"]


def test_a_highlight_keeps_its_place_and_has_the_name(
    source: Source, scope: Scope, owner: User
) -> None:
    selected = SelectedText(exact="Speaker 1: A programme tells a machine what to do.")
    kept = highlights.keep(scope, owner, source, selected, HighlightNotes(), start=10_000)
    assert kept.placed.row.speaker == "Speaker 1"
    rename(source, "Speaker 1", "Ada")
    (placed,) = highlights.in_source(scope, owner, source)
    assert placed.row.speaker == "Ada"
    assert placed.locator is not None
    assert placed.locator.start == 10_000


@pytest.mark.parametrize(
    ("speaker", "name", "message"),
    [
        ("Speaker 1", " :: ", "empty"),
        ("Speaker 1", "A name of five words", "at most four words"),
        ("Speaker 1", "007", "begins with a letter"),
        ("Speaker 7", "Ada", "Nobody is called"),
        ("", "Ada", "Nobody is called"),
        ("Speaker 1", "speaker 0", "Somebody else is called “Speaker 0”"),
    ],
)
def test_what_is_no_name_or_nobody_s_is_refused_and_nothing_changes(
    source: Source, speaker: str, name: str, message: str
) -> None:
    before = said(source)
    with pytest.raises(InvalidInput) as refused:
        rename(source, speaker, name)
    assert message in f"{refused.value.message} {refused.value.hint}"
    assert said(source) == before


@pytest.mark.django_db(transaction=True)
def test_two_people_at_once_cannot_give_two_speakers_the_same_name(source: Source) -> None:
    transcript = Transcript.objects.get(pk=source.transcript_id)
    with pytest.raises(InvalidInput, match="Somebody else is called “Ada”"):
        run_against(
            lambda: item_details.rename_speaker(transcript, "Speaker 1", "Ada"),
            lock=lambda: transcript_rows.lock(Transcript.objects.get(pk=transcript.pk)),
            write=lambda: rename(source, "Speaker 0", "Ada"),
        )
    assert said(source).count("Ada: ") == 20
    assert said(source).count("Speaker 1: ") == 10


def test_word_times_stay(collection: Collection, source: Source) -> None:
    transcript = Transcript.objects.get(pk=source.transcript_id)
    transcript.word_times = [[[row[0], word] for word in row[2].split()] for row in transcript.cues]
    transcript.save()
    rename(source, "Speaker 1", "Ada")
    transcript.refresh_from_db()
    cues = captions.from_json(transcript.cues, word_times=transcript.word_times)
    expected = ["A", "programme", "tells", "a", "machine", "what", "to", "do.", "Point", "2."]
    assert [word.text for word in cues[2].words] == expected
    assert cues[0].words[0].text == "Speaker"

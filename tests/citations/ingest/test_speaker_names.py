"""Speakers get names from a person, which stand wherever the captions name them."""

from typing import Any

import pytest
from django.contrib.auth.models import User

from citations.ingest import discovery, item_details
from citations.ingest import pipeline as ingest_pipeline
from citations.models import Answer, Chunk, Source, State
from citations.notebook import conversations, highlights
from citations.notebook.highlights import HighlightNotes, SelectedText
from citations.quotes import source_texts
from tests.contention import run_against
from tests.makers import caption_json, make_citation, make_cues, make_video
from transcripts import captions
from transcripts.adding import storage, transcript_rows
from transcripts.adding.transcript_rows import StorageChange
from transcripts.core.audit import Action
from transcripts.core.errors import InvalidInput
from transcripts.core.scope import Scope
from transcripts.models import AuditEntry, Collection, Transcript, TranscriptIndex
from transcripts.text import bm25

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("fake_models")]

SAID = (
    "Speaker 0: A note tells what was thought.",
    "It is written once and read often.",
    "Speaker 1: A programme tells a machine what to do.",
    "Speaker 0: And nobody reads it twice.",
)


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
    assert bm25.Index.from_bytes(bytes(stored)).rank("lovelace", limit=1)
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

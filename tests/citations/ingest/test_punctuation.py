"""Captions without full stops get some, once, and stay the captions that were fetched."""

from typing import Any

import pytest

from citations.errors import ModelMissing
from citations.ingest import discovery, punctuation
from citations.ingest import pipeline as ingest_pipeline
from citations.models import Source, State
from citations.quotes import source_texts
from citations.text.sentences import is_punctuated, split
from tests.citations.providers.test_punctuation import SENTENCES
from tests.makers import caption_json, make_cues, make_video
from transcripts import bm25, storage
from transcripts.cues import Cue
from transcripts.models import Collection, Transcript, TranscriptIndex
from transcripts.storage import StorageChange

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("fake_models")]

GERMAN = (
    "wir sprechen heute über grenzwerte und über funktionen die ihnen nahe kommen",
    "das bild hier zeigt eine kurve und daneben steht der punkt um den es geht",
)


@pytest.fixture(autouse=True)
def full_stops(settings: Any, fake_models: None) -> None:
    settings.ADD_FULL_STOPS = True


def captions(sentences: tuple[str, ...] = SENTENCES, *, times: int = 4) -> list[Cue]:
    """Cut speech without marks into cues of six words."""
    words = " ".join(sentences * times).split()
    pieces = [" ".join(words[n : n + 6]) for n in range(0, len(words), 6)]
    return [Cue(n * 2_000, (n + 1) * 2_000, piece) for n, piece in enumerate(pieces)]


def ingested(collection: Collection, cues: list[Cue], **about: Any) -> Source:
    video = make_video(collection, cues=cues, **about)
    discovery.adopt()
    source = Source.objects.get(video=video)
    ingest_pipeline.ingest(source.pk)
    source.refresh_from_db()
    return source


def said(source: Source) -> str:
    return source_texts.of(source).text


def plain(text: str) -> str:
    return text.replace(".", "").replace("?", "").casefold()


def test_captions_without_full_stops_get_some_and_keep_their_words(collection: Collection) -> None:
    cues = captions()
    source = ingested(collection, cues)
    text = said(source)
    assert is_punctuated(text[first:last] for first, last in split(text))
    assert "A limit is the value that a function comes close to." in text
    assert plain(text) == plain(" ".join(cue.text for cue in cues))
    assert source.transcript is not None
    assert source.transcript.has_added_stops


def test_the_source_is_ready_and_not_stale_afterwards(collection: Collection) -> None:
    source = ingested(collection, captions())
    assert source.state == State.READY
    assert discovery.adopt() == []


def test_the_same_captions_fetched_again_change_nothing(collection: Collection) -> None:
    cues = captions()
    source = ingested(collection, cues)
    before = said(source)
    data = caption_json(cues, id="lecture-1", title="Lecture 1", lang="en")
    stored = storage.add_captions(collection, data, name="lecture-1.json")
    assert stored.change is StorageChange.UNCHANGED
    source.refresh_from_db()
    assert said(source) == before


def test_other_captions_replace_them_and_get_full_stops_of_their_own(
    collection: Collection,
) -> None:
    source = ingested(collection, captions())
    again = ingested(collection, captions(times=6))
    assert again.pk == source.pk
    assert again.transcript is not None
    assert again.transcript.has_added_stops
    assert len(said(again)) > 300


def test_the_words_index_of_the_video_follows(collection: Collection) -> None:
    source = ingested(collection, captions())
    index = TranscriptIndex.objects.get(transcript=source.transcript)
    assert source.transcript is not None
    assert index.digest == source.transcript.digest
    assert bm25.Index.from_bytes(bytes(index.data))


@pytest.mark.parametrize(
    ("name", "cues"),
    [
        ("full stops", make_cues(60)),
        ("another language", captions(GERMAN, times=12)),
        ("few words", captions(times=1)),
    ],
)
def test_captions_stay_as_they_are_with(collection: Collection, name: str, cues: list[Cue]) -> None:
    source = ingested(collection, cues)
    assert said(source) == " ".join(cue.text for cue in cues)
    assert source.transcript is not None
    assert not source.transcript.has_added_stops


def test_the_setting_turns_it_off(collection: Collection, settings: Any) -> None:
    settings.ADD_FULL_STOPS = False
    assert "." not in said(ingested(collection, captions()))


def test_without_the_model_a_source_becomes_ready_as_it_is(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing() -> None:
        raise ModelMissing("The model is not on this machine.")

    monkeypatch.setattr(punctuation, "Punctuator", missing)
    source = ingested(collection, captions())
    assert source.state == State.READY
    assert "." not in said(source)


def test_captions_that_are_replaced_meanwhile_are_not_overwritten(collection: Collection) -> None:
    video = make_video(collection, cues=captions())
    before = Transcript.objects.get(video=video)
    make_video(collection, cues=captions(times=6))
    assert not storage.add_marks(before, captions(times=4))
    assert Transcript.objects.get(video=video).characters > before.characters

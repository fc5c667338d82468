"""Captions without full stops get some, once, and stay the captions that were fetched."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from citations.errors import ModelMissing
from citations.ingest import discovery, punctuation
from citations.ingest import pipeline as ingest_pipeline
from citations.models import Source, State
from citations.providers import punctuation as model
from citations.providers.punctuation import Numbers, Punctuator
from citations.quotes import matching, source_texts
from citations.quotes.matching import Verdict
from citations.text.sentences import is_punctuated, split
from tests.citations.providers.test_punctuation import SENTENCES
from tests.makers import caption_json, make_cues, make_video
from transcripts.adding import storage, transcript_rows
from transcripts.adding.transcript_rows import StorageChange
from transcripts.models import Collection, Transcript, TranscriptIndex, Video
from transcripts.text import bm25
from transcripts.text.cues import Cue

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


def test_a_quote_across_an_added_question_mark_is_verbatim(collection: Collection) -> None:
    source = ingested(collection, captions())
    text = said(source)
    assert "on the left side? The values" in text
    for quote in (
        "happens on the left side the values become larger",
        "what happens on the left side",
        "what happens on the left side? The values",
    ):
        check = matching.check(quote, source_texts.prepared(source))
        assert check.verdict is Verdict.VERBATIM, quote


def test_parsing_the_original_again_takes_them_away_until_the_next_indexing(
    collection: Collection,
) -> None:
    source = ingested(collection, captions())
    assert source.transcript is not None
    assert transcript_rows.reparse(source.transcript) is StorageChange.UPDATED
    assert "." not in source_texts.of(Source.objects.get(pk=source.pk)).text
    [stale] = discovery.adopt()
    ingest_pipeline.ingest(stale.pk)
    assert "." in source_texts.of(Source.objects.get(pk=source.pk)).text


def test_a_model_that_cannot_be_loaded_delays_nothing(
    collection: Collection, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(model, "TRAINED", tmp_path / "missing")
    source = ingested(collection, captions())
    assert source.state == State.READY
    assert "." not in said(source)


def test_chapters_that_change_meanwhile_are_not_overlooked(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    def probabilities(self: Punctuator, words: Sequence[str]) -> Iterator[Numbers]:
        Video.objects.update(chapters=[[0, "Limits"]])
        return original(self, words)

    original = Punctuator.probabilities
    monkeypatch.setattr(Punctuator, "probabilities", probabilities)
    source = ingested(collection, captions())
    assert [stale.pk for stale in discovery.adopt()] == [source.pk]


def test_a_language_that_is_corrected_meanwhile_stays(collection: Collection) -> None:
    transcript = Transcript.objects.get(video=make_video(collection, cues=captions()))
    transcript_rows.correct_language(Transcript.objects.get(pk=transcript.pk), "de")
    assert not transcript_rows.add_full_stops(transcript, captions())
    assert Transcript.objects.get(pk=transcript.pk).language == "de"


def test_a_speech_of_two_languages_stays_as_it_is() -> None:
    english, german = " ".join(SENTENCES * 40), " ".join(GERMAN * 40)
    assert punctuation.lacks_stops(english)
    assert not punctuation.lacks_stops(f"{english} {german}")


@pytest.mark.parametrize("length", [1_000, 3_999, 4_001, 20_003, 100_007])
def test_speech_of_any_length_is_known_to_lack_stops(length: int) -> None:
    speech = (" ".join(SENTENCES) + " ") * 400
    assert punctuation.lacks_stops(speech[:length])


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
    assert not transcript_rows.add_full_stops(before, captions(times=4))
    assert Transcript.objects.get(video=video).characters > before.characters

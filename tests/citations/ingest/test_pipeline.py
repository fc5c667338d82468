"""What is added becomes what is found: by words at once, by meaning a little later, and never
twice.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from io import BytesIO
from typing import Any

import pytest
from django.db import connection
from django.db.models.functions import Length
from django.utils import timezone
from numpy.typing import NDArray

from citations.documents import storage as document_storage
from citations.errors import ModelMissing, ModelRefused, ModelServerError
from citations.ingest import discovery, lanes
from citations.ingest import pipeline as ingest_pipeline
from citations.ingest.time_left import TextInWork
from citations.lexical import index as lexical_index
from citations.lexical.query import parse
from citations.library.filters import Filter, resolve
from citations.models import Chunk, Chunking, Embedding, LexEntry, Page, Source, State
from citations.providers import registry
from citations.providers.embedding import HashEmbedder
from citations.schemas.search import SourceOut
from citations.vectors import space as vector_space
from citations.vectors import store as vector_store
from tests.connections import another_connection
from tests.fake_llm import FakeLlm
from tests.makers import make_cues, make_video
from tests.model_standin import ModelStandIn
from tests.text_server import LENGTH, TextServer
from transcripts.core.errors import Retry
from transcripts.core.locks import Lock
from transcripts.core.scope import Scope
from transcripts.core.work.models import POLICIES
from transcripts.models import Collection, Transcript, Video
from transcripts.text.cues import Cue

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("fake_models")]


def fail_with(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    """Let the model fail, whatever it is given."""

    def embed(self: HashEmbedder, texts: Sequence[str]) -> NDArray[Any]:
        raise error

    monkeypatch.setattr(HashEmbedder, "embed_documents", embed)


def indexed(collection: Collection, **about: Any) -> Source:
    """Make a video and let its source be found by meaning."""
    video = make_video(collection, **about)
    discovery.adopt()
    return ingest(Source.objects.get(video=video))


def ingest(source: Source) -> Source:
    """Do what is left for it, and return it as it is then."""
    ingest_pipeline.ingest(source.pk)
    source.refresh_from_db()
    return source


def by_words(scope: Scope, words: str) -> list[str]:
    """Return the texts found by words."""
    places = [
        hit.position
        for hit in lexical_index.search(parse(words), limit=50, resolved=resolve(scope, Filter()))
    ]
    texts = dict(Chunk.objects.filter(position__in=places).values_list("position", "text"))
    return [texts[place] for place in places]


def state_of(source: Source) -> tuple[str, str]:
    """Return its state and the code of its error."""
    source.refresh_from_db()
    return source.state, source.error_code


def rows() -> dict[str, tuple[int, int]]:
    """Return each chunk's primary key and its vector's, by its text."""
    return {
        text: (pk, vector)
        for pk, text, vector in Chunk.objects.values_list("pk", "text", "embeddings")
    }


# Finding


def test_a_new_video_is_found_by_words_before_anything_is_embedded(
    collection: Collection, scope: Scope
) -> None:
    make_video(collection)
    assert ingest_pipeline.index_words() == 1
    source = Source.objects.get()
    assert (source.state, source.chunking) == (State.WORDS, Chunking.MEANING)
    assert source.chunk_count == Chunk.objects.count() > 0
    assert by_words(scope, "backpropagation")
    assert not Embedding.objects.exists()
    assert vector_space.locked() is None


def test_after_its_ingest_it_is_found_by_meaning(collection: Collection, scope: Scope) -> None:
    source = indexed(collection)
    expected = (State.READY, Chunking.MEANING, "", 0)
    assert (source.state, source.chunking, source.step, source.attempts) == expected
    space = vector_space.active()
    assert space is not None
    assert not vector_store.missing(space)
    chunk = Chunk.objects.order_by("pk")[2]
    near = vector_space.nearest(
        vector_space.embedder_of(space).embed_query(chunk.text),
        space=space,
        limit=3,
        resolved=resolve(scope, Filter()),
    )
    assert near[0].chunk == chunk.pk
    assert near[0].cosine > 0.99


def test_chunks_are_pieces_of_the_text_and_keep_their_times(collection: Collection) -> None:
    source = indexed(collection)
    text = " ".join(cue.text for cue in make_cues())
    chunks = list(source.chunks.order_by("ordinal"))
    assert [chunk.ordinal for chunk in chunks] == list(range(len(chunks)))
    assert all(chunk.text == text[chunk.span_start : chunk.span_end] for chunk in chunks)
    assert chunks[0].start == 0
    assert chunks[-1].end == 300_000
    assert source.characters == len(text)


def test_where_the_local_model_is_missing_chunks_end_with_sentences(
    collection: Collection, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(self: HashEmbedder, **_: Any) -> None:
        raise ModelMissing("The model is not on this machine.")

    monkeypatch.setattr(HashEmbedder, "__init__", missing)
    monkeypatch.setattr(registry, "word_vectors", lambda: None)
    make_video(collection)
    (source,) = discovery.adopt()
    ingest(source)
    expected = (State.WORDS, Chunking.SENTENCES, "model_missing")
    assert (source.state, source.chunking, source.error_code) == expected


def test_progress_is_told_and_others_have_their_turn_between_batches(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_store, "BATCH", 4)
    make_video(collection)
    (source,) = discovery.adopt()
    steps: list[tuple[str, int]] = []
    turns: list[int] = []
    ingest_pipeline.ingest(
        source.pk,
        on_progress=lambda row: steps.append((row.step, row.done)),
        meanwhile=lambda: turns.append(1),
    )
    expected = sorted({done for step, done in steps if step == "embedding"})
    assert [done for step, done in steps if step == "embedding"] == expected
    assert len(turns) > Chunk.objects.count() // 4
    assert steps[-1] == ("", 0)


def test_what_is_left_to_do_becomes_less_batch_by_batch(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_store, "BATCH", 4)
    make_video(collection, cues=make_cues(200))
    (source,) = discovery.adopt()
    ingest_pipeline.index_words()
    Source.objects.update(attempts=3)
    rows: list[Source] = []
    ingest_pipeline.ingest(source.pk, meanwhile=lambda: rows.append(Source.objects.get()))
    left = [
        TextInWork(characters=row.size, step=row.step, done=row.done, total=row.total).left
        for row in rows
    ]
    assert left == sorted(left, reverse=True)
    assert rows[0].size > left[0] > left[-1] == 0
    assert len(set(left)) > len(left) / 2
    attempts = [(row.step, row.attempts) for row in rows if row.done]
    assert attempts[-1] == ("embedding", 1)


def test_a_document_that_waits_for_its_turn_is_not_shown_as_in_work(collection: Collection) -> None:
    paper = BytesIO(b"# Weirs\n\nThe weir by the mill is closed for repairs.")
    source = document_storage.add(collection, paper, name="weir.md").source
    ingest_pipeline.advance(source)
    source.refresh_from_db()
    assert source.state == State.WORDS
    assert source.is_waiting
    ingest_pipeline.advance(source)
    source.refresh_from_db()
    assert not source.is_waiting
    assert source.ready_at


# Again


def test_unchanged_text_is_left_alone(collection: Collection, embedded: list[str]) -> None:
    source = indexed(collection)
    before, places = rows(), list(Chunk.objects.values_list("position", flat=True))
    embedded.clear()
    source.start_anew()
    ingest(source)
    assert source.state == State.READY
    assert rows() == before
    assert not set(embedded) & set(before)
    make_video(collection)
    assert discovery.adopt() == []
    ingest(source)
    assert (
        len(places)
        == Chunk.objects.count()
        == sum(LexEntry.objects.exclude(source=None).values_list("count", flat=True))
    )


def test_changed_text_replaces_only_what_changed(
    collection: Collection, scope: Scope, embedded: list[str]
) -> None:
    source = indexed(collection, cues=make_cues(240))
    before = rows()
    embedded.clear()
    cues = make_cues(240)
    cues[30] = Cue(
        start=cues[30].start, end=cues[30].end, text="Zebras graze beside the gradient today."
    )
    make_video(collection, cues=cues)
    (stale,) = discovery.adopt()
    assert (stale.pk, stale.state) == (source.pk, State.PENDING)
    assert by_words(scope, "convolution"), "it is found as it was until it is replaced"
    ingest(source)
    now = rows()
    kept = before.keys() & now.keys()
    assert len(kept) > len(before) // 2
    assert all(before[text] == now[text] for text in kept)
    assert {text for text in embedded if text in now} == now.keys() - kept
    assert by_words(scope, "zebras")
    assert not by_words(scope, '"Point 30."')
    expected = list(range(source.chunk_count))
    assert [chunk.ordinal for chunk in source.chunks.order_by("span_start")] == expected


def test_a_text_that_another_source_has_too_is_embedded_once(
    collection: Collection, embedded: list[str]
) -> None:
    indexed(collection, key="one")
    texts = set(Chunk.objects.values_list("text", flat=True))
    embedded.clear()
    indexed(collection, key="two")
    assert not texts & set(embedded)
    assert Embedding.objects.count() == 2 * len(texts)


def test_words_are_found_at_once_while_hundreds_wait(
    collection: Collection, scope: Scope, embedded: list[str]
) -> None:
    for n in range(20):
        make_video(collection, key=f"v{n}", cues=make_cues(3))
    assert ingest_pipeline.index_words() == 20
    assert len(by_words(scope, "backpropagation")) == 20
    assert not embedded
    assert ingest_pipeline.index_words() == 0


# Staleness


def test_looking_for_what_is_new_is_one_query(
    collection: Collection, django_assert_num_queries: Any
) -> None:
    indexed(collection)
    with django_assert_num_queries(1):
        assert discovery.adopt() == []


def test_each_language_has_a_source_and_each_its_best_transcript(collection: Collection) -> None:
    video = make_video(collection)
    make_video(collection, lang="de", cues=make_cues(sentences=["Guten Tag zusammen."]))
    values = {
        "cues": [[0, 1000, "machine made"]],
        "digest": "m",
        "cue_count": 1,
        "characters": 12,
        "duration": 1000,
    }
    Transcript.objects.create(video=video, language="en", origin="auto", **values)
    discovery.adopt()
    hits = {(source.language, source.transcript.origin) for source in Source.objects.all()}
    assert hits == {("en", "upload"), ("de", "upload")}
    english = ingest(Source.objects.get(language="en"))
    Transcript.objects.create(
        video=video,
        language="en",
        origin="manual",
        **values | {"cues": [[0, 1000, "written by hand"]], "digest": "h"},
    )
    assert [source.pk for source in discovery.adopt()] == [english.pk]
    assert ingest(english).transcript.origin == "manual"
    assert [chunk.text for chunk in english.chunks.all()] == ["written by hand"]


def test_captions_whose_file_names_no_language_are_in_the_one_that_they_are_surely_in(
    collection: Collection,
) -> None:
    sentences = ("The error of a network is carried back to where it started, step by step.",)
    talk = make_video(collection, lang="", cues=make_cues(sentences=sentences))
    pieces = make_video(collection, key="b", lang="", cues=make_cues(2, sentences=("Oh.",)))
    discovery.adopt()
    languages = dict(Source.objects.values_list("video", "language"))
    assert languages == {talk.pk: "en", pieces.pk: ""}
    assert not discovery.adopt()
    make_video(collection, lang="", cues=make_cues(61, sentences=sentences))
    assert Transcript.objects.get(video=talk).language == "en"


def test_who_says_that_a_language_is_unknown_is_believed(collection: Collection) -> None:
    sentences = ("The error of a network is carried back to where it started, step by step.",)
    talk = make_video(collection, lang="", cues=make_cues(sentences=sentences))
    Video.objects.filter(pk=talk.pk).update(edited=["language"])
    discovery.adopt()
    assert Source.objects.get().language == ""


def test_a_new_title_is_copied_without_indexing_again(collection: Collection) -> None:
    source = indexed(collection)
    make_video(collection, title="Neural networks, once more")
    (renewed,) = discovery.adopt()
    assert (renewed.title, renewed.state) == ("Neural networks, once more", State.READY)
    assert renewed.pk == source.pk


def test_a_source_follows_its_video_to_another_collection(collection: Collection) -> None:
    source = indexed(collection)
    other = Collection.objects.create(name="Other", slug="other")
    Video.objects.update(collection=other)
    discovery.adopt()
    source.refresh_from_db()
    assert (source.collection, source.state) == (other, State.READY)


def test_new_chapters_cut_a_source_anew(collection: Collection) -> None:
    source = indexed(collection)
    Video.objects.update(chapters=[[0, "Start"], [150_000, "Second half"]])
    discovery.adopt()
    assert state_of(source)[0] == State.PENDING
    ingest(source)
    assert set(source.chunks.values_list("heading", flat=True)) == {"Start", "Second half"}


def test_a_transcript_without_words_has_a_source_without_chunks(collection: Collection) -> None:
    source = indexed(collection, cues=[Cue(start=0, end=1000, text="♪")])
    assert source.state == State.READY


# Failures


def test_without_its_model_a_source_waits_found_by_words_and_so_do_the_others(
    collection: Collection, scope: Scope, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    settings.EMBEDDING_PROVIDER = "bge-base"
    monkeypatch.setattr(registry, "word_vectors", lambda: None)
    for n in range(3):
        make_video(collection, key=f"v{n}", cues=make_cues(6))
    ingest_pipeline.index_words()
    first = Source.objects.order_by("pk")[0]
    ingest(first)
    assert state_of(first) == (State.WORDS, "model_missing")
    assert first.hint
    assert set(Source.objects.values_list("error_code", flat=True)) == {"model_missing"}
    assert not lanes.waiting().exists()
    assert vector_space.locked() is None, "a model that is not there locks nothing"
    assert len(by_words(scope, "backpropagation")) == 3
    settings.EMBEDDING_PROVIDER = "fake"
    assert ingest_pipeline.try_again() == 3
    assert ingest(first).state == State.READY
    assert first.error == ""


def test_a_model_server_in_trouble_is_asked_ever_more_rarely(
    collection: Collection, scope: Scope, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_video(collection)
    make_video(collection, key="other")
    ingest_pipeline.index_words()
    source, other = Source.objects.order_by("pk")
    fail_with(monkeypatch, ModelServerError("It is too slow."))
    pauses = []
    for _ in range(3):
        ingest_pipeline.try_again()
        ingest(source)
        assert source.run_after
        pauses.append(source.run_after - timezone.now())
    assert pauses == sorted(pauses)
    assert pauses[2] > 3 * pauses[0] > timedelta(0)
    assert state_of(source) == (State.WORDS, "model_server")
    assert state_of(other) == (State.WORDS, "")
    assert not lanes.waiting().exists(), "the others wait a moment too"
    assert by_words(scope, "backpropagation")


@pytest.fixture
def text_server(
    settings: Any, monkeypatch: pytest.MonkeyPatch, model_server: ModelStandIn
) -> Iterator[TextServer]:
    """An embedding server of one's own, which the settings name."""
    monkeypatch.setattr(registry, "word_vectors", lambda: None)
    with TextServer() as server:
        settings.OPENAI_BASE_URL = f"{server.url}/v1"
        settings.EMBEDDING_PROVIDER, settings.EMBEDDING_MODEL = "openai", "own"
        settings.EMBEDDING_DIMENSIONS = LENGTH
        yield server


def test_a_passage_that_the_model_does_not_take_leaves_the_others_their_vectors(
    collection: Collection, scope: Scope, text_server: TextServer
) -> None:
    text_server.refuse = lambda body: (
        (500, {"error": "unsupported value: NaN"}) if "odd" in " ".join(body["input"]) else None
    )
    sentences = [f"Sentence {n} is about the number {n} and others. " * 6 for n in range(8)]
    source = indexed(
        collection, cues=make_cues(8, sentences=[*sentences[:7], "An odd thing. " * 30])
    )
    bad = source.chunks.filter(text__contains="odd").count()
    total = source.chunk_count
    assert source.state == State.READY
    assert Embedding.objects.count() == total - bad < total
    assert source.error.startswith(f"{bad} of {total} passages have no vector: ")
    assert "NaN" in source.error
    assert "tried again later" in source.hint
    assert by_words(scope, "odd")
    assert not lanes.waiting().exists(), "it is not tried again at once"
    for attempt in range(6):  # ever more rarely, until it is given up
        Source.objects.exclude(run_after=None).update(run_after=timezone.now())
        assert [*lanes.waiting()] == ([source] if attempt < 4 else [])
        ingest(source)
    assert "Indexing again" in source.hint
    text_server.refuse = lambda body: None
    source.restart()
    ingest(source)


def test_passages_that_got_no_vector_get_one_when_the_model_can(
    collection: Collection, text_server: TextServer
) -> None:
    text_server.refuse = lambda body: (
        (400, {"error": "bad input"}) if "odd" in " ".join(body["input"]) else None
    )
    source = indexed(
        collection, cues=make_cues(6, sentences=["Plain words here. " * 30, "An odd one. " * 40])
    )
    assert Embedding.objects.count() < source.chunk_count
    text_server.refuse = lambda body: None
    ingest_pipeline.try_again()
    ingest_pipeline.advance(lanes.waiting().get())
    source.refresh_from_db()
    assert (source.state, source.error, source.run_after) == (State.READY, "", None)
    assert Embedding.objects.count() == source.chunk_count
    assert not lanes.waiting().exists()


def test_it_is_told_how_many_passages_were_cut_to_fit_the_model(
    collection: Collection, text_server: TextServer
) -> None:
    text_server.refuse = lambda body: (
        (400, {"message": "too many tokens"}) if any(len(t) > 300 for t in body["input"]) else None
    )
    source = indexed(collection)
    long = source.chunks.annotate(length=Length("text")).filter(length__gt=300).count()
    assert source.cut_count >= long > 0
    total = source.chunk_count
    expected = f"{source.cut_count} of {total} passages were cut to fit the embedding model."
    assert source.note == expected
    assert SourceOut.model_validate(source).note == expected
    ingest(source)
    text_server.refuse = lambda body: None
    registry.reset()
    Embedding.objects.all().delete()
    source.start_anew()
    assert ingest(source).note == ""


def test_a_refused_key_is_told_and_waits_for_another(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_video(collection)
    ingest_pipeline.index_words()
    source = Source.objects.get()
    fail_with(monkeypatch, ModelRefused("The key is wrong."))
    ingest(source)
    assert (state_of(source), source.error) == ((State.WORDS, "model_refused"), "The key is wrong.")


def test_what_is_unexpected_ends_it_after_three_tries(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_video(collection)
    ingest_pipeline.index_words()
    source = Source.objects.get()
    fail_with(monkeypatch, RuntimeError("boom"))
    states = []
    for _ in range(3):
        ingest_pipeline.try_again()
        states.append(ingest(source).state)
    assert states == [State.WORDS, State.WORDS, State.FAILED]
    assert "boom" not in source.error
    monkeypatch.undo()
    source.start_anew()
    source.refresh_from_db()
    assert (source.state, source.error) == (State.PENDING, "")


def test_one_that_kills_every_process_is_given_up(collection: Collection) -> None:
    make_video(collection)
    (source,) = discovery.adopt()
    Source.objects.update(crashes=Source.MAX_CRASHES)
    assert ingest(source).state == State.FAILED


@contextmanager
def held_elsewhere(source: Source) -> Iterator[None]:
    """Let another process hold a source."""
    with another_connection() as other:
        other.execute("SELECT pg_advisory_lock(%s, %s)", [Lock.SOURCE.value, source.pk])
        yield


def test_what_another_process_works_on_is_left_to_it(collection: Collection) -> None:
    make_video(collection)
    (source,) = discovery.adopt()
    with held_elsewhere(source):
        assert ingest(source).state == State.PENDING
        assert ingest_pipeline.index_words() == 0
    assert ingest(source).state == State.READY


def test_a_source_deleted_while_it_is_embedded_leaves_nothing(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    video = make_video(collection)
    (source,) = discovery.adopt()
    ingest_pipeline.ingest(source.pk, meanwhile=lambda: Video.objects.filter(pk=video.pk).delete())
    assert not Source.objects.exists()
    assert not Chunk.objects.exists()
    assert not Embedding.objects.exists()
    ingest_pipeline.ingest(source.pk)


@pytest.mark.django_db(transaction=True)
def test_a_document_deleted_while_its_pages_are_stored_is_no_failure(
    collection: Collection, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    source = document_storage.add(collection, BytesIO(b"# Notes"), name="notes.md").source
    real = Page.objects.bulk_create

    def delete_first(pages: Sequence[Page]) -> None:
        ingest_pipeline.remove(Source.objects.get(pk=source.pk))
        real(pages)

    monkeypatch.setattr(Page.objects, "bulk_create", delete_first)
    ingest_pipeline.ingest(source.pk)
    assert not Page.objects.exists()
    assert "Traceback" not in caplog.text


def test_deleting_a_video_deletes_all_that_came_from_it_and_nothing_else(
    collection: Collection, scope: Scope
) -> None:
    indexed(collection, key="stays")
    video = indexed(collection, key="goes", cues=make_cues(sentences=["Walruses rest."])).video
    before = Chunk.objects.count()
    video.delete()
    assert 0 < Chunk.objects.count() < before
    assert Chunk.objects.count() == Embedding.objects.count()
    assert by_words(scope, "backpropagation")
    assert not by_words(scope, "walruses")
    assert LexEntry.objects.filter(source=None).exists()


def test_the_database_deletes_what_was_written_beside_a_deletion(collection: Collection) -> None:
    source = indexed(collection)
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM citations_source WHERE id = %s", [source.pk])
    assert not Chunk.objects.exists()
    assert not Embedding.objects.exists()
    assert set(LexEntry.objects.values_list("source", flat=True)) == {None}


# Contexts


@pytest.fixture
def llm(settings: Any, monkeypatch: pytest.MonkeyPatch) -> FakeLlm:
    """A language model that the settings name."""
    made = FakeLlm(lambda prompt: "This part of the lecture is about walruses.")
    settings.LLM_PROVIDER = "ollama"
    monkeypatch.setattr(registry, "llm", lambda: made)
    return made


def test_contexts_come_after_meaning_and_are_indexed_and_embedded(
    collection: Collection, scope: Scope, llm: FakeLlm
) -> None:
    source = indexed(collection)
    space = vector_space.active()
    assert space is not None
    assert source.state == State.READY
    expected = {"This part of the lecture is about walruses."}
    assert set(source.chunks.values_list("context", flat=True)) == expected
    assert len(by_words(scope, "walruses")) == source.chunk_count
    assert not vector_store.missing(space)
    assert not lanes.waiting().exists()


def test_contexts_of_what_stays_are_kept_and_only_new_ones_asked_for(
    collection: Collection, llm: FakeLlm, embedded: list[str]
) -> None:
    source = indexed(collection)
    before = rows()
    embedded.clear()
    cues = make_cues()
    cues[59] = Cue(start=cues[59].start, end=cues[59].end, text="Zebras graze.")
    make_video(collection, cues=cues)
    discovery.adopt()
    ingest(source)
    kept = before.keys() & rows().keys()
    assert kept
    assert all(before[text] == rows()[text] for text in kept)
    assert not source.chunks.filter(context="").exists()
    assert not any(
        text.startswith("This part") and text.partition("\n\n")[2] in kept for text in embedded
    )


def test_a_language_model_that_fails_leaves_the_source_found(
    collection: Collection, scope: Scope, llm: FakeLlm, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[int] = []

    def answer(prompt: Any) -> str:
        calls.append(1)
        if len(calls) > 3:
            raise ModelRefused("No credit is left.")
        return "About walruses."

    monkeypatch.setattr(registry, "llm", lambda: FakeLlm(answer))
    source = indexed(collection)
    assert state_of(source) == (State.READY, "model_refused")
    assert len(by_words(scope, "walruses")) == source.chunks.exclude(context="").count() >= 1
    monkeypatch.setattr(registry, "llm", lambda: llm)
    ingest_pipeline.try_again()
    assert list(lanes.waiting()) == [source]
    ingest(source)
    assert not source.chunks.filter(context="").exists()
    assert source.error == ""


def test_a_context_that_was_not_written_is_tried_again_a_few_times(
    collection: Collection, llm: FakeLlm, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = iter([""])  # the first of them is empty
    monkeypatch.setattr(
        registry, "llm", lambda: FakeLlm(lambda prompt: next(answers, "About walruses."))
    )
    source = indexed(collection)
    assert state_of(source) == (State.READY, "model_server")
    assert not lanes.waiting().exists()  # not at once
    ingest_pipeline.try_again()
    ingest(source)
    assert not source.chunks.filter(context="").exists()
    assert source.error == ""
    assert not lanes.waiting().exists()


def test_a_context_that_is_never_written_is_given_up(
    collection: Collection, llm: FakeLlm, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "llm", lambda: FakeLlm(lambda prompt: ""))
    source = indexed(collection)
    for _ in range(POLICIES[Retry.UNEXPECTED].attempts or 0):
        ingest_pipeline.try_again()
        ingest(source)
    assert source.error == ""
    assert not lanes.waiting().exists()


def test_what_nothing_finds_yet_comes_before_contexts(collection: Collection, llm: FakeLlm) -> None:
    source = indexed(collection)
    Source.objects.filter(pk=source.pk).update(contexts_digest="")
    make_video(collection, key="new")
    discovery.adopt()
    assert [source.state for source in lanes.waiting()] == [State.PENDING, State.READY]


@pytest.mark.django_db(transaction=True)
def test_a_video_deleted_while_sources_are_made_does_not_harm_the_others(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone, other = (make_video(collection, key=key) for key in ("gone", "other"))
    real = Source.objects.bulk_create

    def delete_first(sources: Sequence[Source], **options: Any) -> None:
        with another_connection() as process:
            process.execute("DELETE FROM transcripts_transcriptindex")
            process.execute("DELETE FROM transcripts_rawcaptions")
            process.execute("DELETE FROM transcripts_transcript WHERE video_id = %s", [gone.pk])
            process.execute("DELETE FROM transcripts_video WHERE id = %s", [gone.pk])
        real(sources, **options)

    with monkeypatch.context() as patch:
        patch.setattr(Source.objects, "bulk_create", delete_first)
        assert discovery.adopt() == []
    assert [source.video for source in discovery.adopt()] == [other]

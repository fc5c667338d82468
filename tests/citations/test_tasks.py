"""Which messages are sent and when, and what long tasks must not delay."""

import shutil
from collections.abc import Iterator, Sequence
from datetime import timedelta
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as site
from django.test import TestCase
from django.utils import timezone
from numpy.typing import NDArray

from citations import tasks
from citations.conf import EmbeddingChoice
from citations.documents import storage as document_storage
from citations.guide import builder
from citations.guide import storage as guide_storage
from citations.ingest import discovery, lanes
from citations.ingest import pipeline as ingest_pipeline
from citations.lexical import index as lexical_index
from citations.maintenance import migration
from citations.models import Chunk, EmbeddingSpace, Guide, LexEntry, Source, SpaceState, State
from citations.providers import registry
from citations.providers.embedding import HashEmbedder
from citations.vectors import space as vector_space
from kbsite.celery import app, make_queue_folders
from tests.makers import make_cues, make_document, make_video
from transcripts import tasks as transcript_tasks
from transcripts.core.work.models import LOST_AFTER
from transcripts.models import Collection

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _alone(settings: Any) -> Iterator[None]:
    settings.EMBEDDING_PROVIDER = "fake"
    settings.EMBEDDING_MODEL = ""
    registry.reset()
    make_queue_folders()
    app.control.purge()
    yield
    app.control.purge()
    registry.reset()


def add(collection: Collection, *keys: str) -> None:
    for key in keys:
        make_video(collection, key=key, cues=make_cues(6))


def sent() -> set[str]:
    """Return the keys of the videos for whose sources a message went out."""
    return set(Source.objects.exclude(sent_at=None).values_list("video__key", flat=True))


def test_a_sweep_indexes_the_words_of_new_videos_and_sends_some(collection: Collection) -> None:
    add(collection, *"abcd")
    tasks.sweep()
    assert set(Source.objects.values_list("state", flat=True)) == {State.WORDS}
    assert Chunk.objects.exists()
    assert sent() == {"a", "b"}


def test_a_lost_message_is_sent_again_after_a_while(collection: Collection) -> None:
    add(collection, "a")
    tasks.sweep()
    before = Source.objects.get().sent_at
    tasks.sweep()
    assert Source.objects.get().sent_at == before
    Source.objects.update(sent_at=timezone.now() - LOST_AFTER - timedelta(seconds=1))
    tasks.sweep()
    after = Source.objects.get().sent_at
    assert before
    assert after
    assert after > before


def test_an_ingest_sends_the_next_sources(collection: Collection) -> None:
    add(collection, *"abc")
    ingest_pipeline.index_words()
    first = Source.objects.order_by("pk")[0]
    tasks.ingest_source(first.pk)
    first.refresh_from_db()
    assert first.state == State.READY
    assert sent() == {"b", "c"}
    tasks.ingest_source(first.pk)
    tasks.ingest_source(0)


def test_long_tasks_leave_one_thread_of_the_worker_free(
    collection: Collection, django_capture_on_commit_callbacks: Any
) -> None:
    make_video(collection, key="book", cues=make_cues(500))
    ingest_pipeline.index_words()
    source = Source.objects.get()
    with tasks._long_task() as may_run:
        assert may_run
        Source.objects.update(sent_at=timezone.now())
        tasks.ingest_source(source.pk)
        source.refresh_from_db()
        assert (source.state, source.sent_at) == (State.WORDS, None), (
            "it is sent again as soon as there is a turn"
        )
    tasks.ingest_source(source.pk)
    source.refresh_from_db()
    assert source.state == State.READY


def test_a_short_source_is_embedded_while_long_work_has_its_threads(collection: Collection) -> None:
    add(collection, "note")
    ingest_pipeline.index_words()
    with tasks._long_task():
        tasks.ingest_source(Source.objects.get().pk)
    assert Source.objects.get().state == State.READY


@pytest.mark.django_db(transaction=True)  # a thread of its own embeds
def test_a_note_that_is_added_while_a_book_is_embedded_is_found_first(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_video(collection, key="book", cues=make_cues(1_600))
    ingest_pipeline.index_words()
    notes: list[Source] = []
    real = HashEmbedder.embed_documents

    def embed(self: HashEmbedder, texts: Sequence[str]) -> NDArray[Any]:
        if not notes:
            paper = BytesIO(b"The weir by the mill is closed for repairs.")
            notes.append(document_storage.add(collection, paper, name="note.txt").source)
        return real(self, texts)

    monkeypatch.setattr(HashEmbedder, "embed_documents", embed)
    tasks.ingest_source(Source.objects.get().pk)
    states = Source.objects.order_by("updated_at").values_list("title", "state")
    assert list(states) == [("note", State.READY), ("Lecture 1", State.READY)]


def test_the_words_of_new_sources_are_indexed_during_a_long_ingest(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks, "WORDS_EVERY", 0.0)
    add(collection, "long")
    ingest_pipeline.index_words()
    late: list[str] = []

    def look() -> None:
        if not late:
            add(collection, "late")
        ingest_pipeline.index_words()
        late.append(Source.objects.get(video__key="late").state)

    monkeypatch.setattr(tasks, "_index_words", look)
    tasks.ingest_source(Source.objects.get().pk)
    assert late[0] == State.WORDS


def test_a_migration_continues_automatically(collection: Collection) -> None:
    add(collection, "a", "b")
    for source in discovery.adopt():
        ingest_pipeline.ingest(source.pk)
    space = migration.begin(EmbeddingChoice(provider="fake", model="others"))
    tasks.sweep()
    space.refresh_from_db()
    assert space.sent_at is not None
    tasks.advance_migration(space.pk)
    assert vector_space.locked() == space
    tasks.advance_migration(space.pk)
    tasks.advance_migration(0)


def test_a_failed_migration_is_retried_after_a_pause(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(collection, "a")
    for source in discovery.adopt():
        ingest_pipeline.ingest(source.pk)
    space = migration.begin(EmbeddingChoice(provider="fake", model="others"))
    EmbeddingSpace.objects.filter(pk=space.pk).update(provider="voyage", model="x")
    tasks.advance_migration(space.pk)
    space.refresh_from_db()
    assert space.error
    assert space.state == SpaceState.BUILDING
    before = space.sent_at
    tasks.dispatch()
    space.refresh_from_db()
    assert space.sent_at == before


def test_a_starting_worker_retries_what_waited_for_other_settings(collection: Collection) -> None:
    add(collection, "a")
    ingest_pipeline.index_words()
    Source.objects.update(run_after=timezone.now() + timedelta(hours=1), error_code="model_missing")
    tasks.sweep()
    assert sent() == set()
    tasks.wake()
    assert sent() == {"a"}


@pytest.mark.parametrize("task", [tasks.wake, tasks.tend])
def test_a_worker_indexes_words_again_that_another_version_has_indexed(
    task: Any, collection: Collection
) -> None:
    make_document(collection, ["a whale"])
    LexEntry.objects.update(tokenizer_version=0)
    task()
    assert not lexical_index.outdated(Source.objects.all()).exists()


def test_tending_an_empty_library_does_nothing(db: None) -> None:
    tasks.tend()


def test_an_unwritable_queue_refuses_no_request_and_is_retried(
    collection: Collection, django_capture_on_commit_callbacks: Any
) -> None:
    folder = Path(site.CELERY_BROKER_TRANSPORT_OPTIONS["data_folder_out"])
    shutil.rmtree(folder)
    folder.write_text("no folder")  # as a full disk, or one that is away
    add(collection, "a")
    try:
        with django_capture_on_commit_callbacks(execute=True):
            tasks.sweep()
    finally:
        folder.unlink()
        make_queue_folders()
    assert sent() == set()
    assert Source.objects.get().state == State.WORDS


def make_guide(source: Source) -> None:
    """Let a worker get the message about the guide to a source."""
    tasks.make_guide(guide_storage.request(source).pk)


def published_guides(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the list to which the ids in messages about guides are added from now on."""
    published: list[int] = []

    def publish(task: Any, pk: int) -> bool:
        if task is tasks.make_guide:
            published.append(pk)
        return True

    monkeypatch.setattr(transcript_tasks, "publish", publish)
    return published


def test_a_guide_is_made_when_no_source_waits(collection: Collection) -> None:
    add(collection, "a", "b")
    first, second = discovery.adopt()
    ingest_pipeline.ingest(first.pk)
    make_guide(first)
    assert guide_storage.missing().get() == first
    ingest_pipeline.ingest(second.pk)
    make_guide(first)
    assert guide_storage.missing().get() == second


@pytest.mark.django_db(transaction=True)  # a thread of its own embeds
def test_what_is_opened_while_a_book_is_embedded_is_ready_before_it(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    for key, count in (("book", 1_600), ("talk", 1_000)):
        make_video(collection, key=key, title=key, cues=make_cues(count))
    ingest_pipeline.index_words()
    book, talk = (Source.objects.get(video__key=key) for key in ("book", "talk"))
    assert talk.size > max(lanes.SHORT_SOURCE, book.size // lanes.TIMES_LONGER)
    real = HashEmbedder.embed_documents

    def embed(self: HashEmbedder, texts: Sequence[str]) -> NDArray[Any]:
        tasks.send_opened(talk)
        return real(self, texts)

    monkeypatch.setattr(HashEmbedder, "embed_documents", embed)
    ingest_pipeline.advance(book, meanwhile=lambda: tasks._give_way(book))
    states = Source.objects.order_by("ready_at").values_list("title", "state")
    assert list(states) == [("talk", State.READY), ("book", State.READY)]


def test_opening_counts_once_until_the_guide_is_there(
    collection: Collection, django_capture_on_commit_callbacks: Any
) -> None:
    add(collection, "a")
    ingest_pipeline.index_words()
    source = Source.objects.get()
    tasks.send_opened(source)
    source.refresh_from_db()
    first = source.wanted_at
    assert first
    assert sent() == {"a"}
    tasks.send_opened(source)
    ingest_pipeline.ingest(source.pk)
    tasks.send_opened(source)
    source.refresh_from_db()
    assert source.wanted_at == first
    make_guide(source)
    source.refresh_from_db()
    assert source.wanted_at is None
    tasks.send_opened(source)
    source.refresh_from_db()
    assert source.wanted_at is None, "it has all that there is"


def test_the_guide_to_what_was_opened_is_made_while_others_wait(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(collection, "a", "b", "c")
    first, second, _ = discovery.adopt()
    for source in (first, second):
        ingest_pipeline.ingest(source.pk)
    published = published_guides(monkeypatch)
    with TestCase.captureOnCommitCallbacks(execute=True):
        tasks.dispatch()
    assert published == []
    guide_storage.put_first(Source.objects.filter(pk=first.pk))
    with TestCase.captureOnCommitCallbacks(execute=True):
        tasks.dispatch()
    assert published == [Guide.objects.get(source=first).pk]
    make_guide(first)
    assert [*guide_storage.missing()] == [second]


def test_a_guide_that_somebody_waits_for_is_made_between_the_batches_of_a_book(
    collection: Collection,
) -> None:
    add(collection, "talk")
    ingest_pipeline.index_words()
    talk = Source.objects.get()
    ingest_pipeline.ingest(talk.pk)
    make_video(collection, key="book", cues=make_cues(500))
    ingest_pipeline.index_words()
    guide_storage.put_first(Source.objects.filter(pk=talk.pk))
    with tasks._long_task():  # as the book's is
        make_guide(talk)
        assert guide_storage.of(talk) is None
        book = Source.objects.get(video__key="book")
        ingest_pipeline.advance(book, meanwhile=lambda: tasks._give_way(book))
    talk.refresh_from_db()
    assert guide_storage.of(talk)


def test_a_guide_that_fails_unexpectedly_does_not_stop_the_work_that_gives_way(
    collection: Collection, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*args: Any, **options: Any) -> None:
        raise ValueError("no such sentence")

    add(collection, "talk")
    [talk] = discovery.adopt()
    ingest_pipeline.ingest(talk.pk)
    monkeypatch.setattr(builder, "build", fail)
    for _ in range(4):
        guide_storage.put_first(Source.objects.all())
        tasks._give_way()
        Guide.objects.update(run_after=None)
    assert caplog.text.count("failed unexpectedly") == 3
    assert not guide_storage.missing().exists()


def test_the_next_guide_is_sent_once(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(collection, "a")
    [source] = discovery.adopt()
    ingest_pipeline.ingest(source.pk)
    published = published_guides(monkeypatch)
    with TestCase.captureOnCommitCallbacks(execute=True):
        tasks.dispatch()
        tasks.dispatch()
    assert published == [Guide.objects.get(source=source).pk]


def test_a_guide_to_a_deleted_source_is_not_made(db: None) -> None:
    tasks.make_guide(987654)
    assert not guide_storage.missing().exists()

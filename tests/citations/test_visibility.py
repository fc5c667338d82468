"""What a scope may read is said in one place; every other path agrees with it."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.db import models

from citations.ingest import discovery, selection
from citations.ingest import pipeline as ingest_pipeline
from citations.lectures import pipeline as lecture_pipeline
from citations.lexical import snapshot
from citations.library import filters
from citations.library.filters import Filter, ResolvedFilter
from citations.models import (
    Answer,
    Chunk,
    Citation,
    Conversation,
    LectureSession,
    Level,
    Note,
    Source,
    Window,
)
from citations.outline import background
from citations.outline import search as outline_search
from citations.outline.search import NodeFilter, Summary
from citations.search import candidates
from citations.search import pipeline as search_pipeline
from citations.vectors import space as vector_space
from tests.makers import make_cues, make_document, make_user, make_video
from transcripts.core.scope import Scope
from transcripts.models import Collection, Feed, Job, Membership, Transcript, Video

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("fake_models")]

# The collections that a row belongs to: a scope that may read all of them may read the row.
OWNERS: dict[type[models.Model], tuple[str, ...]] = {
    Collection: ("pk",),
    Membership: ("collection",),
    Video: ("collection",),
    Transcript: ("video__collection",),
    Feed: ("collection",),
    Job: ("collection",),
    Source: ("collection", "video__collection"),
    Citation: ("source__collection", "source__video__collection", "session__collection"),
    LectureSession: ("collection",),
    Note: ("collection",),
}
# Rows that are read through a row above, an owner or a collection that was looked up.
PARTS = {
    *("FeedEntry", "Thumbnail", "TranscriptIndex", "RawCaptions", "JobFile", "HeardPart"),
    *("MediaFile", "MediaPart"),
    *(
        "Chunk",
        "Document",
        "DocumentPart",
        "OcrResult",
        "Page",
        "Node",
        "Topic",
        "TopicMember",
        "Embedding",
    ),
    *("LexEntry", "LexPack", "LexBlock", "Mark", "Segment", "Window", "LectureEvent"),
    *("Conversation", "Answer", "Highlight", "SharedLink", "SharedClip", "SharedClipPart"),
    *("Archive", "ArchivePart", "Guide", "AbstractsRequest", "Deletion", "ReadingProgress"),
}
SHARED = {"AuditEntry", "ChosenModel", "WorkerPulse", "YouTubeGate", "EmbeddingSpace"}


@pytest.fixture
def collections(collection: Collection) -> list[Collection]:
    """Two collections with one row of each kind, and a video that moved away from its source."""
    both = [collection, Collection.objects.create(name="Elsewhere", slug="elsewhere")]
    for shelf in both:
        video = make_video(shelf, key=f"video-{shelf.slug}", title=f"Talk of {shelf.slug}")
        make_document(shelf, ["Networks learn.", "Weights move."], title=f"Notes of {shelf.slug}")
        make_user(f"owner-{shelf.slug}", collection=shelf)
        Feed.objects.create(collection=shelf, kind=Feed.Kind.PLAYLIST, youtube_id=f"PL{shelf.pk}")
        Job.objects.create(collection=shelf, kind=Job.Kind.VIDEO, target=video.key)
        LectureSession.objects.create(collection=shelf, title="Lecture")
        Note.objects.create(collection=shelf, title="Note", text="")
    cues = make_cues(20, sentences=["Networks of rivers carry weights downstream."])
    make_video(collection, key="moved", title="Moved talk", cues=cues)
    for source in discovery.adopt():
        ingest_pipeline.ingest(source.pk)
    Video.objects.filter(key="moved").update(collection=both[1])
    for lecture in LectureSession.objects.all():
        cite_everything(lecture)
    return both


def cite_everything(lecture: LectureSession) -> None:
    answer = Answer.objects.create(conversation=Conversation.objects.create(), ordinal=1)
    for number, source in enumerate(Source.objects.order_by("pk")):
        quote = {"source": source, "quote": "x", "span_start": 0, "span_end": 1, "digest": ""}
        Citation.objects.create(answer=answer, number=number, **quote)
        window = Window.objects.create(session=lecture, index=number, text="x")
        Citation.objects.create(
            session=lecture,
            window=window,
            window_index=number,
            rank=1,
            relevance_score=0.5,
            **quote,
        )


def scopes(collections: Iterable[Collection]) -> Iterator[Scope]:
    first, second = (shelf.pk for shelf in collections)
    for readable in ((), (first,), (second,), (first, second)):
        yield Scope(readable=frozenset(readable))


def readable_rows(model: type[models.Model], scope: Scope) -> set[Any]:
    """Return the keys of the rows all of whose collections the scope may read."""
    rows = model._default_manager.values_list("pk", *OWNERS[model])
    return {pk for pk, *owners in rows if scope.readable.issuperset(filter(None, owners))}


def test_every_model_is_visible_by_itself_or_read_through_another() -> None:
    ours = [
        *apps.get_app_config("transcripts").get_models(),
        *apps.get_app_config("citations").get_models(),
    ]
    by_itself = {model for model in ours if hasattr(model._default_manager, "visible")}
    assert by_itself == set(OWNERS)
    others = {
        model.__name__ for model in ours if model not in by_itself and not model._meta.auto_created
    }
    assert others <= PARTS | SHARED


def test_each_model_shows_the_rows_of_readable_collections(collections: list[Collection]) -> None:
    for model in OWNERS:
        seen = set()
        for scope in scopes(collections):
            rows = model._default_manager.visible(scope)  # type: ignore[attr-defined]
            visible = {row.pk for row in rows}
            assert visible == readable_rows(model, scope), model
            seen |= visible
        assert seen == set(model._default_manager.values_list("pk", flat=True)), model


def node_filter(scope: Scope) -> NodeFilter:
    everything = ResolvedFilter(sources=None, chunks=Chunk.objects.count())
    return NodeFilter(scope=scope, resolved=everything, levels=[*Level])


def sources_of(summaries: Iterable[Summary]) -> set[int]:
    return {summary.passage.source for summary in summaries}


def chunks_of(scope: Scope) -> set[int]:
    positions = Chunk.objects.values_list("position", flat=True)
    return {candidate.source for candidate in candidates.fetch(scope, positions).values()}


def nodes_near(scope: Scope) -> set[int]:
    space = vector_space.locked()
    assert space
    vector = vector_space.embedder_of(space).embed_query("networks")
    return sources_of(outline_search.near(node_filter(scope), vector, space=space, limit=1_000))


def nodes_above(scope: Scope) -> set[int]:
    above = [*Chunk.objects.values_list("source_id", "ordinal")]
    return sources_of(outline_search.over(node_filter(scope)._replace(above=above)))


def search_hits(scope: Scope) -> set[int]:
    results = search_pipeline.search(scope, "networks weights", limit=50)
    return set(
        Source.objects.filter(
            uuid__in=[passage.origin.id for passage in results.passages]
        ).values_list("pk", flat=True)
    )


# Readers of sources that have raw SQL, or conditions, of their own.
READERS: dict[str, Callable[[Scope], set[int]]] = {
    "chunks": chunks_of,
    "nodes near a vector": nodes_near,
    "nodes above chunks": nodes_above,
    "largest nodes": lambda scope: sources_of(
        outline_search.largest(node_filter(scope), limit=1_000)
    ),
    "search": search_hits,
    "filters": lambda scope: {source.pk for source in filters.matching(scope, Filter())},
}


@pytest.mark.parametrize("name", READERS)
def test_each_reader_shows_the_sources_that_are_visible(
    collections: list[Collection], name: str
) -> None:
    shown: set[int] = set()
    for scope in scopes(collections):
        visible = set(Source.objects.visible(scope).values_list("pk", flat=True))
        read = READERS[name](scope)
        assert read <= visible
        shown |= read
        if name in ("chunks", "filters"):
            assert read == visible
    assert shown >= set(Source.objects.filter(nodes__isnull=False).values_list("pk", flat=True))


# Raw statements that count or sample sources. They do not join ``SourceQuerySet.visible``: every
# search runs the first two, and its join with videos would take longer than the statement. What
# they reach beyond it for a moment, a search drops when it fetches the rows.


def counted(readable: frozenset[int]) -> int:
    return filters._count_readable(Scope(readable=readable))[0]


def of_readers_lexicon(readable: frozenset[int]) -> int:
    chunks = sum(source.chunk_count for source in Source.objects.all())
    resolved = ResolvedFilter(sources=None, chunks=chunks, readable=readable)
    return snapshot.read(lambda _: {"networks": {"networks": 1.0}}, resolved).chunks


def of_collections_lexicon(readable: frozenset[int]) -> int:
    runs = snapshot.runs_of(readable).values()
    return sum(int((run[:, 1] - run[:, 0]).sum()) for run in runs)


COUNTS: dict[str, tuple[Callable[[frozenset[int]], int], set[str]]] = {
    "chunks that may be searched": (counted, {"Moved talk"}),
    "words of a reader": (of_readers_lexicon, {"Moved talk", "Deleted"}),
    "words of each collection": (of_collections_lexicon, {"Moved talk", "Deleted"}),
}


@pytest.mark.parametrize("name", COUNTS)
def test_each_raw_statement_counts_what_is_visible_but_for_a_moment(
    collections: list[Collection], name: str
) -> None:
    make_document(collections[0], ["Networks are gone."], title="Deleted")
    gone = Source.objects.get(title="Deleted")
    ingest_pipeline.ingest(gone.pk)
    user = User.objects.first()
    selection.delete(selection.ChosenItems(documents=(gone,)), by=user)
    count, late = COUNTS[name]
    for scope in scopes(collections):
        visible = Source.objects.visible(scope)
        beyond = Source.objects.filter(title__in=late, collection__in=scope.readable)
        reached = Source.objects.filter(pk__in=visible.values("pk").union(beyond.values("pk")))
        assert count(scope.readable) == sum(source.chunk_count for source in reached), scope


def test_the_background_of_a_source_is_what_readers_of_its_collection_see(
    collections: list[Collection],
) -> None:
    for collection in collections:
        make_document(collection, ["Another text."], title="Deleted", language="en")
        Source.objects.update(language="en")
        for source in Source.objects.waiting():
            ingest_pipeline.ingest(source.pk)
    selection.delete(
        selection.ChosenItems(documents=tuple(Source.objects.filter(title="Deleted"))), by=None
    )
    for collection in collections:
        visible = Source.objects.visible(Scope(readable=frozenset({collection.pk})))
        source = visible.filter(video=None).get()
        assert len(background.of(source).openings) == visible.exclude(pk=source.pk).count()


def test_a_lecture_cites_the_sources_that_its_collection_shows(
    collections: list[Collection],
) -> None:
    lectures = {lecture.pk: lecture.collection_id for lecture in LectureSession.objects.all()}
    for pk, reach in lecture_pipeline.resolve_sources(lectures).items():
        own = Source.objects.visible(Scope(readable=frozenset({lectures[pk]})))
        assert reach.sources == set(own.values_list("pk", flat=True))

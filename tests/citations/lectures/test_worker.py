"""Windows become citations: what is cited, what is skipped and why, and all failures."""

import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, cast
from uuid import uuid4

import numpy as np
import pytest
from django.db import connection
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from citations.errors import InvalidProvider, LectureEnded, ModelError, WindowTaken
from citations.lectures import events, sessions, speech
from citations.lectures import pipeline as lecture_pipeline
from citations.lectures import worker as lecture_worker
from citations.lectures.citation_storage import StoredWindow
from citations.lectures.stages import NearPassage
from citations.lectures.windows import Utterance
from citations.models import (
    Chunk,
    Citation,
    LectureEvent,
    LectureSession,
    Source,
    State,
    Window,
    WindowOutcome,
)
from citations.providers import embedding, registry
from citations.providers.embedding import HashEmbedder
from citations.schemas.lectures import CitedEventOut
from citations.search.chunk_rows import Candidate
from citations.search.judge import Relevance
from citations.vectors import space as vector_space
from tests.citations.providers import tiny_models
from tests.citations.trusted_readers import trust_readers
from tests.makers import embed, make_cues, make_document, make_source, make_video, replace_chunks
from tests.model_standin import Fault, ModelStandIn
from tests.programs import run_program
from tests.serving import until
from transcripts.core.errors import Forbidden, InvalidInput
from transcripts.core.scope import Scope
from transcripts.models import Collection

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("fake_models")]

ROOT = Path(__file__).resolve().parents[3]
ENTROPY = "Entropy measures the disorder of a system, and it never falls in a closed one."
PASSAGES = (
    f"{ENTROPY} Every heat engine pays for that.",
    "Enthalpy is the heat that a system holds at constant pressure.",
    "A gradient points uphill, and descent walks the other way.",
    "Bread rises because yeast gives off gas in the warm dough.",
)
SAID = (
    f"So what is entropy? {ENTROPY}"
    " We say that disorder grows, and we say it of every closed system there is."
)
ASIDE = (
    "Anybody want coffee, milk, sugar?"
    " Shall somebody open that window, please, before we all fall asleep here today?"
)


@pytest.fixture(autouse=True)
def nothing_recent() -> None:
    """No vector of another test is remembered."""
    lecture_pipeline.query_cache.clear()


@pytest.fixture
def textbook(collection: Collection) -> Source:
    source = make_document(collection, PASSAGES, title="Physics")
    embed(source)
    return source


@pytest.fixture
def lecture(scope: Scope, collection: Collection) -> LectureSession:
    return sessions.start(scope, None, title="Heat", collection=collection, language="en")


def window(session: LectureSession, text: str = SAID) -> Window:
    """Store a window that waits."""
    index = session.windows.count()
    return Window.objects.create(session=session, index=index, text=text, first=index, last=index)


def cite(session: LectureSession, text: str = SAID) -> StoredWindow:
    [cited] = lecture_pipeline.cite([window(session, text)])
    lecture_pipeline.describe(cited)
    return cited


def quotes(cited: StoredWindow) -> list[str]:
    return [citation.quote for citation in cited.citations]


class Judge:
    """A cross-encoder that scores passages by words that they have, and may ``act`` before."""

    name = "judge"

    def __init__(self, act: Callable[[], object] = lambda: None, **scores: float) -> None:
        self.act = act
        self.scores = scores

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        self.act()
        scores = self.scores.items()
        return [max((s for word, s in scores if word in text), default=0.0) for text in texts]


class Gatekeeper:
    """A gate that knows talk of coffee by its vector."""

    def off_topic(self, vector: np.ndarray) -> float:
        return float(vector @ HashEmbedder().embed_query(ASIDE))


# What was said too early


def test_what_was_said_before_the_book_was_ready_is_looked_up_once_it_is(
    lecture: LectureSession, collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    book = make_document(collection, PASSAGES, title="Physics")
    early = cite(lecture).window
    assert early.outcome == WindowOutcome.NOT_INDEXED
    assert lecture_worker.look_up_again(lecture) == 0  # nothing is ready
    embed(book)
    book.reach(State.READY)
    speech.end(lecture)
    assert lecture_worker.look_up_again(lecture) == 1
    monkeypatch.setattr(lecture_worker, "GRACE", timedelta(0))
    lecture_worker.sweep()
    early.refresh_from_db()
    assert early.outcome == WindowOutcome.CITED
    assert early.citations.count() > 0
    assert early.note == ""
    published = lecture.events.filter(kind="citations").order_by("number")
    assert [event.data["outcome"] for event in published] == ["not_indexed_yet", "cited"]
    assert lecture_worker.look_up_again(lecture) == 0


def test_what_was_far_from_the_sources_that_were_ready_counts_as_said_too_early(
    lecture: LectureSession, textbook: Source, collection: Collection
) -> None:
    textbook.reach(State.READY)
    cited, far = cite(lecture).window, window(lecture, ASIDE)
    far.outcome, far.finished_at = WindowOutcome.TOO_FAR, timezone.now()
    far.save()
    assert list(sessions.early_windows(lecture)) == []
    make_document(collection, PASSAGES, title="Later").reach(State.READY)
    assert list(sessions.early_windows(lecture)) == [far]
    assert cited.outcome == WindowOutcome.CITED


def test_a_source_that_the_lecture_does_not_name_makes_nothing_early(
    scope: Scope, collection: Collection, textbook: Source
) -> None:
    naming = sessions.start(scope, None, collection=collection, sources=[str(textbook.uuid)])
    window(naming)
    Window.objects.update(outcome=WindowOutcome.TOO_WEAK, finished_at=timezone.now())
    make_document(collection, PASSAGES, title="Later").reach(State.READY)
    assert not sessions.early_windows(naming).exists()


# What is cited


def test_the_nearest_passages_are_cited_best_first(
    lecture: LectureSession, textbook: Source
) -> None:
    cited = cite(lecture)
    assert cited.window.outcome == WindowOutcome.CITED
    assert quotes(cited)[0] == PASSAGES[0]
    expected = list(range(1, len(cited.citations) + 1))
    assert [citation.rank for citation in cited.citations] == expected
    assert len(cited.citations) <= lecture_pipeline.CITED
    scores = [citation.relevance_score or 0 for citation in cited.citations]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)


def test_without_a_cross_encoder_the_score_is_the_cosine_and_no_note_repeats_it(
    lecture: LectureSession, textbook: Source, settings: Any
) -> None:
    cited = cite(lecture)
    model = HashEmbedder()
    near = float(model.embed_query(SAID) @ model.embed_query(PASSAGES[0]))
    assert cited.citations[0].relevance_score == pytest.approx(near, abs=1e-3)
    assert cited.window.distance == pytest.approx(2 - 2 * near, abs=2e-3)
    assert not cited.window.note
    settings.LIVE_RERANKER = "none"
    assert not cite(lecture, SAID.upper()).window.note


def test_a_citation_is_anchored_to_the_text_that_it_quotes(
    lecture: LectureSession, collection: Collection
) -> None:
    source = make_document(collection, PASSAGES)
    Source.objects.filter(pk=source.pk).update(digest="abc")
    Chunk.objects.filter(source=source, ordinal=0).update(page=7, last_page=8, heading="Second law")
    embed(source)
    citation = cite(lecture).citations[0]
    citation.refresh_from_db()
    expected = (source, "abc", PASSAGES[0], "Second law")
    assert (citation.source, citation.digest, citation.quote, citation.section_heading) == expected
    assert (citation.page, citation.last_page, citation.start, citation.end) == (7, 8, None, None)
    assert citation.chunk == Chunk.objects.get(source=source, ordinal=0)
    assert citation.locator.span == citation.chunk.locator.span


def test_what_is_cited_is_told_with_what_became_of_the_window(
    lecture: LectureSession, textbook: Source
) -> None:
    cited = cite(lecture)
    [event] = events.events_after(lecture, 0)
    assert event.kind == "citations"
    assert event.data.keys() == {"window_index", "outcome", "note", "milliseconds", "citations"}
    assert (event.data["window_index"], event.data["outcome"]) == (0, "cited")
    first = event.data["citations"][0]
    shown = CitedEventOut.model_validate(cited.citations[0])
    assert first == shown.model_dump(mode="json")
    expected = (str(cited.citations[0].uuid), str(textbook.uuid), "Physics")
    assert (first["id"], first["document_id"], first["document_name"]) == expected


def test_every_stage_is_timed(lecture: LectureSession, textbook: Source) -> None:
    window = Window.objects.get(pk=cite(lecture).window.pk)
    stages = {"resolve", "embed_speech", "keywords", "embed", "search", "rerank", "store"}
    assert stages <= set(window.stages)
    assert all(milliseconds >= 0 for milliseconds in window.stages.values())
    assert window.milliseconds is not None
    assert (
        window.milliseconds
        >= sum(spent for stage, spent in window.stages.items() if stage != "keywords") - 1
    )  # which are found afterwards
    assert window.finished_at is not None


def test_keywords_come_from_the_window(lecture: LectureSession, textbook: Source) -> None:
    done = cite(lecture).window
    assert 3 <= len(done.keywords) <= 5
    assert all(word in SAID.casefold() for term in done.keywords for word in term.split())


def test_windows_that_come_together_are_cited_together_as_alone(
    scope: Scope, lecture: LectureSession, textbook: Source
) -> None:
    texts = [SAID, "A gradient points uphill; we walk downhill with it, the other way.", SAID]
    together = lecture_pipeline.cite([window(lecture, text) for text in texts])
    other = sessions.start(scope, None, collection=lecture.collection, language="en")
    alone = [lecture_pipeline.cite([window(other, text)])[0] for text in texts]
    assert [quotes(result) for result in together] == [quotes(result) for result in alone]
    assert [result.window.index for result in together] == [0, 1, 2]


def test_the_minute_of_another_video_is_cited_but_never_the_one_that_is_replayed(
    scope: Scope, collection: Collection
) -> None:
    own = make_source(make_video(collection, key="own", cues=make_cues(6)), texts=PASSAGES)
    other = make_source(make_video(collection, key="other", title="Another talk"), texts=PASSAGES)
    embed(own, other)
    session = sessions.start(scope, None, collection=collection, transcript=own.transcript)
    first = cite(session).citations[0]
    assert (first.source, first.start, first.end, first.page) == (other, 0, 10_000, None)
    assert not Citation.objects.filter(source=own).exists()


def test_only_the_sources_that_a_lecture_names_are_cited(
    scope: Scope, collection: Collection, textbook: Source
) -> None:
    other = make_document(collection, PASSAGES, title="Chemistry")
    hidden = make_document(Collection.objects.create(name="Other", slug="other"), PASSAGES)
    embed(other, hidden)
    named = sessions.start(scope, None, collection=collection, sources=[str(other.uuid)])
    assert {citation.source for citation in cite(named).citations} == {other}
    everything = sessions.start(scope, None, collection=collection)
    assert {citation.source for citation in cite(everything).citations} <= {other, textbook}


@pytest.mark.parametrize(
    "lose",
    [
        Source.delete,
        lambda source: connection.cursor().execute(
            "DELETE FROM citations_source WHERE id = %s", [source.pk]
        ),
    ],
)
def test_a_lecture_whose_only_source_was_deleted_cites_nothing_instead_of_its_collection(
    scope: Scope, collection: Collection, textbook: Source, lose: Callable[[Source], Any]
) -> None:
    other = make_document(collection, PASSAGES, title="Chemistry")
    embed(other)
    named = sessions.start(scope, None, collection=collection, sources=[str(other.uuid)])
    lose(other)
    for session in (named, sessions.start_again(scope, None, named)):
        done = cite(session)
        assert (done.window.outcome, done.citations) == (WindowOutcome.NO_DOCUMENTS, ())


# What is left out, and why


def test_an_aside_is_left_out_by_the_gate(
    lecture: LectureSession, textbook: Source, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    monkeypatch.setattr(registry, "gate", Gatekeeper)
    aside, subject = lecture_pipeline.cite([window(lecture, ASIDE), window(lecture)])
    expected = (WindowOutcome.OFF_TOPIC, (), WindowOutcome.CITED)
    assert (aside.window.outcome, aside.citations, subject.window.outcome) == expected
    assert aside.window.off_topic == pytest.approx(1, abs=1e-4)
    assert "embed" not in aside.window.stages
    settings.LIVE_OFF_TOPIC_CONFIDENCE = 1.0
    assert cite(lecture, ASIDE).window.outcome != WindowOutcome.OFF_TOPIC


def test_what_is_decided_early_is_still_told_in_order(
    lecture: LectureSession, textbook: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "gate", Gatekeeper)
    lecture_pipeline.cite([window(lecture, text) for text in (ASIDE, SAID, ASIDE, SAID, ASIDE)])
    expected = [0, 1, 2, 3, 4]
    assert [event.data["window_index"] for event in events.events_after(lecture, 0)] == expected
    outcomes = [event.data["outcome"] for event in events.events_after(lecture, 0)]
    assert outcomes == ["off_topic", "cited", "off_topic", "cited", "off_topic"]


def test_what_is_too_far_from_everything_is_left_out(
    lecture: LectureSession, textbook: Source, settings: Any
) -> None:
    settings.LIVE_DISTANCE_THRESHOLD = 0.3
    done = cite(lecture, "Nobody spoke of football yesterday evening.").window
    assert done.outcome == WindowOutcome.TOO_FAR
    assert done.distance is not None
    assert done.distance > 0.3
    assert "rerank" not in done.stages or not done.citations.exists()


def test_without_a_cross_encoder_each_passage_must_be_near_enough(
    lecture: LectureSession, textbook: Source, settings: Any
) -> None:
    settings.LIVE_DISTANCE_THRESHOLD = 1.2
    assert quotes(cite(lecture)) == [PASSAGES[0]]


def test_the_cross_encoder_is_a_sign_of_what_is_cited(
    lecture: LectureSession, textbook: Source, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    settings.LIVE_DISTANCE_THRESHOLD = 4.0
    without = cite(lecture)
    reader = Judge(Enthalpy=0.9, Entropy=0.6, Bread=0.4)
    monkeypatch.setattr(registry, "live_reranker", lambda: reader)
    assert quotes(cite(lecture, SAID + " "))[0] == quotes(without)[0]  # far the best for the judge
    trust_readers(monkeypatch)
    cited = cite(lecture, SAID + "  ")
    assert quotes(cited) == [PASSAGES[1]]
    assert cited.window.note == ""


def test_the_cross_encoder_reads_the_best_passages_of_a_window_alone(
    lecture: LectureSession, collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[Sequence[str]] = []

    class Reader(Judge):
        def score(self, query: str, texts: Sequence[str]) -> list[float]:
            read.append(texts)
            return super().score(query, texts)

    embed(make_document(collection, [f"{PASSAGES[0]} {number}" for number in range(8)]))
    monkeypatch.setattr(registry, "live_reranker", Reader)
    assert cite(lecture).citations
    assert [len(texts) for texts in read] == [lecture_pipeline.READ]


@given(judged=st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1) | st.none()), max_size=6))
def test_ranks_are_the_order_of_the_scores_that_are_sent_with_them(
    judged: list[tuple[float, float | None]],
) -> None:
    passages = [
        NearPassage(
            cast(Candidate, number),
            0.9 - number / 100,
            Relevance(order=order, likelihood=likelihood, is_likely=True, base=0.0),
        )
        for number, (order, likelihood) in enumerate(judged)
    ]
    chosen = lecture_pipeline.rank_by_judge(passages, 4.0)[: lecture_pipeline.CITED]
    cited = lecture_pipeline.by_score(chosen)
    assert set(cited) == set(chosen)
    expected = sorted((match.score for match in cited), reverse=True)
    assert [match.score for match in cited] == expected


def test_the_citations_of_a_window_are_stored_by_the_score_that_is_sent(
    lecture: LectureSession, textbook: Source, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    settings.LIVE_DISTANCE_THRESHOLD = 4.0

    def judged(_: str, candidates: Sequence[Any], **__: Any) -> list[Relevance]:
        return [
            Relevance(order=0.9, likelihood=0.8 + n / 100, is_likely=True, base=2 - n / 100)
            for n in range(len(candidates))
        ]

    monkeypatch.setattr(lecture_pipeline, "judge_candidates", judged)
    cited = cite(lecture).citations
    scores = [citation.relevance_score or 0 for citation in cited]
    assert [citation.rank for citation in cited] == [1, 2, 3]
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) == 3


def test_a_real_cross_encoder_is_used_where_one_is_here(
    lecture: LectureSession, textbook: Source, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    settings.LIVE_RERANKER = str(tiny_models.folder(tiny_models.CROSS))
    settings.LIVE_DISTANCE_THRESHOLD = 4.0
    registry.reset()
    trust_readers(monkeypatch)
    cited = cite(lecture)
    assert cited.window.note == ""
    reranker = registry.live_reranker()
    assert reranker is not None
    scores = reranker.score(SAID, list(PASSAGES))
    assert quotes(cited) == [PASSAGES[scores.index(max(scores))]]


# The failure table


def test_no_documents_no_citations(lecture: LectureSession, embedded: list[str]) -> None:
    cited = cite(lecture)
    assert (cited.window.outcome, cited.citations, embedded) == (WindowOutcome.NO_DOCUMENTS, (), [])


def test_documents_that_are_not_indexed_yet_are_told_of(
    lecture: LectureSession, collection: Collection
) -> None:
    make_document(collection, PASSAGES)
    assert cite(lecture).window.outcome == WindowOutcome.NOT_INDEXED
    embed(make_document(Collection.objects.create(name="Other", slug="other"), PASSAGES))
    assert cite(lecture).window.outcome == WindowOutcome.NOT_INDEXED


def test_a_document_of_which_no_passage_is_stored_yet_is_told_of_unless_it_failed(
    lecture: LectureSession, collection: Collection
) -> None:
    source = Source.objects.create(collection=collection, kind="text", title="Fresh")
    assert cite(lecture).window.outcome == WindowOutcome.NOT_INDEXED
    source.change(state=State.FAILED)
    assert cite(lecture).window.outcome == WindowOutcome.NO_DOCUMENTS


@pytest.fixture
def hosted_textbook(model_server: ModelStandIn, settings: Any, collection: Collection) -> Source:
    settings.EMBEDDING_PROVIDER, settings.EMBEDDING_MODEL = "ollama", "mxbai-embed-large"
    settings.MODEL_TIMEOUT_SECONDS = 0.2
    source = make_document(collection, PASSAGES)
    embed(source)
    model_server.requests.clear()
    return source


@pytest.mark.usefixtures("without_minilm")
@pytest.mark.parametrize(
    ("times", "outcome"),
    [(1, WindowOutcome.CITED), (2, WindowOutcome.FAILED)],
    ids=["once, is answered then", "twice, leaves the window empty"],
)
def test_an_embedding_is_asked_for_once_more_and_one_that_times_out(
    lecture: LectureSession,
    hosted_textbook: Source,
    model_server: ModelStandIn,
    times: int,
    outcome: WindowOutcome,
) -> None:
    model_server.fail(*[Fault.SLOW] * times)
    cited = cite(lecture)
    assert (cited.window.outcome, len(model_server.requests)) == (outcome, 2)
    is_empty = outcome == WindowOutcome.FAILED
    assert (cited.citations == ()) == is_empty
    assert ("did not answer within 0.2 s" in cited.window.note) == is_empty
    assert cite(lecture, SAID.upper()).window.outcome == WindowOutcome.CITED, "none the worse"


@pytest.fixture
def without_minilm(monkeypatch: pytest.MonkeyPatch) -> None:
    """The model that the gate and the keywords go by is not on this machine."""
    monkeypatch.setattr(registry, "live_encoder", lambda: None)


@pytest.mark.usefixtures("without_minilm")
def test_without_the_model_of_gate_and_keywords_the_text_alone_is_looked_for(
    lecture: LectureSession, textbook: Source
) -> None:
    cited = cite(lecture)
    assert (cited.window.outcome, cited.window.keywords) == (WindowOutcome.CITED, [])


@pytest.fixture
def looked_for_apart(settings: Any) -> None:
    """Neither gate nor keywords: what is looked for is embedded by itself."""
    settings.LIVE_KEYWORDS, settings.LIVE_OFF_TOPIC_CONFIDENCE = "none", 1.0


@contextmanager
def hanging_up(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Close the connection to the database while the model embeds what is looked for."""
    real = HashEmbedder.embed_queries

    def embed_and_hang_up(self: HashEmbedder, texts: Sequence[str]) -> Any:
        connection.connection.close()
        return real(self, texts)

    try:
        with monkeypatch.context() as patch:
            patch.setattr(HashEmbedder, "embed_queries", embed_and_hang_up)
            yield
    finally:
        connection.close()


@pytest.mark.usefixtures("looked_for_apart")
def test_when_the_database_goes_away_the_answer_is_empty_and_the_window_waits(
    transactional_db: None,
    lecture: LectureSession,
    textbook: Source,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    waiting = window(lecture)
    with hanging_up(monkeypatch):
        [cited] = lecture_pipeline.cite([waiting])
    expected = (False, (), "The database is unavailable.")
    assert (cited.is_stored, cited.citations, cited.note) == expected
    assert "Database unavailable" in caplog.text
    waiting.refresh_from_db()
    assert waiting.outcome == WindowOutcome.WAITING
    hits = [cited.window.outcome for cited in lecture_pipeline.cite([waiting])]
    assert hits == [WindowOutcome.CITED]


@pytest.mark.usefixtures("looked_for_apart")
def test_when_the_database_goes_away_a_question_is_answered_with_nothing(
    transactional_db: None,
    scope: Scope,
    lecture: LectureSession,
    textbook: Source,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with hanging_up(monkeypatch):
        answer = lecture_worker.query(scope, lecture, SAID, 3)
    expected = (3, (), WindowOutcome.FAILED, "The database is unavailable.")
    assert (answer.window_index, answer.citations, answer.outcome, answer.note) == expected
    assert lecture_worker.query(scope, lecture, SAID, 3).citations


def test_without_a_loadable_cross_encoder_passages_are_ordered_by_similarity_with_a_note(
    scope: Scope, lecture: LectureSession, textbook: Source, settings: Any, tmp_path: Path
) -> None:
    broken = shutil.copytree(tiny_models.folder(tiny_models.CROSS), tmp_path / "broken")
    (broken / "config.json").write_text('{"model_type": ')
    settings.LIVE_RERANKER = str(broken)
    registry.reset()
    answer = lecture_worker.query(scope, lecture, SAID, 0)
    assert answer.citations[0].quote == PASSAGES[0]
    assert answer.note.startswith("Ordered by the judge, not re-ranked: ")


def test_a_cross_encoder_that_fails_in_an_unexpected_way_does_so_too(
    lecture: LectureSession, textbook: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken:
        def score(self, query: str, texts: Sequence[str]) -> list[float]:
            raise RuntimeError("no memory")

    monkeypatch.setattr(registry, "live_reranker", Broken)
    cited = cite(lecture)
    assert cited.window.outcome == WindowOutcome.CITED
    assert cited.window.note == (
        "Ordered by the judge, not re-ranked: Something unexpected went wrong."
        " Try again; the server's log has the details."
    )


def test_when_nothing_is_likely_nothing_is_cited(
    lecture: LectureSession, textbook: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unlikely(_: str, candidates: Sequence[Any], **__: Any) -> list[Relevance]:
        return [Relevance(order=0.9, likelihood=0.1, is_likely=False, base=2)] * len(candidates)

    monkeypatch.setattr(lecture_pipeline, "judge_candidates", unlikely)
    monkeypatch.setattr(registry, "live_reranker", lambda: Judge(Entropy=0.99))
    cited = cite(lecture)
    assert (cited.window.outcome, cited.citations) == (WindowOutcome.TOO_WEAK, ())
    assert events.events_after(lecture, 0)[-1].data["citations"] == []


def test_another_model_than_the_librarys_is_told_of(
    lecture: LectureSession, textbook: Source, settings: Any
) -> None:
    settings.EMBEDDING_MODEL = "other"
    registry.reset()
    cited = cite(lecture)
    assert cited.window.outcome == WindowOutcome.FAILED
    assert "locked to" in cited.window.note


def test_keywords_that_cannot_be_found_cost_a_window_no_citations(
    lecture: LectureSession,
    textbook: Source,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Broken:
        def extract(self, *_: Any, **__: Any) -> list[str]:
            raise RuntimeError("no words")

    monkeypatch.setattr(registry, "keywords", Broken)
    cited = cite(lecture)
    assert (cited.window.outcome, cited.window.keywords) == (WindowOutcome.CITED, [])
    assert "has no keywords" in caplog.text


@pytest.mark.parametrize("name", ["embed_documents", "embed_queries"])
def test_a_model_that_fails_in_an_unexpected_way_fails_no_more_than_it_must(
    lecture: LectureSession, textbook: Source, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    def fail(*_: Any) -> None:
        raise RuntimeError("no memory")

    monkeypatch.setattr(HashEmbedder, name, fail)
    monkeypatch.setattr(vector_space, "embedder_of", lambda _: HashEmbedder())  # of another space
    if name == "embed_documents":  # what is said has no vector; what is looked for has one
        monkeypatch.setattr(
            HashEmbedder,
            "embed_queries",
            lambda self, texts: np.stack([self.embed_query(text) for text in texts]),
        )
    done = cite(lecture).window
    assert (done.outcome, bool(done.keywords)) == (
        (WindowOutcome.CITED, False) if name == "embed_documents" else (WindowOutcome.FAILED, True)
    )


# What changes meanwhile


def during_search(monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> None:
    """Do something after the passages were found, before they are stored."""
    monkeypatch.setattr(registry, "live_reranker", lambda: Judge(act, Entropy=0.9))


def test_a_chunk_that_is_gone_when_it_is_cited_leaves_its_quote(
    lecture: LectureSession, textbook: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    Source.objects.update(digest="before")

    def cut_anew() -> None:
        replace_chunks(textbook, ["Something else altogether."])
        Source.objects.update(digest="after")

    during_search(monkeypatch, cut_anew)
    cited = cite(lecture)
    assert cited.window.outcome == WindowOutcome.CITED
    assert quotes(cited)[0] == PASSAGES[0]
    expected = {(None, "before")}
    assert {(citation.chunk_id, citation.digest) for citation in Citation.objects.all()} == expected


def test_a_chunk_that_goes_later_leaves_the_citation(
    lecture: LectureSession, textbook: Source
) -> None:
    cited = cite(lecture)
    textbook.chunks.all().delete()
    assert list(Citation.objects.values_list("chunk", flat=True)) == [None] * len(cited.citations)


def test_a_source_that_is_gone_when_it_is_cited_is_not(
    lecture: LectureSession, textbook: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    during_search(monkeypatch, textbook.delete)
    cited = cite(lecture)
    assert cited.window.outcome == WindowOutcome.TOO_FAR
    assert cited.window.note.endswith("The passages were deleted meanwhile.")


def test_a_lecture_that_is_deleted_meanwhile_is_no_error(
    lecture: LectureSession, textbook: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    during_search(monkeypatch, lambda: sessions.delete(lecture))
    assert cite(lecture).citations == ()
    assert not Citation.objects.exists()
    assert not LectureEvent.objects.exists()


def test_a_window_that_somebody_else_has_cited_meanwhile_stays_as_it_is(
    lecture: LectureSession, textbook: Source
) -> None:
    waiting = window(lecture)
    [first] = lecture_pipeline.cite([Window.objects.get(pk=waiting.pk)])
    [again] = lecture_pipeline.cite([waiting])
    assert again.citations == first.citations
    assert len(events.events_after(lecture, 0)) == 1


# A question about one window


def test_a_question_is_answered_and_stored(
    scope: Scope, lecture: LectureSession, textbook: Source
) -> None:
    answer = lecture_worker.query(scope, lecture, f"  {SAID}\x00\n", 4)
    assert (answer.window_index, answer.outcome) == (4, WindowOutcome.CITED)
    assert answer.citations[0].source == textbook
    assert (
        100 <= len(answer.citations[0].snippet) <= 200 or answer.citations[0].snippet == PASSAGES[0]
    )
    assert answer.keywords
    assert answer.milliseconds >= 0
    assert Window.objects.get().text == SAID
    assert [event.kind for event in events.events_after(lecture, 0)] == ["window", "citations"]


def test_the_same_question_gets_the_same_answer_and_another_text_is_refused(
    scope: Scope, lecture: LectureSession, textbook: Source
) -> None:
    first, again = (lecture_worker.query(scope, lecture, SAID, 0) for _ in range(2))
    assert first == again
    with pytest.raises(WindowTaken, match="Window 0"):
        lecture_worker.query(scope, lecture, ASIDE, 0)
    new_windows = speech.push(
        lecture, [Utterance(n, f"{SAID} This is number {n}.") for n in range(6)]
    )
    assert [window.index for window in new_windows] == list(range(1, len(new_windows) + 1))


@pytest.mark.parametrize(
    ("text", "index"),
    [("", 0), (" \x00 ", 0), ("a" * 10_001, 0), ("a", -1), ("a", lecture_worker.MAX_INDEX + 1)],
    ids=["nothing", "blanks", "too long", "before the first", "after the last"],
)
def test_questions_that_cannot_be_are_refused(
    scope: Scope, lecture: LectureSession, text: str, index: int
) -> None:
    with pytest.raises(InvalidInput):
        lecture_worker.query(scope, lecture, text, index)
    assert not Window.objects.exists()


def test_readers_and_lectures_that_have_ended_are_refused(
    scope: Scope, lecture: LectureSession
) -> None:
    with pytest.raises(Forbidden):
        lecture_worker.query(Scope(readable=scope.readable), lecture, SAID, 0)
    speech.end(lecture)
    with pytest.raises(LectureEnded):
        lecture_worker.query(scope, lecture, SAID, 0)
    assert not Window.objects.exists()


def test_a_window_keeps_its_citations_when_the_lecture_has_ended(
    scope: Scope, lecture: LectureSession
) -> None:
    first = lecture_worker.query(scope, lecture, SAID, 0)
    speech.end(lecture)
    assert lecture_worker.query(scope, lecture, SAID, 0) == first


# The queue


def test_what_waits_is_cited_by_the_threads_of_the_process(
    transactional_db: None,
    lecture: LectureSession,
    textbook: Source,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    new_windows = speech.push(
        lecture, [Utterance(n, f"{SAID} This is number {n}.") for n in range(30)]
    )
    began = time.monotonic()
    lecture_worker.submit([window.pk for window in new_windows])
    assert time.monotonic() - began < 1
    wait_for_windows()
    indexes = [
        event.data["window_index"]
        for event in events.events_after(lecture, 0)
        if event.kind == "citations"
    ]
    assert indexes == list(range(len(new_windows)))  # in the order of the session, each once
    assert set(Window.objects.values_list("attempts", flat=True)) == {1}
    assert all(Window.objects.values_list("keywords", flat=True))


def test_keywords_are_found_when_no_window_waits(
    transactional_db: None, lecture: LectureSession, textbook: Source
) -> None:
    for n in range(2 * lecture_worker.BATCH):
        window(lecture, f"{SAID} This is number {n}.")
    described = []
    for _ in range(2):
        assert lecture_worker.work()
        described.append(Window.objects.exclude(keywords=[]).count())
    assert described == [0, 0]
    while lecture_worker.work():
        described.append(Window.objects.exclude(keywords=[]).count())
    assert described[2:] == [*range(1, 2 * lecture_worker.BATCH + 1)]


@pytest.mark.usefixtures("looked_for_apart")
def test_speech_is_taken_while_a_model_hangs(
    transactional_db: None,
    lecture: LectureSession,
    textbook: Source,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    release = threading.Event()
    real = HashEmbedder.embed_queries

    def hang(self: HashEmbedder, texts: Sequence[str]) -> Any:
        release.wait(20)
        return real(self, texts)

    monkeypatch.setattr(HashEmbedder, "embed_queries", hang)
    said = [Utterance(n, f"{SAID} This is number {n}.") for n in range(12)]
    try:
        began = time.monotonic()
        for utterance in said:
            lecture_worker.submit([row.pk for row in speech.push(lecture, [utterance])])
        assert time.monotonic() - began < 10
        assert Window.objects.waiting().count() == Window.objects.count() > 8
    finally:
        release.set()
    wait_for_windows()
    assert set(Window.objects.values_list("outcome", flat=True)) == {WindowOutcome.CITED}


def wait_until(is_so: Callable[[], bool]) -> None:
    until(lambda: is_so() and not lecture_worker.pool.active)


def wait_for_windows() -> None:
    wait_until(lambda: not Window.objects.waiting().exists())


ENDS = """
import itertools, os, threading, time
os.environ["DJANGO_SETTINGS_MODULE"] = "kbsite.settings.django"
import django
django.setup()
from citations.lectures import worker as live
class Slow:
    def warm(self, texts, language):
        time.sleep(0.05)
live.claim = lambda: [1]
live.cite = lambda taken: time.sleep(0.05) or []
live.pool.notify()
words = itertools.repeat("entropy")
threading.Thread(target=live.learn, args=(Slow(), words), kwargs={"language": "en"}).start()
time.sleep(0.3)
print("at work:", live.pool.active)
"""


def test_a_process_ends_although_windows_and_lectures_wait(tmp_path: Path) -> None:
    environment = {"YOUTUBE_KB_DATA_DIR": str(tmp_path), "PATH": ""}
    process = run_program(sys.executable, "-c", ENDS, environment=environment)
    assert process.stdout == "at work: 1\n"


def test_what_was_said_while_a_question_was_answered_is_cited_after_it(
    transactional_db: None,
    scope: Scope,
    lecture: LectureSession,
    textbook: Source,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = lecture_pipeline.cite

    def cite_(windows: Sequence[Window], **later: Any) -> list[StoredWindow]:
        if windows[0].index == 7:
            window(lecture)
            assert lecture_worker.claim() == []
        return real(windows, **later)

    monkeypatch.setattr(lecture_worker, "cite", cite_)
    lecture_worker.query(scope, lecture, PASSAGES[2], 7)
    wait_for_windows()


def test_windows_that_a_dead_process_took_are_taken_again_after_a_while(
    lecture: LectureSession, textbook: Source
) -> None:
    waiting = window(lecture)
    now = timezone.now()
    Window.objects.update(
        holder=uuid4(), active_at=now - Window.LEASE / 2, created_at=now - Window.LEASE
    )
    assert lecture_worker.sweep() == 0
    Window.objects.update(active_at=now - 2 * Window.LEASE)
    assert lecture_worker.sweep() == 1
    waiting.refresh_from_db()
    assert waiting.outcome == WindowOutcome.CITED


def test_a_sweep_leaves_fresh_windows_to_the_process_that_made_them(
    lecture: LectureSession, textbook: Source
) -> None:
    window(lecture)
    assert lecture_worker.sweep() == 0
    Window.objects.update(created_at=timezone.now() - 2 * lecture_worker.GRACE)
    assert lecture_worker.sweep() == 1


def test_a_window_that_no_process_survives_is_given_up(
    lecture: LectureSession, textbook: Source
) -> None:
    window(lecture)
    Window.objects.update(
        attempts=Window.MAX_CRASHES, created_at=timezone.now() - 2 * lecture_worker.GRACE
    )
    lecture_worker.sweep()
    given_up = Window.objects.get()
    expected = (WindowOutcome.FAILED, "Every process that tried to cite it died.")
    assert (given_up.outcome, given_up.note) == expected
    assert events.events_after(lecture, 0)[-1].data["outcome"] == "failed"


def test_nobody_takes_windows_of_a_session_whose_earlier_ones_are_being_cited(
    lecture: LectureSession, scope: Scope, textbook: Source
) -> None:
    for number in range(lecture_worker.BATCH + 3):
        window(lecture, f"{SAID} {number}")
    other = window(sessions.start(scope, None), "Another session.")
    assert [window.index for window in lecture_worker.claim()] == list(range(lecture_worker.BATCH))
    assert lecture_worker.claim() == [other]
    assert lecture_worker.claim() == []


def test_models_are_warmed_and_words_learnt_before_they_are_said(
    lecture: LectureSession, textbook: Source, embedded: list[str]
) -> None:
    registry.warm()
    lecture_worker.warm_keywords(lecture.pk)
    embedded.clear()
    cite(lecture, PASSAGES[2])
    assert all(" " in text for text in embedded)  # words are known; pairs and whole texts are not


def test_whoever_begins_many_lectures_keeps_no_window_waiting(
    transactional_db: None,
    lecture: LectureSession,
    textbook: Source,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    release, learnt = threading.Event(), list[int]()

    class Learner:
        def warm(self, texts: Sequence[str], *, language: str) -> None:
            release.wait(20)
            learnt.append(len(texts))

        def extract(self, *_: Any, **__: Any) -> list[str]:
            return []

    monkeypatch.setattr(registry, "keywords", Learner)
    try:
        for _ in range(3 * lecture_worker.MAX_PREPARATIONS):
            lecture_worker.prepare(lecture)
        lecture_worker.submit([window(lecture).pk])
        wait_for_windows()
    finally:
        release.set()
    wait_until(lambda: len(learnt) == lecture_worker.MAX_PREPARATIONS)


@pytest.mark.parametrize("model", ["gate", "keywords"])
def test_a_gate_or_keywords_that_cannot_be_loaded_are_done_without(
    model: str, lecture: LectureSession, textbook: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise ModelError("It cannot be read.")

    monkeypatch.setattr(registry, model, fail)
    done = cite(lecture).window
    assert (done.outcome, bool(done.keywords)) == (WindowOutcome.CITED, model == "gate")


def test_a_setting_that_cannot_be_used_fails_the_window_and_not_the_thread(
    lecture: LectureSession, textbook: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise InvalidProvider("There is no such model.")

    monkeypatch.setattr(vector_space, "embedder_of", fail)
    assert cite(lecture).window.note == "There is no such model."


# Meaning


def test_real_speech_finds_the_passage_that_means_the_same(
    scope: Scope, collection: Collection, settings: Any
) -> None:
    settings.EMBEDDING_PROVIDER = "local"
    registry.reset()
    assert embedding.LOCAL["local"].dimensions == 384
    passages = (
        "The second law of thermodynamics: in an isolated system, disorder does not decrease.",
        "Sourdough needs a starter of wild yeast and bacteria, fed with flour and water.",
        "Gradient descent follows the negative slope of the loss.",
    )
    embed(make_document(collection, passages))
    session = sessions.start(scope, None, language="en")
    said = (
        "To make the loss smaller we take little steps downhill, against its slope, so we descend"
        " along the gradient until it does not fall any more."
    )
    cited = cite(session, said)
    assert quotes(cited)[0] == passages[2]

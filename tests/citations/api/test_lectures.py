"""The operations on lectures under /api/v1/: sessions, what is said, what is cited, who may, and
how they refuse.
"""

from datetime import timedelta
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from citations.api import shapes
from citations.lectures import events
from citations.lectures import pipeline as lecture_pipeline
from citations.lectures import worker as lecture_worker
from citations.models import (
    Citation,
    Embedding,
    LectureSession,
    Source,
    State,
    Window,
    WindowOutcome,
)
from citations.providers import registry
from citations.schemas.lectures import SegmentEventOut
from citations.search.judge import Relevance
from tests.citations.api.rest import V1, assert_has, good, heard, schema_of_events
from tests.citations.api.rest import send as post
from tests.citations.talks import talk_in
from tests.makers import make_document, make_user, make_video, token_client
from tests.problems import problem
from transcripts.core.access import AccessLevel
from transcripts.models import Collection, Role
from transcripts.text.cues import Cue

SAID = (
    "Backpropagation carries the error of a network from its end back to its start.",
    "Every weight of the network then moves a little against its own gradient, layer by layer.",
    "The size of that little step is what we call the learning rate of the network.",
    "If it is too large the training jumps about, and if it is too small it takes for ever.",
)


@pytest.fixture
def asking(owner: User) -> Client:
    """A program with a token that may write."""
    return token_client(owner)


@pytest.fixture
def outsider(db: None) -> Client:
    """A program of somebody with a collection of their own."""
    return token_client(
        make_user("mallory", collection=Collection.objects.create(name="Own", slug="own"))
    )


@pytest.fixture
def book(collection: Collection) -> Source:
    return make_document(
        collection,
        [SAID[0] + " This is the chain rule.", "Bread is baked in an oven."],
        title="Deep Learning.pdf",
    )


@pytest.fixture
def lecture(asking: Client, book: Source) -> LectureSession:
    return LectureSession.objects.get(
        uuid=begun(asking, title="Networks", sources=[str(book.uuid)])["id"]
    )


def begun(client: Client, **about: Any) -> Any:
    return good(post(client, "sessions", about), 201)


def cited(
    lecture: LectureSession,
    book: Source,
    *,
    index: int = 0,
    rank: int = 1,
    page: int | None = 142,
    heading: str = "Gradients",
) -> Citation:
    window, _ = Window.objects.get_or_create(
        session=lecture, index=index, defaults={"text": SAID[0], "outcome": WindowOutcome.CITED}
    )
    where = {"span_start": 0, "span_end": 20, "page": page, "section_heading": heading}
    about = {"digest": "d", "relevance_score": 0.92, "chunk": book.chunks.first()}
    said = {"quote": "The whole passage.", "snippet": "The whole"}
    of = {"session": lecture, "window": window, "window_index": index, "rank": rank}
    return Citation.objects.create(source=book, **of, **about, **said, **where)


def segments(*texts: str) -> dict[str, Any]:
    return {
        "segments": [
            {"number": n, "text": text, "start": n * 5, "end": (n + 1) * 5}
            for n, text in enumerate(texts)
        ]
    }


# Sessions


def test_a_lecture_begins_is_listed_and_is_deleted(
    asking: Client, book: Source, collection: Collection
) -> None:
    about: dict[str, Any] = {"title": "Networks", "collection": "lectures", "language": "en"}
    about["sources"] = [str(book.uuid)]
    made = begun(asking, **about)
    assert_has(made, **about, names_sources=True, video_id=None, windows=0, events=0)
    assert good(asking.get(f"{V1}sessions/{made['id']}")) == made
    other = begun(asking)["id"]
    listed = good(asking.get(f"{V1}sessions?limit=1"))
    assert_has(listed, total=2, next=1)
    assert [session["id"] for session in listed["sessions"]] == [other]
    hits = good(asking.get(f"{V1}sessions?words=networks"))["sessions"]
    assert [session["id"] for session in hits] == [made["id"]]
    assert asking.delete(f"{V1}sessions/{made['id']}").status_code == 204
    problem(asking.get(f"{V1}sessions/{made['id']}"), 404, "lecture_not_found")
    assert Source.objects.get(pk=book.pk)


def test_a_recording_is_replayed_and_ends_with_its_last_word(
    asking: Client, collection: Collection, django_assert_max_num_queries: Any
) -> None:
    video = make_video(
        collection,
        cues=[Cue(start=n * 1_000, end=(n + 1) * 1_000, text=text) for n, text in enumerate(SAID)],
    )
    made = begun(asking, video_id=video.key)
    assert_has(made, title="Lecture 1", video_id="lecture-1")
    path = f"sessions/{made['id']}"
    assert good(post(asking, f"{path}/replay", {"position": 1}), 202) == {"windows": []}
    (window, *_) = good(post(asking, f"{path}/replay", {"position": 60}), 202)["windows"]
    assert window["text"].startswith(SAID[0])
    assert_has(window, index=0, first=0, start=0)
    again = good(asking.get(f"{V1}{path}"))
    assert (bool(again["ended_at"]), again["position"]) == (True, 60)
    problem(post(asking, "sessions", {"video_id": "nowhere"}), 404, "video_not_found")


# What is said


def test_segments_become_windows_that_are_handed_on_once_they_are_stored(
    asking: Client, lecture: LectureSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    handed: list[Any] = []
    monkeypatch.setattr(lecture_worker, "submit", handed.append)
    path = f"sessions/{lecture.uuid}/segments"
    assert good(post(asking, path, segments(*SAID[:1])), 202) == {"windows": []}
    (window,) = good(post(asking, path, segments(*SAID)), 202)["windows"]
    assert set(window) == {"index", "first", "last", "start", "end", "text"}
    assert good(post(asking, path, segments(*SAID)), 202) == {"windows": []}, (
        "what is sent twice counts once"
    )
    assert good(post(asking, path, {"text": "So"}), 202) == {"windows": []}
    assert len(good(post(asking, f"sessions/{lecture.uuid}/end"), 202)["windows"]) == 1
    assert [list(row) for row in handed] == [
        [],
        [Window.objects.get(session=lecture, index=0).pk],
        [],
        [],
        [Window.objects.get(session=lecture, index=1).pk],
    ]
    problem(post(asking, path, {"text": "More."}), 409, "lecture_ended")


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"segments": []},
        {"text": "  "},
        {"text": "a", "segments": [{"number": 0, "text": "a"}]},
        {"segments": [{"text": "a"}]},
        {"segments": [{"number": -1, "text": "a"}]},
        {"segments": [{"number": 2**31, "text": "a"}]},
        {"segments": [{"number": 0, "text": "a\0"}]},
        {"segments": [{"number": 0, "text": "\ud800"}]},
        {"segments": [{"number": 0, "text": "a" * 5_001}]},
        {"segments": [{"number": 0, "text": "a", "start": -1.5}]},
        {"segments": [{"number": 0, "text": "a", "speaker": "x"}]},
        {"segments": [{"number": n, "text": "a"} for n in range(1_001)]},
        [],
    ],
)
def test_what_cannot_have_been_said_is_refused(
    asking: Client, lecture: LectureSession, body: Any
) -> None:
    problem(post(asking, f"sessions/{lecture.uuid}/segments", body), 422, "invalid_input")


# What is cited


@pytest.fixture
def indexed(collection: Collection, fake_models: None, settings: Any) -> Source:
    """A talk that is found by its words' vectors."""
    settings.LIVE_RERANKER = "none"
    return talk_in(collection, said=SAID)


def test_a_window_is_cited_while_the_caller_waits_and_the_same_text_is_answered_again(
    asking: Client, indexed: Source
) -> None:
    session = begun(asking, sources=[str(indexed.uuid)])["id"]
    body = {"session_id": session, "transcript_text": " ".join(SAID[:3]), "window_index": 4}
    response = post(asking, "rag/query", body)
    answer = good(response)
    assert set(answer) == {"window_index", "citations", "note", "query_metadata"}
    assert (answer["window_index"], answer["note"]) == (4, "")
    assert set(answer["query_metadata"]) == {"keywords", "expanded_concepts", "processing_time_ms"}
    assert isinstance(answer["query_metadata"]["processing_time_ms"], int)
    (best, *_) = answer["citations"]
    located = {"document_id", "document_name", "page_number", "section_heading"}
    assert set(best) == {"rank", "snippet", "relevance_score", *located}
    assert_has(best, rank=1, document_id=str(indexed.uuid), document_name="Talk", page_number=None)
    assert 100 <= len(best["snippet"]) <= 200
    assert 0 < best["relevance_score"] <= 1
    assert "Cuebase-Note" not in response  # nothing is amiss
    stored = list(Citation.objects.values_list("pk", flat=True))
    assert good(post(asking, "rag/query", body))["citations"] == answer["citations"]
    assert list(Citation.objects.values_list("pk", flat=True)) == stored
    other = {**body, "transcript_text": "Coffee, anyone?"}
    problem(post(asking, "rag/query", other), 409, "window_taken")
    assert Window.objects.get().text == body["transcript_text"]


@pytest.mark.parametrize(
    ("outcome", "reason"),
    [
        (WindowOutcome.NO_DOCUMENTS, "no_documents"),
        (WindowOutcome.NOT_INDEXED, "not_indexed_yet"),
        (WindowOutcome.OFF_TOPIC, "off_topic"),
        (WindowOutcome.TOO_FAR, "too_weak"),
        (WindowOutcome.TOO_WEAK, "too_weak"),
    ],
)
def test_an_empty_answer_says_why_in_its_header_in_its_note_and_in_the_event(
    asking: Client,
    indexed: Source,
    monkeypatch: pytest.MonkeyPatch,
    settings: Any,
    outcome: WindowOutcome,
    reason: str,
) -> None:
    session = begun(asking)["id"]
    match outcome:
        case WindowOutcome.NO_DOCUMENTS:
            indexed.delete()
        case WindowOutcome.NOT_INDEXED:
            Embedding.objects.all().delete()
            indexed.change(state=State.WORDS)
        case WindowOutcome.OFF_TOPIC:
            gate = SimpleNamespace(off_topic=lambda _: 0.99)
            monkeypatch.setattr(registry, "gate", lambda: gate)
        case WindowOutcome.TOO_FAR:
            settings.LIVE_DISTANCE_THRESHOLD = 0.01
        case WindowOutcome.TOO_WEAK:
            unlikely = Relevance(order=0.9, likelihood=0.1, is_likely=False, base=2.0)
            monkeypatch.setattr(
                lecture_pipeline,
                "judge_candidates",
                lambda _, candidates, **__: [unlikely] * len(candidates),
            )
    body = {"session_id": session, "transcript_text": " ".join(SAID[:2]), "window_index": 0}
    for _ in range(2):  # the second time from what is stored
        response = post(asking, "rag/query", body)
        answer = good(response)
        assert Window.objects.get().outcome == outcome
        assert (answer["citations"], answer["note"]) == ([], reason)
        assert response["Cuebase-Note"] == reason
    post(asking, f"sessions/{session}/end")
    events = heard(asking.get(f"{V1}sessions/{session}/events"))
    (event,) = [data for name, data in events if name == "citations"]
    assert (event["citations"], event["note"]) == ([], reason)


def test_an_answer_whose_citations_were_deleted_with_their_source_says_so_when_it_is_repeated(
    asking: Client, indexed: Source
) -> None:
    session = begun(asking)["id"]
    body = {"session_id": session, "transcript_text": " ".join(SAID[:3]), "window_index": 0}
    assert good(post(asking, "rag/query", body))["citations"]
    indexed.delete()
    again = good(post(asking, "rag/query", body))
    assert (again["citations"], again["note"]) == ([], "no_documents")


def test_the_index_of_a_window_of_the_lecture_itself_is_taken(
    asking: Client, lecture: LectureSession
) -> None:
    post(asking, f"sessions/{lecture.uuid}/segments", segments(*SAID))
    body: dict[str, Any] = {"transcript_text": "Something else.", "window_index": 0}
    body["session_id"] = str(lecture.uuid)
    problem(post(asking, "rag/query", body), 409, "window_taken")
    for wrong in (
        {"transcript_text": ""},
        {"transcript_text": "\0"},
        {"transcript_text": " \n"},
        {"window_index": True},
        {"window_index": "1"},
        {"window_index": -1},
        {"window_index": 10**7},
        {"session_id": "x"},
        {"more": 1},
    ):
        problem(post(asking, "rag/query", {**body, **wrong}), 422, "invalid_input")
    nowhere = {**body, "session_id": str(uuid4())}
    problem(post(asking, "rag/query", nowhere), 404, "lecture_not_found")


def test_without_a_limit_all_citations_of_a_lecture_are_listed(
    asking: Client,
    lecture: LectureSession,
    book: Source,
    monkeypatch: pytest.MonkeyPatch,
    django_assert_max_num_queries: Any,
) -> None:
    address = f"{V1}sessions/{lecture.uuid}/citations"
    for index in range(40):
        for rank in (1, 2, 3):
            cited(lecture, book, index=index, rank=rank)
    with django_assert_max_num_queries(8):
        listed = good(asking.get(address))
    assert (len(listed["citations"]), listed["total"], listed["next"]) == (120, 120, None)
    order = [(row["window_index"], row["rank"]) for row in listed["citations"]]
    assert order == [(index, rank) for index in range(40) for rank in (1, 2, 3)]
    assert len(good(asking.get(f"{address}?offset=100"))["citations"]) == 20
    problem(asking.get(f"{address}?limit=101"), 422, "invalid_input")
    monkeypatch.setattr(shapes, "MAX_LISTED", 50)  # of a lecture without end
    some = good(asking.get(address))
    assert (len(some["citations"]), some["total"], some["next"]) == (50, 120, 50)


def test_citations_have_exactly_their_fields(
    asking: Client, lecture: LectureSession, book: Source
) -> None:
    first, second = cited(lecture, book), cited(lecture, book, index=1, page=None, heading="")
    address = f"{V1}sessions/{lecture.uuid}/citations"
    listed = good(asking.get(address))
    assert (set(listed), listed["next"]) == ({"citations", "total", "next"}, None)
    (earlier, later) = listed["citations"]
    page = good(asking.get(f"{address}?offset=0&limit=1"))
    assert_has(page, citations=[earlier], total=2, next=1)
    assert_has(good(asking.get(f"{address}?offset=1&limit=1")), citations=[later], next=None)
    located = {"id", "document_name", "page_number", "created_at"}
    assert set(earlier) == {"window_index", "rank", "snippet", *located}
    assert_has(earlier, id=str(first.uuid), window_index=0, rank=1, page_number=142)
    assert earlier["document_name"] == "Deep Learning.pdf"
    assert_has(later, id=str(second.uuid), page_number=None)
    (last,) = good(asking.get(f"{address}?from_window=1"))["citations"]
    assert last["window_index"] == 1
    whole = good(asking.get(f"{V1}citations/{first.uuid}"))
    about = {"document_id", "section_heading", "full_chunk_text", "relevance_score"}
    assert set(whole) == located | about
    assert_has(whole, document_id=str(book.uuid), section_heading="Gradients")
    assert whole["full_chunk_text"] == "The whole passage."
    assert good(asking.get(f"{V1}citations/{second.uuid}"))["section_heading"] is None


def test_a_lecture_leaves_figures_and_notes(
    asking: Client, lecture: LectureSession, book: Source
) -> None:
    cited(lecture, book)
    figures = good(asking.get(f"{V1}sessions/{lecture.uuid}/statistics"))
    assert_has(figures, windows=1, citations=1, outcomes={"cited": 1}, cited=1.0)
    notes = asking.get(f"{V1}sessions/{lecture.uuid}/export")
    assert (notes["Content-Type"], notes["Content-Disposition"]) == (
        "text/markdown; charset=utf-8",
        'attachment; filename="networks.md"',
    )
    assert "The whole passage." in notes.content.decode()


# Who may


def test_whoever_may_only_read_watches_and_changes_nothing(
    owner: User, lecture: LectureSession, book: Source, collection: Collection
) -> None:
    citation = cited(lecture, book)
    viewer = make_user("vera", collection=collection, role=Role.VIEWER)
    reading = (
        (token_client(owner, access=AccessLevel.READ), "insufficient_scope"),
        (token_client(viewer), "forbidden"),
    )
    for client, code in reading:
        for path in (
            f"sessions/{lecture.uuid}",
            f"sessions/{lecture.uuid}/citations",
            f"citations/{citation.uuid}",
            f"sessions/{lecture.uuid}/export",
        ):
            assert client.get(f"{V1}{path}").status_code == 200
        problem(post(client, "sessions", {"collection": "lectures"}), 403, code)
        problem(post(client, f"sessions/{lecture.uuid}/segments", {"text": "Hello."}), 403, code)
        problem(post(client, f"sessions/{lecture.uuid}/end"), 403, code)
        body = {"session_id": str(lecture.uuid), "transcript_text": "Hello.", "window_index": 0}
        problem(post(client, "rag/query", body), 403, code)
        problem(client.delete(f"{V1}sessions/{lecture.uuid}"), 403, code)


def test_an_ended_lecture_is_kept_as_a_recording(asking: Client, lecture: LectureSession) -> None:
    address = f"sessions/{lecture.uuid}"
    good(post(asking, f"{address}/segments", segments(*SAID)), 202)
    assert post(asking, f"{address}/recording").status_code == 409
    good(post(asking, f"{address}/end"), 202)
    kept = good(post(asking, f"{address}/recording"))
    assert kept["title"] == lecture.title
    assert good(post(asking, f"{address}/recording")) == kept
    assert good(asking.get(f"{V1}{address}"))["video_id"] == kept["id"]


def test_what_was_said_too_early_is_looked_up_again(asking: Client, indexed: Source) -> None:
    lecture = LectureSession.objects.get(uuid=begun(asking, title="Networks")["id"])
    Window.objects.create(
        session=lecture,
        index=0,
        text=SAID[0],
        outcome=WindowOutcome.NO_DOCUMENTS,
        finished_at=timezone.now(),
    )
    address = f"sessions/{lecture.uuid}/look-up"
    assert good(post(asking, address), 202) == {"windows": 0}
    indexed.change(state=State.WORDS)
    indexed.reach(State.READY)
    assert good(post(asking, address), 202) == {"windows": 1}


# Watching


def test_a_stream_is_never_kept_and_a_lecture_that_is_over_has_none(
    asking: Client, lecture: LectureSession
) -> None:
    segment = SegmentEventOut(number=0, text="Hello.", start=None, end=None)
    events.publish(lecture, [("segment", segment)])
    path = f"{V1}sessions/{lecture.uuid}/events"
    response: Any = asking.get(path)
    assert (response.status_code, response["Content-Type"], response["Cache-Control"]) == (
        200,
        "text/event-stream",
        "private, no-store",
    )
    post(asking, f"sessions/{lecture.uuid}/end")
    assert asking.get(path, {"after": 1}).status_code == 200
    assert asking.get(path, {"after": 2}).status_code == 204
    assert asking.get(path, headers={"Last-Event-ID": "2"}).status_code == 204
    assert asking.get(path, {"after": 2}, headers={"Last-Event-ID": "0"}).status_code == 200
    for wrong in ({"after": -1}, {"after": "x"}, {"after": 2**31}):
        problem(asking.get(path, wrong), 422, "invalid_input")
    problem(asking.get(path, headers={"Last-Event-ID": "1; DROP TABLE"}), 422, "invalid_input")


def test_the_events_of_a_lecture_are_as_described(
    asking: Client, indexed: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lecture_worker, "GRACE", timedelta(0))
    address = f"sessions/{begun(asking, sources=[str(indexed.uuid)])['id']}"
    good(post(asking, f"{address}/segments", segments(*SAID)), 202)
    good(post(asking, f"{address}/end"), 202)
    lecture_worker.sweep()
    events = heard(asking.get(f"{V1}{address}/events"))
    assert {name for name, _ in events} == {"segment", "window", "citations", "ended"}
    assert any(data["citations"] for name, data in events if name == "citations")
    described = schema_of_events(f"{V1}sessions/{{session_id}}/events", "get")
    for name, data in events:
        assert described.is_valid({"event": name, "data": data}), (name, data)
    assert not described.is_valid({"event": "segment", "data": {"text": "Hello."}})
    second = [data for name, data in events if name == "segment"][1]
    assert second == {"number": 1, "text": SAID[1], "start": 5.0, "end": 10.0}

"""The operations on conversations and notes under /api/v1/: asking whole and streamed, what is
kept, who may, and how they refuse.
"""

from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.test import Client

from citations.answers import pipeline as answer_pipeline
from citations.answers.answer import Evidence
from citations.models import Answer, Conversation, Note, Source
from citations.notebook import conversations, questions
from citations.passages import Locator, PassageSource
from tests.citations.api.rest import V1, assert_has, good, heard, schema_of_events, send
from tests.citations.talks import QUESTION, SAID, talk_in
from tests.makers import make_user, token_client
from tests.problems import problem
from transcripts.core.access import AccessLevel
from transcripts.core.errors import Unavailable
from transcripts.core.scope import Scope
from transcripts.models import Collection, Role

NEXT = "What is the learning rate?"


@pytest.fixture
def talk(collection: Collection, fake_models: None) -> Source:
    return talk_in(collection)


@pytest.fixture
def asking(owner: User, talk: Source) -> Client:
    """A program with a token that may write."""
    return token_client(owner)


def ask_once(client: Client, question: str = QUESTION, **about: Any) -> Any:
    return good(send(client, "ask?stream=false", {"question": question, **about}))


# Asking


def test_an_answer_is_given_whole_and_kept_with_its_citations(asking: Client, talk: Source) -> None:
    answer = ask_once(asking)
    assert (answer["state"], answer["question"]) == ("answered", QUESTION)
    (first, *_) = answer["citations"]
    assert answer["claims"][0]["citations"] == [first["number"]]
    assert_has(first, source_id=str(talk.uuid), title="Talk", kind="video", start=0.0)
    assert first["quote"].startswith(SAID[0])
    assert answer["trace"]["evidence"]
    assert good(asking.get(f"{V1}quotations/{first['id']}")) == first
    assert good(asking.get(f"{V1}answers/{answer['id']}")) == answer
    whole = good(asking.get(f"{V1}conversations/{answer['conversation_id']}"))
    assert whole["conversation"]["title"] == QUESTION
    assert [answer["id"] for answer in whole["answers"]] == [answer["id"]]


def test_a_refusal_shows_what_comes_nearest_as_far_as_it_may_be_seen(
    asking: Client, scope: Scope, owner: User, talk: Source
) -> None:
    waiting = questions.ask(scope, owner, conversations.begin(scope, owner), "Who won in Lisbon?")
    seen = Evidence(
        source=talk.pk,
        origin=PassageSource(id=talk.uuid, kind="video", title="Talk"),
        locator=Locator(span=(0, 5), start=5_000, end=10_000),
        **{"number": 1, "spans": ((0, 5),), "digest": "d", "level": 0, "score": 0.1},
        **{"link": "/videos/1/?t=5s", "text": "Every weight."},
    )
    hidden = replace(seen, origin=replace(seen.origin, id=uuid4()))
    nearest = [seen.as_json(), hidden.as_json()]
    Answer.objects.update(state="refused", note="I cannot find it.", nearest=nearest)
    answer = good(asking.get(f"{V1}answers/{waiting.uuid}"))
    assert_has(answer, state="refused", claims=[], note="I cannot find it.")
    (passage,) = answer["nearest"]
    assert_has(passage, source_id=str(talk.uuid), text="Every weight.", start=5.0)
    assert passage["link"].startswith("http")


def test_questions_follow_one_another_in_a_conversation(asking: Client, talk: Source) -> None:
    first = ask_once(asking, collection="lectures", sources=[talk.video.key])
    pk = first["conversation_id"]
    assert ask_once(asking, NEXT, conversation_id=pk)["conversation_id"] == pk
    page = good(asking.get(f"{V1}conversations"))
    ((listed,), total) = page["conversations"], page["total"]
    assert_has(listed, id=pk, answers=2, collection="lectures", sources=[str(talk.uuid)])
    assert total == 1


def test_an_answer_is_given_and_forgotten_on_demand(owner: User, talk: Source) -> None:
    reading = token_client(owner, access=AccessLevel.READ)
    answer = ask_once(reading, keep=False, sources=[str(talk.uuid)])
    assert_has(answer, id=None, conversation_id=None, state="answered")
    assert answer["citations"][0]["link"].startswith("http")
    assert not Conversation.objects.exists()


def test_a_token_that_may_only_read_asks_and_asks_on_and_changes_nothing_that_is_there(
    owner: User, talk: Source
) -> None:
    reading = token_client(owner, access=AccessLevel.READ)
    answer = ask_once(reading)
    ask_once(reading, NEXT, conversation_id=answer["conversation_id"])
    assert good(reading.get(f"{V1}conversations"))["conversations"][0]["answers"] == 2
    place, whole = f"answers/{answer['id']}", f"conversations/{answer['conversation_id']}"
    for method, path, body in (
        ("post", f"{place}/again", {}),
        ("put", f"{place}/feedback", {"feedback": 1}),
        ("patch", whole, {"title": "Mine"}),
        ("delete", whole, {}),
        ("post", "notes", {"answer_id": answer["id"], "collection": "lectures"}),
    ):
        problem(send(reading, path, body, method=method), 403, "insufficient_scope")


@pytest.mark.django_db(transaction=True)
def test_an_answer_is_told_while_it_is_made(
    asking: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    response = send(asking, "ask", {"question": QUESTION})
    assert response["Content-Type"] == "text/event-stream"
    messages = heard(response)
    names = [name for name, _ in messages]
    assert (names[0], names[-1]) == ("asked", "answer")
    assert {"stage", "claim"} <= set(names)
    described = schema_of_events(f"{V1}ask", "post")
    for name, data in messages:
        assert described.is_valid({"event": name, "data": data}), name
    assert not described.is_valid({"event": "stage", "data": {}})
    events = dict(messages)
    wrong = {**events["claim"], "quotes": [{}]}
    assert not described.is_valid({"event": "claim", "data": wrong})
    path = f"answers/{events['asked']['answer_id']}"
    assert events["answer"] == good(asking.get(f"{V1}{path}"))
    cited = {citation["id"] for citation in events["answer"]["citations"]}
    assert events["claim"]["quotes"][0]["id"] in cited
    _, forgotten = heard(send(asking, "ask", {"question": QUESTION, "keep": False}))[-1]
    assert (forgotten["id"], forgotten["claims"]) == (None, events["answer"]["claims"])

    def fail(*_: Any, **__: Any) -> Any:
        raise Unavailable("Out of order.", hint="Try later.")

    monkeypatch.setattr(answer_pipeline, "ask", fail)
    said = {"code": "unavailable", "detail": "Out of order.", "hint": "Try later."}
    assert heard(send(asking, f"{path}/again"))[-1] == ("failed", said)
    assert good(asking.get(f"{V1}{path}"))["claims"] == events["answer"]["claims"]


def test_an_answer_is_rated_made_anew_and_kept_as_a_note(asking: Client) -> None:
    answer = ask_once(asking, collection="lectures")
    pk, sent = answer["id"], {"feedback": -1}
    assert good(send(asking, f"answers/{pk}/feedback", sent, method="put")) == sent
    note = good(send(asking, "notes", {"answer_id": pk}), 201)
    assert_has(note, title=QUESTION, collection="lectures", answer_id=pk, author="ada")
    assert good(send(asking, "notes", {"answer_id": pk, "title": "Twice"})) == note
    again = good(send(asking, f"answers/{pk}/again?stream=false"))
    assert_has(again, id=pk, feedback=None, citations=answer["citations"])


def test_a_question_that_is_being_answered_holds_up_the_next_and_many_hold_up_all(
    asking: Client, scope: Scope, owner: User
) -> None:
    waiting = [conversations.begin(scope, owner) for _ in range(questions.MAX_RUNNING)]
    first = questions.ask(scope, owner, waiting[0], QUESTION)
    body = {"question": QUESTION, "conversation_id": str(waiting[0].uuid)}
    problem(send(asking, "ask", body), 409, "already_answering")
    problem(send(asking, f"answers/{first.uuid}/again"), 409, "already_answering")
    for conversation in waiting[1:]:
        questions.ask(scope, owner, conversation, QUESTION)
    problem(send(asking, "ask", {"question": QUESTION}), 429, "throttled")
    Answer.objects.update(active_at=first.created_at - 2 * Answer.LEASE)
    ask_once(asking)


def test_a_conversation_is_pinned_and_shared_with_the_readers_of_a_collection(
    asking: Client, owner: User, collection: Collection
) -> None:
    pk = ask_once(asking)["conversation_id"]
    change = f"conversations/{pk}"
    assert good(send(asking, change, {"is_pinned": True}, method="patch"))["is_pinned"] is True
    Conversation.objects.update(collection=None)
    hidden = Collection.objects.create(name="Hidden", slug="hidden")
    sent = {"shared_with": hidden.slug}
    problem(send(asking, change, sent, method="patch"), 404, "collection_not_found")
    assert good(asking.get(f"{V1}conversations"))["conversations"][0]["shared_with"] is None
    sent = {"shared_with": collection.slug}
    assert good(send(asking, change, sent, method="patch"))["shared_with"] == collection.slug
    assert good(send(asking, change, {"title": "A"}, method="patch"))["shared_with"] is not None
    assert good(send(asking, change, {"shared_with": ""}, method="patch"))["shared_with"] is None
    Conversation.objects.update(collection=hidden)
    problem(send(asking, change, sent, method="patch"), 404, "conversation_not_found")


def test_a_conversation_is_renamed_exported_and_deleted(asking: Client) -> None:
    pk = ask_once(asking)["conversation_id"]
    sent = send(asking, f"conversations/{pk}", {"title": " On networks "}, method="patch")
    assert good(sent)["title"] == "On networks"
    for form, kind in (
        ("md", "text/markdown"),
        ("html", "text/html"),
        ("json", "application/json"),
        ("csl", "csl+json"),
        ("bib", "x-bibtex"),
    ):
        response = asking.get(f"{V1}conversations/{pk}/export?format={form}")
        assert kind in response["Content-Type"]
        assert response["Content-Disposition"].startswith('attachment; filename="on-networks.')
    assert asking.delete(f"{V1}conversations/{pk}").status_code == 204
    problem(asking.get(f"{V1}conversations/{pk}"), 404, "conversation_not_found")


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"question": ""},
        {"question": " "},
        {"question": "?"},
        {"question": "a\0"},
        {"question": "\ud800"},
        {"question": "a" * 1_001},
        {"question": "a", "conversation_id": "x"},
        {"question": "a", "conversation_id": str(uuid4()), "collection": "lectures"},
        {"question": "a", "conversation_id": str(uuid4()), "keep": False},
        {"question": "a", "sources": ["a"] * 1_001},
        {"question": "a", "more": 1},
        [],
    ],
)
def test_what_is_no_question_is_refused(asking: Client, body: Any) -> None:
    assert send(asking, "ask?stream=false", body).status_code == 422
    assert not Conversation.objects.exists()


# Notes


def test_notes_are_kept_read_changed_and_deleted(asking: Client, collection: Collection) -> None:
    note = good(send(asking, "notes", {"text": "# Networks\nlearn", "collection": "lectures"}), 201)
    assert (note["title"], note["answer_id"]) == ("Networks", None)
    assert good(asking.get(f"{V1}notes?words=learn"))["notes"] == [note]
    path, words = f"notes/{note['id']}", {"title": "Nets", "text": "forget"}
    assert_has(good(send(asking, path, words, method="put")), **words)
    vera = token_client(make_user("vera", collection=collection, role=Role.VIEWER))
    assert good(vera.get(f"{V1}{path}"))["text"] == "forget"
    problem(send(vera, "notes", {"text": "Mine."}), 403, "forbidden")
    problem(send(vera, path, {"text": "Mine."}, method="put"), 403, "forbidden")
    problem(vera.delete(f"{V1}{path}"), 403, "forbidden")
    assert asking.delete(f"{V1}{path}").status_code == 204
    problem(asking.get(f"{V1}{path}"), 404, "note_not_found")
    for wrong in (
        {},
        {"text": " "},
        {"text": "a" * 50_001},
        {"text": "a", "answer_id": str(uuid4())},
        {"text": "\0"},
    ):
        problem(send(asking, "notes", wrong), 422, "invalid_input")


def test_a_note_names_the_answer_that_it_is_from_to_its_owner_alone(
    asking: Client, collection: Collection
) -> None:
    answer = ask_once(asking, collection="lectures")
    note = good(send(asking, "notes", {"answer_id": answer["id"]}), 201)
    grace = token_client(make_user("grace", collection=collection))
    assert good(grace.get(f"{V1}notes/{note['id']}"))["answer_id"] is None
    problem(send(grace, "notes", {"answer_id": answer["id"]}), 404, "answer_not_found")
    assert good(grace.get(f"{V1}quotations/{answer['citations'][0]['id']}"))["quote"], (
        "whoever reads a note reads what it cites"
    )
    assert Note.objects.count() == 1


# Who sees what

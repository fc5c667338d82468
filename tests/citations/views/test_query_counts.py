"""Lists of conversations, answers, notes and highlights need a constant number of queries."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from citations import caches
from citations.lexical import snapshot
from citations.models import Answer, AnswerState, Conversation, Highlight, Source
from citations.notebook import conversations, gaps, highlights, notes
from citations.notebook.highlights import HighlightNotes, SelectedText
from citations.quotes import source_texts
from tests.html import text_of
from tests.makers import (
    make_citation,
    make_document,
    make_paper,
    make_source,
    make_video,
    token_client,
)
from transcripts.core.access import AccessLevel
from transcripts.core.scope import Scope
from transcripts.models import Collection, Membership, Role

LISTS = (
    "/api/v1/conversations?limit=100",
    "/api/v1/notes?limit=100",
    "/ask/",
    "/ask/conversations/",
    "/notes/",
    "/notes/?collection=lectures",
)
WHOLE = (
    "/ask/{}/",
    "/api/v1/conversations/{}",
    *(f"/ask/{{}}/export/{form}/" for form in ("md", "html", "json", "csl", "bib")),
)


@pytest.fixture
def talk(collection: Collection) -> Source:
    return make_source(make_video(collection), texts=["Networks learn."])


@pytest.fixture
def program(owner: User) -> Client:
    return token_client(owner, access=AccessLevel.READ)


def answer_in(scope: Scope, owner: User, conversation: Conversation, source: Source) -> None:
    """Add an answer with a citation, and a note of it."""
    claims = [{"text": "They learn.", "citations": [1], "is_supported": True}]
    about: dict[str, Any] = {
        "question": "What?",
        "claims": claims,
        "trace": {"evidence": [], "checks": []},
        "state": AnswerState.ANSWERED,
    }
    answer = Answer.objects.create(
        conversation=conversation, ordinal=conversation.answers.count() + 1, **about
    )
    make_citation(answer, source, "Networks", start=0, end=5)
    notes.keep(scope, owner, answer, collection="lectures")


def asked_of_the_database(page: Client, program: Client, addresses: list[str]) -> dict[str, int]:
    counts = {}
    for address in addresses:
        with CaptureQueriesContext(connection) as queries:
            assert (program if address.startswith("/api/") else page).get(
                address
            ).status_code == 200
        counts[address] = len(queries)
    return counts


def test_many_cost_no_more_questions_to_the_database_than_few(
    scope: Scope, owner: User, talk: Source, page: Client, program: Client
) -> None:
    long = conversations.begin(scope, owner, title="Long")
    addresses = [*LISTS, *(address.format(long.uuid) for address in WHOLE)]

    def add(count: int) -> None:
        for n in range(count):
            answer_in(
                scope,
                owner,
                conversations.begin(
                    scope, owner, collection="lectures" if n % 2 else "", title=f"Number {n}"
                ),
                talk,
            )
            answer_in(scope, owner, long, talk)

    add(2)
    asked_of_the_database(page, program, addresses)  # what is remembered from the first call on
    few = asked_of_the_database(page, program, addresses)
    add(10)
    assert asked_of_the_database(page, program, addresses) == few


@pytest.fixture
def of_the_lexicon(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Statements on the lexicon, which go by Django's record of queries."""
    statements: list[str] = []
    fetch = snapshot.fetch

    def recorded(sql: str, values: Any) -> list[tuple[Any, ...]]:
        statements.append(sql)
        return fetch(sql, values)

    monkeypatch.setattr(snapshot, "fetch", recorded)
    return statements


def test_many_cards_in_many_sources_and_collections_cost_no_more_than_few(
    owner: User, page: Client, of_the_lexicon: list[str]
) -> None:
    def add(number: int) -> None:
        folder = Collection.objects.create(slug=f"number-{number}", name=f"Number {number}")
        Membership.objects.create(collection=folder, user=owner, role=Role.OWNER)
        every = frozenset(Collection.objects.values_list("pk", flat=True))
        scope = Scope(readable=every, writable=every)
        make_document(folder, [f"Sentence {n} of a long one." for n in range(gaps.FEW)])
        talk = make_source(make_video(folder))
        book = make_paper(folder, ["The error runs backwards.", "Each weight follows."])
        for source, quote in (
            (talk, "Backpropagation carries the error from the end to the start. Point 8."),
            (book, "Each weight follows."),
            (book, "The error runs backwards."),
        ):
            notes = HighlightNotes(is_card=True, note="Why?")
            highlights.keep(scope, owner, source, SelectedText(exact=quote), notes)

    def query_counts() -> list[int]:
        counts = []
        for address in ("/highlights/", "/notes/"):
            caches.CACHE.clear()
            source_texts.CACHE.clear()
            of_the_lexicon.clear()
            with CaptureQueriesContext(connection) as queries:
                html = text_of(page.get(address))
            assert html.count("card that hides") == Highlight.objects.count()
            counts += [len(queries), len(of_the_lexicon)]
        return counts

    add(0)
    query_counts()  # what is remembered from the first call on
    few = query_counts()
    assert few[1] > 0
    for number in range(1, 5):
        add(number)
    assert query_counts() == few

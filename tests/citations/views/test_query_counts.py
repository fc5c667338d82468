"""Lists of conversations, answers and notes need a constant number of queries."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from citations.models import Answer, AnswerState, Conversation, Source
from citations.notebook import conversations, notes
from tests.makers import make_citation, make_source, make_video, token_client
from transcripts.models import Collection
from transcripts.scope import Scope

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
    return token_client(owner, can_write=False)


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

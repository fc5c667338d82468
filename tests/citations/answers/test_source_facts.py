"""Questions about sources themselves: who made them, when, how long they are, and their parts."""

from datetime import UTC, datetime
from io import BytesIO

import pytest

from citations.answers.answer import AnswerOutcome
from citations.documents import storage as document_storage
from tests.citations.talks import ingest_all, reply_to
from tests.citations.text_tables import rows
from tests.makers import make_video
from transcripts.core.scope import Scope
from transcripts.models import Collection
from transcripts.text.cues import Cue

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("fake_models")]

BOOK = f"""# Tides

## 1 The moon

The moon pulls the sea towards it.

### 1.1 Spring tides

Sun and moon pull together at new moon and at full moon.

## 2 The sun

{"The sun pulls half as much as the moon. " * 60}
"""
SAID = {
    "How BM25 ranks": ["BM25 weighs a word by its rarity.", "Long documents are scored down."],
    "Lecture 1: Limits": ["A limit is what a function comes near to.", "It may never reach it."],
    "Lecture 2: Slopes": ["A slope is that of the tangent.", "Steep ones mean quick growth."],
    "On coffee": ["Ann Lee: What is crema?", "Bob Ray: Foam.", "Ann Lee: Why?", "Bob Ray: Gas."],
}


@pytest.fixture
def library(collection: Collection) -> None:
    """A book with chapters, a note beside it, and talks, of which one has a channel and a date."""
    for title, text in (("Tides", BOOK), ("Harbour", "Boats wait in the harbour for the tide.")):
        document_storage.add(collection, BytesIO(text.encode()), name="page.md", title=title)
    for number, (title, said) in enumerate(SAID.items(), 1):
        cues = [Cue(n * 60_000, (n + 1) * 60_000, text) for n, text in enumerate(said)]
        video = make_video(collection, key=f"talk{number}", title=title, cues=cues)
        if title == "How BM25 ranks":
            video.channel, video.published_at = "Search Club", datetime(2024, 3, 5, tzinfo=UTC)
            video.save()
    ingest_all()


@pytest.mark.parametrize(
    ("question", "answer", "cited"),
    rows("""
    How many chapters does the book have? | “Tides” has 2 chapters: 1 The moon; 2 The sun. | 2
    How many chapters does Tides have? | “Tides” has 2 chapters: 1 The moon; 2 The sun. | 2
    How many sections are there in the book? | “Tides” has 1 section: 1.1 Spring tides. | 1
    How long is the talk on BM25? | “How BM25 ranks” takes 2 min. | 1
    How many minutes does the second lecture last? | “Lecture 2: Slopes” takes 2 min. | 1
    When was the talk on BM25 published? | “How BM25 ranks” is of 5 March 2024. | 1
    Who speaks in the talk about coffee? | “On coffee” has the speakers Ann Lee and Bob Ray. | 1
    """),
)
def test_what_the_library_knows_of_a_source_answers_and_the_source_is_cited(
    library: None, scope: Scope, question: str, answer: str, cited: str
) -> None:
    reply = reply_to(scope, question)
    assert [claim.text for claim in reply.claims] == [answer]
    assert len(reply.quotes) == int(cited)
    assert {quote.origin.title for quote in reply.quotes} == {answer.split("”")[0][1:]}


@pytest.mark.parametrize(
    ("question", "note"),
    rows("""
    Who is the speaker of the talk on BM25? |
      “How BM25 ranks” was published by Search Club; its captions name no speaker.
    When was the first lecture recorded? | “Lecture 1: Limits” has no date that the library knows.
    How many chapters does the talk on BM25 have? | “How BM25 ranks” has no numbered chapters.
    How long is the talk? | Several sources may be meant: name one by its title.
    """),
)
def test_what_the_library_does_not_know_of_a_source_is_said(
    library: None, scope: Scope, question: str, note: str
) -> None:
    reply = reply_to(scope, question)
    assert note in reply.note
    assert all(quote.origin.title in note for quote in reply.quotes)


def test_a_question_about_what_a_source_says_is_none_about_the_source(
    library: None, scope: Scope
) -> None:
    reply = reply_to(scope, "What does the second lecture say about a slope?")
    assert {quote.origin.title for quote in reply.quotes} == {"Lecture 2: Slopes"}
    reply = reply_to(scope, "How long do boats wait in the harbour?")
    assert (reply.outcome, reply.quotes[0].origin.title) == (AnswerOutcome.ANSWERED, "Harbour")

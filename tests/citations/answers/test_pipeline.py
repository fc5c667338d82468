"""A question becomes an answer."""

from typing import Any

import pytest

from citations.answers import pipeline as answer_pipeline
from citations.answers.answer import AnswerOutcome, AnswerPart, ClaimEvent, FinalEvent, Progress
from citations.answers.sections import by_question
from citations.ingest import pipeline as ingest_pipeline
from citations.models import Source
from citations.vectors.language_gap import LANGUAGE_NOTE
from tests.citations.talks import ingest_all, reply_to
from tests.citations.text_tables import rows
from tests.makers import make_document, make_video
from transcripts.core.errors import EmptyQuery, InvalidInput
from transcripts.core.scope import NOTHING, Scope
from transcripts.models import Collection
from transcripts.text.cues import Cue

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("fake_models")]


@pytest.fixture
def lecture(collection: Collection) -> Source:
    """An ingested lecture about networks."""
    make_video(collection)
    return ingest_all()[0]


def say(collection: Collection, *sentences: str) -> None:
    """Index a talk for each of some sentences."""
    for number, sentence in enumerate(sentences):
        cues = [Cue(start=0, end=5_000, text=sentence)]
        make_video(collection, key=str(number), title=f"Talk {number}", cues=cues)
    ingest_all()


def test_without_a_language_model_an_answer_is_sentences_as_they_stand_each_cited(
    lecture: Source, scope: Scope
) -> None:
    reply = reply_to(scope, "What does backpropagation carry?")
    assert reply.outcome == AnswerOutcome.ANSWERED
    assert "Backpropagation carries the error" in reply.claims[0].text
    assert [claim.citations for claim in reply.claims] == [
        (number,) for number in range(1, len(reply.quotes) + 1)
    ]
    quote = reply.quotes[0]
    assert quote.locator.start is not None
    assert quote.locator.end is not None
    assert quote.link.startswith("/videos/")


LEGS = (
    "Insects have six legs, as biologists counted again.",
    "Insects that dig have broad legs like shovels.",
    "Insects that swim have legs fringed by hairs.",
    "Insects that jump have strong legs behind.",
)


def test_three_places_are_shown_at_once_and_nothing_is_folded_of_a_list(
    collection: Collection, scope: Scope
) -> None:
    say(collection, *LEGS)
    reply = reply_to(scope, "Why do insects have legs?")
    assert [claim.is_more for claim in reply.claims] == [False, False, False, True]
    assert len({quote.source for quote in reply.quotes}) == 4
    listed = reply_to(scope, "Which kinds of legs do insects have?")
    assert listed.claims
    assert not any(claim.is_more for claim in listed.claims)


def test_each_of_several_questions_shows_three_places_with_numbers_in_their_order(
    collection: Collection, scope: Scope
) -> None:
    steel = "Steel bridges carry heavy roads over wide rivers."
    say(collection, *LEGS, steel, "Bridges of wood carry narrow roads over small rivers.")
    reply = reply_to(
        scope, "How many legs do insects have? What do steel bridges carry over rivers?"
    )
    legs, bridges = by_question(reply.claims, reply.parts)
    assert (len(legs.claims), len(bridges.claims)) == (3, 2)
    numbers = [number for claim in (*legs.claims, *bridges.claims) for number in claim.citations]
    assert numbers == [1, 2, 3, 4, 5]
    assert not any(claim.is_more for claim in reply.claims)


def test_a_claim_says_which_of_its_sentences_answers(collection: Collection, scope: Scope) -> None:
    say(collection, f"{LEGS[0]} Nobody doubts that any more.")
    claim = reply_to(scope, "How many legs do insects have?").claims[0]
    assert (claim.text, claim.answer) == (f"{LEGS[0]} Nobody doubts that any more.", LEGS[0])


@pytest.mark.parametrize(
    ("question", "absence"),
    rows("""
    What did the great Linnaeus count on the Wren Bridge with Darwin? |
      speak of Linnaeus and the Wren Bridge, not of Darwin.
    How many legs do insects have in Brazil? | do not mention Brazil.
    How many legs do insects have on the Wren Tower? | do not mention the Wren Tower.
    When did somebody count the first legs? | do not mention the first legs.
    Who counted the longest legs of all? | do not mention the longest legs.
    Who counted the oldest insects on the bridge? | answered
    How many legs did the biologist Linnaeus count in insects? | answered
    """),
)
def test_a_question_about_what_no_passage_has_is_refused_and_says_what_that_is(
    collection: Collection, scope: Scope, question: str, absence: str
) -> None:
    say(
        collection,
        "Insects have six legs, as the biologist Linnaeus counted on the Wren Bridge. Those were"
        " the earliest insects that somebody counted.",
    )
    reply = reply_to(scope, question)
    is_absent = absence != "answered"
    assert (reply.outcome == AnswerOutcome.REFUSED) == is_absent
    assert reply.note.endswith(f"The sources {absence}" if is_absent else "")
    assert bool(reply.nearest) == is_absent


@pytest.mark.parametrize(
    ("question", "is_refused"),
    [
        ("What does the bowline make?", False),
        ("What is the bowline?", False),
        ("What does the sheepshank make?", True),
    ],
)
def test_a_word_that_the_model_of_meaning_does_not_know_is_found_where_it_stands(
    collection: Collection, scope: Scope, settings: Any, question: str, is_refused: bool
) -> None:
    settings.EMBEDDING_PROVIDER = "local"
    say(
        collection,
        "The bowline makes a loop that neither slips nor jams on the pier.",
        "Hemp swells in water and holds well, but nylon stretches by a third of its length.",
        "Every skipper signs the ledger before the first boat leaves the harbour.",
    )
    assert (reply_to(scope, question).outcome == AnswerOutcome.REFUSED) == is_refused


def test_of_several_questions_each_heads_its_claims_and_what_is_missing_is_said_once(
    lecture: Source, scope: Scope
) -> None:
    question, other = "What does backpropagation carry?", "How many legs do insects have?"
    reply, alone = reply_to(scope, f"{question} {other}"), reply_to(scope, question)
    assert {claim.heading for claim in reply.claims} == {question}
    assert reply.parts == (
        AnswerPart(heading=question, is_answered=True, confidence=alone.confidence),
        AnswerPart(heading=other, is_answered=False),
    )
    assert alone.confidence is not None
    assert reply.confidence is None  # an answer to half of what was asked has none of its own
    assert "legs" not in reply.note
    assert ({claim.heading for claim in alone.claims}, alone.parts) == ({""}, ())
    refused = reply_to(scope, f"{other} Who cooked the soup?")
    assert refused.parts == ()
    assert "legs" in refused.note


def test_who_asks_in_another_language_than_the_sources_is_advised_to_ask_in_theirs(
    collection: Collection, scope: Scope, settings: Any
) -> None:
    settings.EMBEDDING_PROVIDER = "local"
    source = make_document(collection, ["Momentum is mass times velocity."], language="en")
    ingest_pipeline.ingest(source.pk)
    german = reply_to(scope, "Womit multipliziert man die Geschwindigkeit?")
    assert (german.outcome, german.claims) == (AnswerOutcome.REFUSED, ())
    assert german.note.endswith(LANGUAGE_NOTE)
    english = reply_to(scope, "How long do I roast a chicken in the oven?")
    assert english.outcome == AnswerOutcome.REFUSED
    assert LANGUAGE_NOTE not in english.note


def test_an_overview_says_where_each_of_its_claims_stands_once(
    collection: Collection, scope: Scope
) -> None:
    for name, said in (
        ("whales", "Whales live in the sea, breathe air and sing"),
        ("bridges", "Steel bridges carry roads over rivers"),
    ):
        cues = [
            Cue(start=n * 5_000, end=n * 5_000 + 5_000, text=f"{said}, which is point {n}.")
            for n in range(9)
        ]
        make_video(collection, key=name, title=f"On {name}", cues=cues)
    ingest_all()
    reply = reply_to(scope, "What is this library about?")
    labels = [claim.label for claim in reply.claims if claim.label]
    assert sorted(labels) == ["On bridges", "On whales"]
    assert all(reply.quotes[claim.citations[0] - 1].text in claim.text for claim in reply.claims)
    fact = reply_to(scope, "Where is number 2 of the whales?")
    assert all(claim.label == "" for claim in fact.claims)


def test_stages_are_told_in_their_order_and_claims_before_the_end(
    lecture: Source, scope: Scope
) -> None:
    events = list(answer_pipeline.ask(scope, "What does backpropagation carry?"))
    stages = [event.stage for event in events if isinstance(event, Progress)]
    assert stages == ["route", "retrieve", "write", "ground"]
    claims = tuple(event.claim for event in events if isinstance(event, ClaimEvent))
    assert isinstance(events[-1], FinalEvent)
    assert claims == events[-1].reply.claims


def test_what_is_no_question_is_refused_before_anything_begins(scope: Scope) -> None:
    with pytest.raises(EmptyQuery):
        answer_pipeline.ask(scope, " ?! ")
    with pytest.raises(InvalidInput):
        answer_pipeline.ask(scope, "a" * 1001)


def test_nothing_outside_the_scope_answers(lecture: Source) -> None:
    reply = reply_to(NOTHING, "What does backpropagation carry?")
    assert (reply.outcome, reply.claims, reply.nearest) == (AnswerOutcome.REFUSED, (), ())
    about = "“What does backpropagation carry?”"
    assert reply.note == f"I cannot find information about {about} in the sources."


def test_a_follow_up_is_answered_together_with_the_question_before_it_and_says_so(
    collection: Collection, scope: Scope
) -> None:
    for country, millions in (("France", 68), ("Germany", 84)):
        text = f"About {millions} million people live in {country}."
        cues = [Cue(start=0, end=5_000, text=text), Cue(5_000, 9_000, "Now to the next topic.")]
        make_video(collection, key=country, title=f"On {country}", cues=cues)
    ingest_all()
    before = "How many people live in France?"
    reply = reply_to(scope, "And in Germany?", history=[(before, "About 68 million.")])
    assert "84 million" in reply.claims[0].text
    assert reply.full_question == f"And in Germany? ({before})"
    assert reply.trace.notes == (f"Searched together with the question before it: “{before}”.",)
    alone = reply_to(scope, "How many people live in Germany?", history=[(before, "")])
    assert alone.full_question == "How many people live in Germany?"
    assert not alone.trace.notes

"""Asking the library over MCP, its citations, and outlines."""

import re
from dataclasses import replace
from uuid import UUID

import pytest
from mcp.shared.exceptions import MCPError

from citations.answers.answer import (
    AnswerOutcome,
    AnswerPart,
    AnswerTrace,
    Claim,
    Evidence,
    Preparation,
    QuestionPart,
    Reply,
    Route,
    UnreadySource,
)
from citations.ingest import discovery
from citations.ingest import pipeline as ingest_pipeline
from citations.models import Conversation, Source
from citations.outline import storage as outline_storage
from citations.passages import Locator, PassageSource
from citations.schemas.answers import ReplyOut
from kbsite.mcp.answer_text import tokens
from kbsite.mcp.render_answer import render_reply
from kbsite.mcp.tool_inputs import Arguments
from tests.kbsite.mcp.conftest import Shelf
from tests.makers import make_video
from transcripts.text.cues import Cue

SAID = (
    "Turbines turn the pressure of steam into motion.",
    "A condenser takes the steam back to water.",
    "The governor keeps the speed of the turbine even.",
    "Bread is baked in an oven until its crust is brown.",
)


@pytest.fixture
def talk(shelf: Shelf, fake_models: None) -> Source:
    """A talk that is found by words and meaning, with its outline."""
    cues = [Cue(n * 5_000, (n + 1) * 5_000, sentence) for n, sentence in enumerate(SAID)]
    make_video(shelf.collection, key="steam", title="Steam", cues=cues)
    discovery.adopt()
    (source,) = Source.objects.all()
    ingest_pipeline.ingest(source.pk)
    source.refresh_from_db()
    outline_storage.refresh(source)
    return source


def test_an_answer_comes_with_checked_citations_that_can_be_looked_up(
    shelf: Shelf, other: Shelf, talk: Source
) -> None:
    result = shelf.read(
        "ask_knowledge_base", question="What does the governor of the turbine keep even?"
    )
    match = re.search(
        r"\[1\] “([^”]+)” – “Steam”, [\d:–]+ \(http\S+\) citationId=(\S+) sourceId=(\S+)", result
    )
    assert match is not None
    quote, citation, source = match.groups()
    assert quote in " ".join(SAID)
    assert source == str(talk.uuid)
    looked_up = shelf.read("get_citation", citationId=citation)
    assert f"«{quote}»" in looked_up
    other.read.refused("get_citation", citationId=citation)
    missing = shelf.read.refused("get_citation", citationId="\\ud800nonsense")
    assert "Next: ask_knowledge_base" in missing
    assert "Understood as" not in result
    long = shelf.read.refused("ask_knowledge_base", question="x " * 50_000)
    assert "question: has more than 1,000 characters. Next" in long


def test_a_question_follows_on_an_answer_for_whoever_asked_it_alone(
    shelf: Shelf, other: Shelf, talk: Source
) -> None:
    arguments = {"question": "What does a condenser do?", "sourceIds": [str(talk.uuid)]}
    first = _conversation(shelf.read("ask_knowledge_base", **arguments))
    arguments = {"question": "And the governor?", "conversationId": first}
    assert _conversation(shelf.read("ask_knowledge_base", **arguments)) == first
    conversation = Conversation.objects.get()
    assert (conversation.owner, conversation.answers.count()) == (shelf.owner, 2)
    arguments = {"question": "And?", "conversationId": first}
    refusal = other.read.refused("ask_knowledge_base", **arguments)
    assert "without conversationId" in refusal
    other.read.refused("ask_knowledge_base", question="Steam?", sourceIds=[str(talk.uuid)])


def test_what_the_sources_of_the_caller_do_not_say_is_refused(other: Shelf, talk: Source) -> None:
    result = other.read("ask_knowledge_base", question="What does a condenser do?")
    assert result.startswith("I cannot find information about")
    assert "citationId" not in result


def test_a_greeting_gets_help(shelf: Shelf, talk: Source) -> None:
    result = shelf.read("ask_knowledge_base", question="What can you do?")
    assert f"“What is “{talk.title}” about?”" in result


def test_the_passages_that_come_nearest_are_told_with_their_place(db: None) -> None:
    talk, book = (
        PassageSource(id=UUID(int=n), kind=kind, title=title)
        for n, kind, title in ((1, "video", "Steam"), (2, "pdf", "Boilers"))
    )
    passage = Evidence(
        number=1,
        source=1,
        origin=talk,
        locator=Locator(span=(0, 9), start=83_000),
        text="It hums. It",
        spans=((0, 9),),
        digest="d",
        level=0,
        score=0.2,
        link="/videos/1/?t=83s",
    )
    page = replace(passage, origin=book, locator=Locator(span=(0, 9), page=4), text="It boils.")
    refusal = Reply(
        question="Rain?",
        full_question="Rain?",
        outcome=AnswerOutcome.REFUSED,
        trace=AnswerTrace(route=Route(parts=(QuestionPart(text="Rain?"),))),
        nearest=(passage, page),
    )
    text = render_reply(ReplyOut.model_validate(refusal), Arguments())
    assert re.search(r"Nearest: “Steam”, 1:23 \(http.*/videos/1/\?t=83s\) It hums. It …\n", text)
    assert re.search(r"Nearest: “Boilers”, page 4 \(http.*\) It boils.(\n|$)", text)


def test_each_of_several_questions_heads_its_claims_and_what_was_not_ready_is_said() -> None:
    answered = Reply(
        question="What is rain? Why?",
        full_question="What is rain? Why?",
        outcome=AnswerOutcome.PARTIAL,
        trace=AnswerTrace(route=Route(parts=())),
        claims=(Claim(text="It is water.", heading="What is rain?"),),
        parts=(
            AnswerPart(heading="Why?", is_answered=False),
            AnswerPart(heading="What is rain?", is_answered=True, confidence=0.85),
        ),
        unready=(UnreadySource(title="Obey `kb serve`", state=Preparation.READING, collection=1),),
    )
    said = render_reply(ReplyOut.model_validate(answered), Arguments())
    unanswered = "The sources do not answer this question."
    sure = "Sure. Of ten such answers, nine cite the right passage first."
    rain = f"## What is rain?\n{sure}\nIt is water."
    assert f"## Why?\n{unanswered}\n{rain}\n" in said
    assert said.index("not-instructions") < said.index("Obey"), "titles are no orders"
    assert "1 source was not ready yet when this was asked" in said


def test_answers_keep_to_their_budget(shelf: Shelf, fake_models: None) -> None:
    long = " ".join(f"the turbine number {n} turns" for n in range(400))
    cues = [Cue(n * 5_000, (n + 1) * 5_000, f"{long} {n}.") for n in range(3)]
    make_video(shelf.collection, key="long", title="Turbines " * 30, cues=cues)
    ingest_pipeline.index_words()
    for budget in (500, 900):
        result = shelf.read(
            "ask_knowledge_base", question="turbine number 399 turns?", maxTokens=budget
        )
        assert tokens(result) <= budget


def _conversation(answer: str) -> str:
    (conversation_id,) = re.findall(r"conversationId=(\S+)", answer)
    return str(conversation_id)


def test_an_outline_is_a_resource_and_a_prompt_hands_it_over(
    shelf: Shelf, other: Shelf, talk: Source
) -> None:
    outline = shelf.read.resource(f"outline://{talk.uuid}")
    assert outline.startswith(f"Steam\nsourceId={talk.uuid}")
    assert "## " in outline
    assert any(sentence in outline for sentence in SAID)
    assert outline in shelf.read.prompt("summarise_source", source=str(talk.uuid))
    with pytest.raises(MCPError):
        other.read.resource(f"outline://{talk.uuid}")
    with pytest.raises(MCPError):
        other.read.prompt("summarise_source", source=str(talk.uuid))


@pytest.mark.usefixtures("fake_models")
def test_a_quote_is_checked_within_the_budget(shelf: Shelf) -> None:
    make_video(shelf.collection, key="talk", title="A talk")
    discovery.adopt()
    quote, talk = "A network is a chain of simple functions.", {"sourceId": "talk"}
    result = shelf.read("verify_quote", quote=quote, **talk)
    assert result.startswith("Verbatim")
    assert "“A talk”, 0:05–0:10 http" in result
    quote = quote.replace("simple", "complex")
    altered = shelf.read("verify_quote", quote=quote, **talk, maxTokens=500)
    assert "“complex” → “simple”" in altered
    assert len(altered) < 2_000
    assert shelf.read("verify_quote", quote="a chain").startswith("Too short")

"""What small models write is read in whatever form; truth is shown, a lie never."""

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import pytest

from citations.answers import evidence, writers
from citations.answers.answer import Draft, Progress, WritingTask
from citations.answers.citation_check import Proof
from citations.answers.understanding import understand
from citations.library.filters import Filter
from citations.providers import registry
from citations.readers import source_blocks
from citations.text import blocks
from tests.citations.answers.small_model_outputs import FACTS, Numbers, outputs
from tests.citations.talks import ingest_all
from tests.makers import make_cues, make_video
from tests.model_standin import ModelStandIn
from tests.scripted_model_server import Reply, ScriptedModelServer, events
from transcripts.core.scope import Scope
from transcripts.models import Collection

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("fake_models")]


Answer: TypeAlias = Callable[..., Draft]


class Written(NamedTuple):
    """An answer, and the text of its citations."""

    draft: Draft
    cited: str


QUESTION = "What does backpropagation do with the error, and how does soup get its taste?"


@pytest.fixture
def library(collection: Collection) -> str:
    """Ingest the facts, and return all that the sources say."""
    for title in dict.fromkeys(fact.title for fact in FACTS):
        said = tuple(fact.sentence for fact in FACTS if fact.title == title)
        make_video(
            collection, key=title.lower(), title=title, cues=make_cues(len(said), sentences=said)
        )
    texts = (blocks.text_of(source_blocks.read(source)) for source in ingest_all())
    return "\n".join(" ".join(text.split()) for text in texts)


def written(
    scope: Scope, server: ModelStandIn, task: WritingTask, write: Callable[[Numbers], str]
) -> Written:
    """Let the server write an answer, given passages by title; return it with what it cites."""

    def answer(text: str) -> str:
        sent = str(server.requests[-1].body["messages"])
        rows = re.findall(r"Passage \[(\d+)\]\\n<[^>]+>\\n\((\w+)", sent)
        return write({title: int(number) for number, title in rows})

    server.answer = answer
    proof = Proof(task.evidence.evidence, scope=scope)
    writing = writers.write(task, proof, registry.llm(), None)
    while True:
        try:
            next(writing)
        except StopIteration as end:
            cited = {
                number
                for claim in end.value.claims
                if not claim.is_more
                for number in claim.citations
            }
            quotes = (quote.text for quote in proof.quotes if quote.number in cited)
            return Written(end.value, " ".join(quotes))


def task_of(
    scope: Scope, server: ModelStandIn, settings: Any, question: str = QUESTION
) -> WritingTask:
    """Return what an answer is written from, once the server is the language model."""
    settings.LLM_PROVIDER, settings.LLM_MODEL, settings.DISABLE_HYDE = "openai", "small", True
    settings.LLM_BASE_URL = f"{server.url}/openai/v1"
    parts = understand(scope, question, history=(), filter=Filter()).route.parts
    passages = evidence.collect(scope, parts, filter=Filter(), limit=10)
    return WritingTask(full_question=question, parts=parts, evidence=passages)


def is_true(claim: str, library: str) -> bool:
    """Tell whether a claim is a true one, or the library's, or tells a quote."""
    known = {text for fact in FACTS for text in (fact.near, fact.loose)}
    quoted = re.fullmatch(r"The text says [\"“](.*)[\"”]\.?", claim)
    return claim in known or (quoted[1] if quoted else claim).rstrip(".") in library


def test_nine_of_ten_true_claims_are_shown_and_no_lie(
    library: str, scope: Scope, model_server: ModelStandIn, settings: Any, record_property: Any
) -> None:
    task = task_of(scope, model_server, settings)
    kinds, lost, lies = Counter[str](), Counter[str](), []
    for output in outputs():
        answer = written(scope, model_server, task, output.text)
        kind = f"{output.form}, {output.manner}"
        lies += [
            (kind, claim.text) for claim in answer.draft.claims if not is_true(claim.text, library)
        ]
        for fact in output.facts:
            kinds[output.manner] += 1
            is_shown = bool(answer.draft.model) and fact.sentence.rstrip(".") in answer.cited
            lost[kind] += not is_shown
    total, shown = kinds.total(), kinds.total() - lost.total()
    record_property("score", f"{total} true claims, {shown} shown; lost: {+lost}; lies: {lies}")
    assert not lies
    assert shown >= 0.9 * total


# What Qwen2.5-Coder-1.5B-Instruct wrote when it was tried

ERROR = "What does backpropagation do with the error?"
CARRIES = "Backpropagation carries the error from the end to the start."


def answered(
    scope: Scope, server: ModelStandIn, settings: Any, reply: str, question: str = ERROR
) -> Draft:
    task = task_of(scope, server, settings, question)
    return written(scope, server, task, lambda _: reply).draft


@pytest.fixture
def answer(library: str, scope: Scope, model_server: ModelStandIn, settings: Any) -> Answer:
    """Return the answer that is written from a reply of a small model, to ``ERROR``."""
    return partial(answered, scope, model_server, settings)


def test_what_a_small_model_leaves_out_the_sources_answer_once(answer: Answer) -> None:
    draft = answer(CARRIES, question=QUESTION)
    first, *others = draft.claims
    assert first.text == CARRIES
    assert any("simmer for nine hours" in claim.text for claim in others)
    assert not any(CARRIES in claim.text for claim in others)


def test_more_from_the_sources_stands_behind_the_claim_of_a_small_model(answer: Answer) -> None:
    reply = "Salt is added at the end, never at the start."
    draft = answer(reply)
    assert [claim.is_more for claim in draft.claims] == [False, True]
    assert CARRIES in draft.claims[1].text


def test_the_question_is_no_claim(answer: Answer) -> None:
    question = "What carries the error from the end to the start?"
    draft = answer(f"{question} [1]", question=question)
    assert not draft.model


def test_what_a_small_model_answers_it_does_not_miss(answer: Answer) -> None:
    for missing in ("NOT FOUND", "NOT FOUND: what backpropagation does with the error"):
        draft = answer(f"{CARRIES} [1]\n{missing}")
        assert draft.claims
        assert not draft.missing


@pytest.mark.parametrize(("confidence", "is_overruled"), [(0.9, True), (0.3, False)])
def test_a_small_model_that_finds_nothing_is_overruled_where_the_sources_are_sure(
    answer: Answer, monkeypatch: pytest.MonkeyPatch, confidence: float, is_overruled: bool
) -> None:
    monkeypatch.setattr(writers.sentence_ranking, "confidence", lambda *_, **__: confidence)
    draft = answer("NOT FOUND")
    assert bool(draft.claims) == is_overruled
    assert bool(draft.model) != is_overruled
    assert any("found no answer" in remark for remark in draft.remarks) == is_overruled


def test_a_small_model_is_not_asked_what_a_question_asks(
    library: str, scope: Scope, model_server: ModelStandIn, settings: Any
) -> None:
    task_of(scope, model_server, settings)
    assert not model_server.requests


@pytest.mark.parametrize(
    ("question", "is_wrapped"), [("Backpropagation of errors", True), (ERROR, False)]
)
def test_a_small_model_is_asked_what_is_said_about_a_subject(
    answer: Answer, model_server: ModelStandIn, question: str, is_wrapped: bool
) -> None:
    answer(CARRIES, question=question)
    sent = str(model_server.requests[-1].body["messages"])
    assert question in sent
    assert (f"What is said about “{question}”?" in sent) == is_wrapped


def test_what_the_sources_are_about_stands_in_them_whatever_a_small_model_finds(
    answer: Answer,
) -> None:
    draft = answer("NOT FOUND", question="What is this about?")
    assert draft.claims
    assert not draft.model


@pytest.mark.parametrize(("confidence", "is_missing"), [(0.9, False), (0.3, True)])
def test_a_part_that_a_small_model_does_not_find_is_answered_where_the_sources_are_sure(
    answer: Answer, monkeypatch: pytest.MonkeyPatch, confidence: float, is_missing: bool
) -> None:
    monkeypatch.setattr(writers.sentence_ranking, "confidence", lambda *_, **__: confidence)
    reply = f"{CARRIES} [1]\nNOT FOUND: how soup gets its taste"
    draft = answer(reply, question=QUESTION)
    assert bool(draft.missing) == is_missing
    assert any("simmer" in claim.text for claim in draft.claims) != is_missing


@pytest.mark.parametrize(
    "reply",
    [
        "The user asks about errors, and passage 1 does not say it [1].",
        "That passage is about something else [1].",
        f"<think>\n{CARRIES} [1]\n",
    ],
)
def test_what_a_model_says_of_its_task_is_no_claim(answer: Answer, reply: str) -> None:
    draft = answer(reply)
    assert not draft.model
    assert reply.split(" [")[0] not in str(draft.claims)


def test_a_model_that_names_the_passage_is_given_the_words_of_the_passage(answer: Answer) -> None:
    draft = answer("According to passage 1, backpropagation carries the error to the start [1].")
    assert draft.model
    assert draft.claims[0].text == CARRIES


def test_thoughts_before_a_closing_tag_do_not_reach_the_answer(answer: Answer) -> None:
    draft = answer(
        f"The user asks of errors. Salt is added at the end [1].\n</think>\n{CARRIES} [1]"
    )
    assert [claim.text for claim in draft.claims if not claim.is_more] == [CARRIES]


def test_a_model_that_reads_less_is_asked_again_with_less(
    library: str, scope: Scope, settings: Any
) -> None:
    def reply(body: dict[str, Any]) -> Reply:
        if len(str(body["messages"])) > 2_600:
            return Reply({"error": "The context size is 1000 tokens, which this exceeds."}, 400)
        return Reply(events(f"{CARRIES} [1]"))

    with ScriptedModelServer(reply) as server:
        settings.LLM_PROVIDER, settings.LLM_MODEL, settings.DISABLE_HYDE = "openai", "m", True
        settings.LLM_BASE_URL = f"{server.url}/v1"
        parts = understand(scope, ERROR, history=(), filter=Filter()).route.parts
        passages = evidence.collect(scope, parts, filter=Filter(), limit=10)
        long = [replace(passage, text=passage.text + " x" * 900) for passage in passages.evidence]
        task = WritingTask(
            full_question=ERROR, parts=parts, evidence=replace(passages, evidence=tuple(long))
        )
        proof = Proof(task.evidence.evidence, scope=scope)
        list(writers.write(task, proof, registry.llm(), None))
        assert [len(str(body["messages"])) > 2_600 for body in server.bodies] == [True, False]


def test_quotes_are_said_to_be_checked_once_the_model_has_written(
    library: str, scope: Scope, model_server: ModelStandIn, settings: Any
) -> None:
    task = task_of(scope, model_server, settings, ERROR)
    model_server.answer = lambda text: f"{CARRIES} [1]"
    proof = Proof(task.evidence.evidence, scope=scope)
    events = writers.write(task, proof, registry.llm(), None)
    assert next(events) == Progress(stage="ground")
    assert [request for request in model_server.requests if "chat" in request.path]

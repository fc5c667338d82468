"""What small models write is read in whatever form; truth is shown, a lie never."""

import re
from collections import Counter
from typing import Any, NamedTuple

import pytest

from citations.answers import evidence, writers
from citations.answers.citation_check import Proof
from citations.answers.understanding import understand
from citations.answers.writers import Draft, WritingTask
from citations.ingest import discovery
from citations.ingest import pipeline as ingest_pipeline
from citations.library.filters import Filter
from citations.models import Source
from citations.providers import registry
from citations.readers import source_blocks
from citations.text import blocks
from tests.citations.answers.small_model_outputs import FACTS, Output, outputs
from tests.makers import make_cues, make_video
from tests.model_standin import ModelStandIn
from transcripts.models import Collection
from transcripts.scope import Scope

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("fake_models")]


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
    discovery.adopt()
    for source in Source.objects.all():
        ingest_pipeline.ingest(source.pk)
    return "\n".join(
        " ".join(blocks.text_of(source_blocks.read(source)).split())
        for source in Source.objects.all()
    )


def written(scope: Scope, server: ModelStandIn, task: WritingTask, output: Output) -> Written:
    """Let the server write an answer, and return it with what it cites."""

    def answer(text: str) -> str:
        sent = str(server.requests[-1].body["messages"])
        rows = re.findall(r"Passage \[(\d+)\]\\n<[^>]+>\\n\((\w+)", sent)
        return output.text({title: int(number) for number, title in rows})

    server.answer = answer
    proof = Proof(task.evidence.evidence, scope=scope)
    writing = writers.write(task, proof, registry.llm(), None)
    while True:
        try:
            next(writing)
        except StopIteration as end:
            return Written(end.value, " ".join(quote.text for quote in proof.quotes))


def is_true(claim: str, library: str) -> bool:
    """Tell whether a claim is a true one, or the library's, or tells a quote."""
    known = {text for fact in FACTS for text in (fact.near, fact.loose)}
    quoted = re.fullmatch(r"The text says [\"“](.*)[\"”]\.?", claim)
    return claim in known or (quoted[1] if quoted else claim).rstrip(".") in library


def test_nine_of_ten_true_claims_are_shown_and_no_lie(
    library: str, scope: Scope, model_server: ModelStandIn, settings: Any, record_property: Any
) -> None:
    parts = understand(scope, QUESTION, history=(), filter=Filter()).route.parts
    passages = evidence.collect(scope, parts, filter=Filter(), limit=10)
    task = WritingTask(full_question=QUESTION, parts=parts, evidence=passages)
    settings.LLM_PROVIDER, settings.LLM_MODEL, settings.DISABLE_HYDE = "openai", "small", True
    settings.LLM_BASE_URL = f"{model_server.url}/openai/v1"
    kinds, lost, lies = Counter[str](), Counter[str](), []
    for output in outputs():
        answer = written(scope, model_server, task, output)
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

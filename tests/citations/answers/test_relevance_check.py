"""Whether a claim speaks of what it cites."""

from collections.abc import Sequence
from typing import Any

import pytest

from citations.answers import pipeline as answer_pipeline
from citations.answers.answer import FinalEvent
from citations.answers.relevance_check import AROUND, read_with, relates
from citations.providers import registry
from tests.citations.talks import SAID, talk_in
from tests.model_standin import ModelStandIn
from transcripts.models import Collection
from transcripts.scope import Scope

QUOTE = "carries the error of a network from its end back to its start"


TEXT = " ".join(SAID)
SPAN = (TEXT.index(QUOTE), TEXT.index(QUOTE) + len(QUOTE))


def real(claim: str, sentences: Sequence[str]) -> list[float]:
    """Rate by the model that comes along."""
    embedder = registry.embedder("local")
    return [
        float(sentence)
        for sentence in embedder.embed_documents(list(sentences)) @ embedder.embed_query(claim)
    ]


@pytest.mark.parametrize(
    "claim",
    [
        "The moon is made of green cheese.",
        "You should put your money into gold mines.",
        "Ada Lovelace was born in London in winter.",
    ],
)
def test_a_true_quote_proves_nothing_about_something_else(claim: str) -> None:
    assert not relates(claim, TEXT, SPAN, real)


@pytest.mark.parametrize(
    "claim",
    [
        "Errors travel backwards through a neural net.",
        "What went wrong at the output is handed back to earlier layers.",
        "It goes back.",  # too short to be judged
        "Der Mond besteht aus grünem Käse, wie man sagt.",  # beyond an English model
    ],
)
def test_a_claim_in_other_words_keeps_its_quote(claim: str) -> None:
    assert relates(claim, TEXT, SPAN, real)


def test_without_a_model_nothing_is_left_out() -> None:
    assert relates("The moon is made of green cheese.", TEXT, SPAN, None)
    assert relates("The moon is made of green cheese.", TEXT, SPAN, lambda _, sentences: None)


def test_a_few_words_are_read_with_their_sentence_and_what_stands_around_them() -> None:
    text = f"{'Nothing. ' * 100}The error runs back to the start. {'Silence. ' * 100}"
    place = text.index("runs back")
    sentence, around = read_with(text, (place, place + 9))
    assert sentence.strip() == "The error runs back to the start."
    assert sentence.strip() in around
    assert 2 * AROUND <= len(around) <= 2 * AROUND + 30


@pytest.mark.django_db
def test_what_a_model_puts_above_a_true_quote_is_left_out_where_it_is_about_something_else(
    collection: Collection,
    scope: Scope,
    model_server: ModelStandIn,
    fake_models: None,
    settings: Any,
) -> None:
    settings.EMBEDDING_PROVIDER = "local"
    talk_in(collection)
    settings.LLM_PROVIDER, settings.LLM_MODEL, settings.LLM_BASE_URL, settings.DISABLE_HYDE = (
        "openai",
        "liar",
        f"{model_server.url}/openai/v1",
        True,
    )
    claims = ("The moon is made of green cheese.", "Errors travel backwards through a neural net.")
    model_server.answer = lambda text: "\n\n".join(
        f'CLAIM: {claim}\nQUOTE [1]: "{QUOTE}"' for claim in claims
    )
    *_, last = answer_pipeline.ask(scope, "What does backpropagation carry?")
    assert isinstance(last, FinalEvent)
    assert [(claim.text, claim.citations) for claim in last.reply.claims] == [(claims[1], (1,))]
    assert [check.number for check in last.reply.trace.checks] == [0, 1]
    assert any("do not relate to" in note for note in last.reply.trace.notes)

"""A library says when sources or questions are in languages its model was not made for."""

import pytest

from citations.models import EmbeddingSpace, Source
from citations.providers import weights
from citations.vectors import language_gap
from tests.makers import make_document
from transcripts.models import Collection

pytestmark = pytest.mark.django_db


def embedded_with(model: str) -> None:
    EmbeddingSpace.objects.create(provider="local", model=model, dimensions=384, state="active")


def add(collection: Collection, *languages: str) -> None:
    for language in languages:
        make_document(collection, ["text"], language=language)


def test_sources_in_other_languages_are_counted_with_what_closes_the_gap(
    collection: Collection,
) -> None:
    embedded_with(weights.MINILM)
    add(collection, "en", "en-GB", "", "de", "de-AT", "fr")
    gap = language_gap.find(Source.objects.all())
    assert gap is not None
    assert (gap.sources, gap.total, gap.languages) == (3, 6, ["de", "fr"])
    assert gap.commands == ("kb models fetch e5-small", "kb db migrate-embeddings --to e5-small")


@pytest.mark.parametrize(
    ("model", "state", "language", "label"),
    [
        (weights.MINILM, "ready", "en-GB", "found by words and meaning"),
        (weights.MINILM, "ready", "", "found by words and meaning"),
        (weights.MINILM, "ready", "de", "found by words alone"),
        (weights.MINILM, "pending", "de", "waiting"),
        (weights.E5_SMALL, "ready", "de", "found by words and meaning"),
    ],
)
def test_a_source_is_found_by_words_alone_in_a_language_that_the_model_does_not_know(
    model: str, state: str, language: str, label: str
) -> None:
    embedded_with(model)
    assert language_gap.state_labels()(state, language) == label


def test_few_such_sources_are_not_worth_a_migration(collection: Collection) -> None:
    embedded_with(weights.MINILM)
    add(collection, "de")
    assert language_gap.find(Source.objects.all()) is None
    Source.objects.all().delete()
    add(collection, *["en"] * 19, "de")
    assert language_gap.find(Source.objects.all()) is None
    add(collection, "de")
    assert language_gap.find(Source.objects.all()) is None
    add(collection, "fr")
    assert language_gap.find(Source.objects.all()) is not None


@pytest.mark.parametrize("model", [weights.E5_SMALL, "BAAI/bge-m3", "somebody/model"])
def test_a_model_of_many_languages_or_an_unknown_one_has_no_gap(
    collection: Collection, model: str
) -> None:
    embedded_with(model)
    add(collection, "de")
    assert language_gap.find(Source.objects.all()) is None


def test_a_library_that_is_not_embedded_yet_has_no_gap(collection: Collection) -> None:
    add(collection, "de")
    assert language_gap.find(Source.objects.all()) is None


QUESTION = "Wer erklärt die Kettenregel?"


@pytest.mark.parametrize(
    ("languages", "question", "is_foreign"),
    [
        (["en", "en-GB"], QUESTION, True),
        (["en", ""], QUESTION, True),
        (["en", "en", "de-AT"], QUESTION, True),
        (["en", "de-AT"], QUESTION, False),
        (["en"], "Who explains the chain rule?", False),
        (["en"], "taproot schnorr signatures", False),  # looks like several languages
        ([""], QUESTION, False),  # in which the sources are is not known
        ([], QUESTION, False),
    ],
)
def test_who_asks_in_a_language_of_few_sources_is_advised_to_ask_in_theirs(
    collection: Collection, languages: list[str], question: str, is_foreign: bool
) -> None:
    embedded_with(weights.MINILM)
    add(collection, *languages)
    advice = language_gap.advice(question, Source.objects.all())
    assert advice == (language_gap.LANGUAGE_NOTE if is_foreign else "")


def test_a_model_of_many_languages_may_be_asked_in_any(collection: Collection) -> None:
    embedded_with(weights.E5_SMALL)
    add(collection, "en")
    assert language_gap.advice(QUESTION, Source.objects.all()) == ""

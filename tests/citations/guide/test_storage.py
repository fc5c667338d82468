"""Guides are made once for a text, and offer their questions to those who may read it."""

from typing import Any

import pytest
from django.utils import translation

from citations.errors import ModelServerError
from citations.guide import builder
from citations.guide import storage as guide_storage
from citations.guide.items import SourceGuide
from citations.guide.storage import Absence
from citations.ingest import pipeline as ingest_pipeline
from citations.models import Guide, Node, Source
from citations.quotes import source_texts
from tests.citations.talks import talk_in
from transcripts.core.scope import Scope
from transcripts.models import Collection

pytestmark = pytest.mark.django_db

SAID = (
    "This talk shows how sourdough bread is made from flour, water and patience.",
    "Sourdough is a dough of flour and water that wild yeast has fermented.",
    "Sourdough bread rises slowly because wild yeast makes little gas in the dough.",
    "A baker of sourdough bread feeds the dough every day with flour and water.",
    "How long does sourdough bread rise in a warm kitchen?",
    "Sourdough bread rises for about 12 hours in a warm kitchen before it is baked.",
    "Salt makes the dough strong, and steam makes the crust of the bread shine.",
)
BAKERS = [("Frank Rosenblatt", of) for of in ("of rye", "of oats", "of wheat", "of corn", "at sea")]


@pytest.fixture
def talk(collection: Collection, fake_models: None) -> Source:
    source = talk_in(collection, said=SAID)
    source.refresh_from_db()
    return source


def guide_of(source: Source) -> SourceGuide:
    """Make and read the guide to a source."""
    guide_storage.make(source)
    guide = guide_storage.of(source)
    assert guide is not None
    return guide


def test_every_item_stands_verbatim_at_its_place(talk: Source) -> None:
    assert guide_storage.make(talk)
    guide = guide_storage.of(talk)
    assert guide is not None
    text = source_texts.of(talk).text
    items = [*guide.about, *guide.terms, *guide.numbers, *guide.questions]
    assert items
    for item in items:
        first, last = item.span
        assert text[first:last] == (item.text or text[first:last])
        assert item.place
        assert f"from={first}&to={last}" in item.link


def test_a_defined_term_is_shown_with_its_definition(talk: Source) -> None:
    guide = guide_of(talk)
    assert [(item.title, item.sentence) for item in guide.terms][:1] == [("Sourdough", SAID[1])]


def test_a_question_is_kept_with_the_quote_that_answers_it(talk: Source) -> None:
    guide = guide_of(talk)
    quotes = {item.title: item.sentence for item in guide.questions}
    assert SAID[5] in quotes[SAID[4]]


def test_a_source_that_asks_little_is_asked_about_its_terms(
    collection: Collection, fake_models: None
) -> None:
    said = (*SAID, "The oven fan cools the crust.", "An oven fan dries the crust of the bread.")
    source = talk_in(collection, said=(*said, "Without the oven fan the crust stays soft."))
    source.refresh_from_db()
    Node.objects.filter(source=source).update(title="Oven fan")
    guide = guide_of(source)
    quotes = {item.title: item.sentence for item in guide.questions}
    assert "oven fan" in quotes["What is said about “oven fan”?"].casefold()


def test_a_term_without_a_definition_is_shown_with_what_is_said_about_it(
    collection: Collection, settings: Any
) -> None:
    settings.EMBEDDING_PROVIDER = "local"
    fan = "The oven fan allows bakers to dry the crust of a sourdough bread at the end."
    others = [f"Bakers of {grain} clean the oven fan on Sundays." for grain in ("rye", "oats")]
    more = ["Without the oven fan, the crust stays soft.", "Turn the oven fan off at noon."]
    source = talk_in(collection, said=(*SAID, fan, *others, *more))
    source.refresh_from_db()
    Node.objects.filter(source=source).update(title="Oven fan")
    terms = {item.title: item.sentence for item in guide_of(source).terms}
    assert terms["Oven fan"] == fan


def test_a_question_that_is_asked_twice_stands_once_in_the_guide(
    collection: Collection, fake_models: None
) -> None:
    source = talk_in(collection, said=(*SAID, *SAID[4:6]))
    source.refresh_from_db()
    guide = guide_of(source)
    assert [item.title for item in guide.questions].count(SAID[4]) == 1


def test_no_two_quotes_of_a_guide_begin_at_the_same_place(
    collection: Collection, fake_models: None
) -> None:
    source = talk_in(collection, said=(*SAID, "The oven fan cools the rye crust in no time."))
    source.refresh_from_db()
    Node.objects.filter(source=source).update(title="Oven fan, rye crust")
    guide = guide_of(source)
    places = [item.span[0] for item in guide.questions]
    assert len(set(places)) == len(places) > 1


def test_a_name_in_a_talk_is_no_term(collection: Collection, fake_models: None) -> None:
    said = [f"In those years {name} baked the bread {number}." for name, number in BAKERS]
    source = talk_in(collection, said=(*SAID, *said))
    source.refresh_from_db()
    Node.objects.filter(source=source).update(title="Frank Rosenblatt")
    guide = guide_of(source)
    assert [item.title for item in guide.names] == ["Frank Rosenblatt"]
    assert "frank rosenblatt" not in [item.title.casefold() for item in guide.terms]


def test_a_guide_is_made_once_for_a_text(talk: Source) -> None:
    assert [*guide_storage.missing()] == [talk]
    assert guide_storage.make(talk)
    assert not guide_storage.missing().exists()
    assert not guide_storage.make(talk)


def test_a_guide_that_is_made_while_it_is_read_is_still_to_come(talk: Source) -> None:
    guide = guide_storage.of(talk)
    assert guide_storage.absence(talk, guide) == Absence.WAITING
    guide_storage.make(talk)
    assert guide_storage.absence(talk, guide) == Absence.WAITING
    assert guide_storage.absence(talk, guide_storage.of(talk)) is None


def test_a_text_that_changes_gets_a_new_guide(talk: Source) -> None:
    guide_storage.make(talk)
    Source.objects.filter(pk=talk.pk).update(digest="0" * 64)
    talk.refresh_from_db()
    assert guide_storage.of(talk) is None
    assert [*guide_storage.missing()] == [talk]


def test_a_guide_that_fails_is_given_up_after_some_attempts(
    talk: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: Any, **options: Any) -> None:
        raise RuntimeError("boom")

    monkeypatch.setattr(builder, "build", fail)
    for attempts in (1, 2, 3):
        assert not guide_storage.make(talk)
        assert not guide_storage.missing().exists(), "it waits"
        assert Guide.objects.get(source=talk).attempts == attempts
        Guide.objects.update(run_after=None)
    assert not guide_storage.make(talk)
    assert Guide.objects.get(source=talk).attempts == 3
    assert guide_storage.of(talk) is None
    assert guide_storage.absence(talk, None) == Absence.SHORT


def test_a_guide_that_waits_for_a_server_is_still_to_come(
    talk: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: Any, **options: Any) -> None:
        raise ModelServerError("Away.")

    monkeypatch.setattr(builder, "build", fail)
    for _ in range(5):
        Guide.objects.update(run_after=None)
        assert not guide_storage.make(talk)
    assert guide_storage.absence(talk, None) == Absence.WAITING
    Guide.objects.update(run_after=None)
    assert [*guide_storage.missing()] == [talk]


def test_a_guide_to_a_text_that_changed_while_it_was_made_is_made_anew(
    talk: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    def change(source: Source, **_options: Any) -> SourceGuide:
        Source.objects.filter(pk=talk.pk).update(digest="0" * 64)
        guide_storage.request(Source.objects.get(pk=talk.pk))
        return SourceGuide()

    monkeypatch.setattr(builder, "build", change)
    assert not guide_storage.make(talk)
    assert [*guide_storage.missing()] == [talk]


def test_what_was_opened_gets_its_guide_first(talk: Source, collection: Collection) -> None:
    newer = talk_in(collection, key="newer", said=SAID)
    assert [*guide_storage.missing()] == [newer, talk]
    assert not guide_storage.missing_of_opened().exists()
    assert guide_storage.put_first(Source.objects.filter(pk=talk.pk)) == 1
    assert [*guide_storage.missing()] == [talk, newer]
    assert [*guide_storage.missing_of_opened()] == [talk]
    guide_storage.make(talk)
    assert guide_storage.put_first(Source.objects.filter(pk=talk.pk)) == 0


def test_a_source_without_chunks_has_no_guide_to_make(talk: Source) -> None:
    talk.start_anew()
    assert not guide_storage.missing().exists()
    ingest_pipeline.ingest(talk.pk)
    assert guide_storage.missing().exists()


def test_questions_are_suggested_from_what_may_be_read(talk: Source, scope: Scope) -> None:
    guide_storage.make(talk)
    offered = guide_storage.suggested(scope)
    assert {question.source for question in offered} == {talk.uuid}
    assert SAID[4] in [question.question for question in offered]
    assert guide_storage.suggested(Scope()) == []


def test_questions_in_the_language_of_the_interface_are_suggested_first(
    talk: Source, collection: Collection, scope: Scope
) -> None:
    newer = talk_in(collection, key="newer", said=SAID)
    for source in (talk, newer):
        source.refresh_from_db()
        guide_storage.make(source)
    Source.objects.filter(pk=newer.pk).update(language="de-AT")
    for language, first in (("en", talk), ("de", newer)):
        with translation.override(language):
            assert guide_storage.suggested(scope)[0].source == first.uuid


def test_suggestions_are_those_of_the_chosen_sources(talk: Source, scope: Scope) -> None:
    guide_storage.make(talk)
    assert guide_storage.suggested(scope, sources=[str(talk.uuid)])
    assert not guide_storage.suggested(scope, sources=["00000000-0000-0000-0000-000000000000"])
    assert guide_storage.suggested(scope, collection=talk.collection.slug)
    assert not guide_storage.suggested(scope, collection="elsewhere")

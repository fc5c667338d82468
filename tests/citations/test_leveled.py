"""Searching over levels of detail."""

import pytest

from citations import embeddings, leveled, lock
from citations.filters import Filter
from citations.leveled import Strategy
from citations.models import Source
from citations.replies import Part
from tests.makers import make_document
from transcripts.errors import EmptyQuery
from transcripts.models import Collection
from transcripts.scope import NOTHING, Scope

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("fake_models")]

TEXTS = ("Entropy is disorder.", "Enthalpy is the heat of a system.", "Entropy, and entropy again.", "A cat sat on the mat.")


def embed(*sources: Source) -> None:
    """Give every chunk of sources its vector."""
    space = lock.claim()
    for source in sources:
        wanted = embeddings.wanted(space, source=source.pk)
        list(embeddings.make(space, lock.embedder_of(space), embeddings.in_batches(wanted)))


@pytest.mark.parametrize("strategy", Strategy)
def test_chunks_answer_where_there_is_no_level_above_them(collection: Collection, scope: Scope, strategy: Strategy) -> None:
    source = make_document(collection, TEXTS)
    found = leveled.find(scope, Part(text="What is enthalpy?"), strategy=strategy)
    first = found.evidence[0]
    assert (first.number, first.text, first.level, first.source) == (1, TEXTS[1], 0, source.pk)
    assert first.spans == (first.locator.span,)
    assert [one.number for one in found.evidence] == list(range(1, len(found.evidence) + 1))


def test_nothing_outside_the_scope_or_the_filter_is_found(collection: Collection, scope: Scope) -> None:
    make_document(collection, TEXTS)
    other = make_document(collection, TEXTS[1:])
    assert not leveled.find(NOTHING, Part(text="enthalpy")).evidence
    found = leveled.find(scope, Part(text="enthalpy"), wanted=Filter(sources=(str(other.uuid),)))
    assert {one.source for one in found.evidence} == {other.pk}


def test_quotation_marks_that_stand_in_the_way_are_overlooked_and_that_is_said(collection: Collection, scope: Scope) -> None:
    make_document(collection, TEXTS)
    found = leveled.find(scope, Part(text='What does "enthalpy is the cold" mean?'))
    assert found.evidence[0].text == TEXTS[1]
    assert leveled.UNQUOTED in found.notes
    assert leveled.UNQUOTED not in leveled.find(scope, Part(text='What is "enthalpy"?')).notes


def test_a_question_longer_than_a_search_takes_is_cut(collection: Collection, scope: Scope) -> None:
    make_document(collection, TEXTS)
    assert leveled.find(scope, Part(text="enthalpy " * 1_000)).evidence[0].text == TEXTS[1]


def test_a_question_without_words_is_refused(scope: Scope) -> None:
    with pytest.raises(EmptyQuery):
        leveled.find(scope, Part(text="?!"))

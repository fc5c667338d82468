"""Searching the library: from a question to passages."""

import pytest

from citations import retrieval
from citations.passages import Mode
from tests.makers import make_document
from transcripts.errors import EmptyQuery, InvalidInput
from transcripts.models import Collection
from transcripts.scope import NOTHING, Scope

pytestmark = pytest.mark.django_db


def test_a_word_finds_the_passages_that_say_it(scope: Scope, collection: Collection) -> None:
    make_document(collection, ["Entropy is disorder.", "Enthalpy is heat.", "Entropy, and entropy again."])
    found = retrieval.search(scope, "entropy", mode=Mode.LEXICAL)
    assert [passage.text for passage in found.passages] == ["Entropy, and entropy again.", "Entropy is disorder."]


def test_nothing_is_found_outside_the_scope(collection: Collection) -> None:
    make_document(collection, ["Entropy is disorder."])
    assert retrieval.search(NOTHING, "entropy", mode=Mode.LEXICAL).passages == ()


@pytest.mark.parametrize("limit", [0, 51, -1])
def test_a_limit_out_of_bounds_is_refused(scope: Scope, limit: int) -> None:
    with pytest.raises(InvalidInput, match="1 to 50"):
        retrieval.search(scope, "entropy", limit=limit)


@pytest.mark.parametrize("query", ["", "  ", '""', "-entropy", "?!"])
def test_a_search_for_nothing_is_refused(scope: Scope, query: str) -> None:
    with pytest.raises(EmptyQuery):
        retrieval.search(scope, query)

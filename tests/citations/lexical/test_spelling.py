"""Words that occur nowhere are corrected from what may be read."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from citations.lexical import index as lexical_index
from citations.lexical import merging, spelling
from citations.lexical.query import parse
from citations.library.filters import Filter, resolve
from tests.makers import make_document
from transcripts.core.scope import Scope
from transcripts.models import Collection

pytestmark = pytest.mark.django_db
TEXTS = (
    "Gradient descent finds a minimum. The gradients are small.",
    "The malleability of a transaction was a problem of Bitcoin.",
    "Libraries keep books; a committee of the library decides.",
)


@pytest.fixture(autouse=True, params=["merged", "not merged"])
def _indexed(request: pytest.FixtureRequest, collection: Collection) -> None:
    make_document(collection, TEXTS)
    if request.param == "merged":
        merging.merge(spare=0)


def corrected(scope: Scope, text: str) -> str:
    resolved = resolve(scope, Filter())
    unknown = lexical_index.find(parse(text), limit=10, resolved=resolved).unknown
    return spelling.correct(text, unknown, resolved=resolved)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("gradeint descent", "gradient descent"),
        ("transaction malleabilty", "transaction malleability"),
        ("the Comitee", "the committee"),
        ("libary", "library"),
        ("bitconi transacton", "bitcoin transaction"),
        ("thelibrary keepbooks", "the library keep books"),
        ('"gradeint descent" -foo', '"gradient descent" -foo'),
    ],
)
def test_a_misspelt_word_becomes_the_nearest_that_the_sources_have_as_they_write_it(
    scope: Scope, typed: str, meant: str
) -> None:
    assert corrected(scope, typed) == meant


@pytest.mark.parametrize(
    "typed",
    ["gradient", "descending gradients", "photosynthesis", "zzzxq", "ofa", "b1tcoin", "猫好"],
)
def test_known_words_and_those_that_are_near_to_none_stay(scope: Scope, typed: str) -> None:
    assert corrected(scope, typed) == ""


def test_words_of_a_language_are_offered_as_it_writes_them(
    scope: Scope, collection: Collection
) -> None:
    make_document(collection, ["Die Häuser und die Straßenbahn."], language="de")
    assert corrected(scope, "strassenban") == "strassenbahn"
    assert corrected(scope, "häuserr") == "häuser"


def test_words_that_may_not_be_read_are_neither_offered_nor_in_the_way(
    scope: Scope, collection: Collection
) -> None:
    hidden = Collection.objects.create(name="Hidden", slug="hidden")
    make_document(hidden, ["gradein " * 50, "gradeinte committed", "photosynthesis"])
    assert corrected(scope, "gradeint") == "gradient"
    assert corrected(scope, "photosynthesi") == ""
    merging.merge(spare=0)
    assert corrected(scope, "gradeint") == "gradient"
    assert corrected(scope, "photosynthesi") == ""


def test_the_more_frequent_of_two_words_as_near_is_offered(
    scope: Scope, collection: Collection
) -> None:
    make_document(collection, ["the house", "a house", "a mouse", "the hoase"])
    assert corrected(scope, "hoose") == "house"


def test_a_word_that_joins_two_is_split_where_it_is_short_enough_to_be_tried(
    scope: Scope, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert corrected(scope, "keepbooks") == "keep books"
    monkeypatch.setattr(lexical_index, "search", lambda *_, **__: pytest.fail("a search"))
    assert corrected(scope, "keepbooks" * 50) == ""


def test_a_query_of_known_words_asks_the_database_nothing_more(scope: Scope) -> None:
    resolved = resolve(scope, Filter())
    with CaptureQueriesContext(connection) as queries:
        assert spelling.correct("gradient descent", (), resolved=resolved) == ""
    assert not queries.captured_queries

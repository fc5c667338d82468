"""Search for parts of compounds, merged into packs and not."""

import pytest

from citations.lexical import merging
from tests.citations.lexical.test_index import texts_found
from tests.makers import make_document
from transcripts.models import Collection

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("is_merged", [False, True])
def test_a_compound_is_found_by_its_parts_after_the_word_itself(
    collection: Collection, is_merged: bool
) -> None:
    whole = "Das Grundwassermessnetz wird erneuert."
    make_document(collection, [whole, "Das Messnetz ist alt.", "Ein Haus."], language="de-AT")
    make_document(collection, ["the messnetzwork"], language="en")
    if is_merged:
        merging.merge(spare=0)
    assert texts_found("Messnetz") == ["Das Messnetz ist alt.", whole]
    assert texts_found("Grundwasser") == [whole]
    assert texts_found("Netzhaut") == []


@pytest.mark.parametrize("is_merged", [False, True])
def test_other_spellings_are_found_after_the_exact_one(
    collection: Collection, is_merged: bool
) -> None:
    texts = ["the naïve way", "the naive way", "a set-top box", "a settop box", "class 7 is full"]
    make_document(collection, texts)
    if is_merged:
        merging.merge(spare=0)
    assert texts_found("naive") == ["the naive way", "the naïve way"]
    assert texts_found("naïve") == ["the naïve way", "the naive way"]
    assert texts_found("settop") == ["a settop box", "a set-top box"]
    assert texts_found("set-top") == ["a set-top box", "a settop box"]
    assert texts_found("class 7")[0] == "class 7 is full"


def test_a_word_in_capitals_prefers_passages_that_write_it_so(collection: Collection) -> None:
    make_document(collection, ["it is what it is", "the IT of a firm, as it grows", "rain"])
    assert texts_found("IT")[0] == "the IT of a firm, as it grows"
    assert texts_found("it")[0] == "it is what it is"

"""Search by words in all their forms, in libraries of several languages."""

import pytest

from citations.lexical import index as lexical_index
from citations.lexical import merging
from citations.lexical.index import ChunkScore
from citations.models import Chunk
from tests.citations.lexical import naive
from tests.citations.lexical.naive import Text
from tests.citations.lexical.test_index import search, texts_found
from tests.makers import make_document
from transcripts.models import Collection


def test_a_form_of_an_excluded_word_excludes_nothing_and_no_exclusion_hides_what_lacks_it(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_document(
        collection, ["a net", "nets of a net", "netting, a netted net"] + ["the nets"] * 20
    )
    assert texts_found("net -nets", limit=3) == ["netting, a netted net", "a net"]
    monkeypatch.setattr(lexical_index, "MAX_VERIFIED", 3)
    make_document(collection, ["far too many other words about the fishes that swim"])
    expected = ["far too many other words about the fishes that swim"]
    assert texts_found("the -nets", limit=1) == expected


def test_phrases_are_of_the_words_as_typed(collection: Collection) -> None:
    make_document(collection, ["deep networks", "a deep network", "networks are deep"])
    assert texts_found('"deep networks"') == ["deep networks"]


FORMS = ("network", "networks", "networking", "netz", "netze", "notes", "not", "réseaux", "réseau")


def test_a_chunk_has_a_word_if_its_language_makes_the_same_stem_of_both(
    collection: Collection,
) -> None:
    texts = [
        Text(" ".join((form, other)), language)
        for language in ("", "en-US", "de", "fr", "nb", "zh-CN", "uk", "xx")
        for form, other in zip(FORMS, (*FORMS[3:], *FORMS[:3]), strict=True)
    ]
    for text in texts:
        make_document(collection, [text.text], language=text.language)
    for spare in (1000, 40, 0):
        merging.merge(spare=spare)
        for query in (*FORMS, "networks netz networking", "the notes"):
            positions = list(Chunk.objects.order_by("position").values_list("position", flat=True))
            wanted = naive.ranked(texts, query, limit=20)
            expected = [ChunkScore(positions[number], score) for number, score in wanted]
            assert search(query, limit=20) == expected


def test_a_stem_of_one_language_is_no_word_of_another(collection: Collection) -> None:
    make_document(collection, ["what not to do", "take notes"], language="en")
    make_document(collection, ["die Not"], language="de")
    assert texts_found("notes") == ["take notes"] + ["die Not"]

"""Search by words over the library: the same scores as one index over everything, whatever was stored, replaced, deleted and merged before."""

from collections.abc import Iterable, Sequence

import pytest

from citations import lexical
from citations.errors import SourceNotFound
from citations.filters import Reach
from citations.lexical import Scored
from citations.models import Chunk, LexBlock, LexEntry, Source
from citations.queries import parse
from tests.makers import SENTENCES, make_document, replace_chunks
from transcripts.bm25 import Index
from transcripts.models import Collection

EVERYWHERE = Reach(sources=None, chunks=1)


def search(text: str, *, limit: int = 10, reach: Reach = EVERYWHERE) -> list[Scored]:
    return lexical.search(parse(text), limit=limit, reach=reach)


def texts_found(text: str, *, limit: int = 10, reach: Reach = EVERYWHERE) -> list[str]:
    chunks = dict(Chunk.objects.values_list("place", "text"))
    return [chunks[hit.place] for hit in search(text, limit=limit, reach=reach)]


def within(*sources: Source, start: int | None = None, end: int | None = None) -> Reach:
    return Reach(sources=frozenset(source.pk for source in sources), chunks=1, start=start, end=end)


def expected(text: str, *, limit: int) -> list[Scored]:
    """Rank all chunks there are by one index of ``transcripts.bm25``, which knows neither numpy nor the lexicon."""
    rows = list(Chunk.objects.order_by("place").values_list("place", "text"))
    return [Scored(rows[hit.position][0], hit.score) for hit in Index.build([text for _, text in rows]).rank(parse(text).words, limit=limit)]


def assert_as_expected(queries: Iterable[str], *, limit: int = 10) -> None:
    for query in queries:
        found, wanted = search(query, limit=limit), expected(query, limit=limit)
        assert [hit.place for hit in found] == [hit.place for hit in wanted], query
        assert [hit.score for hit in found] == pytest.approx([hit.score for hit in wanted], rel=1e-9, abs=0), query


def numbered(sentences: Sequence[str], count: int) -> list[str]:
    return [f"{sentences[n % len(sentences)]} Point {n}." for n in range(count)]


QUERIES = ("network", "the error", "error 404 missing page", "neural network point 7", "the the the network", "absent", "a", "")


def test_chunks_are_ranked_as_one_index_over_all_of_them_would(collection: Collection) -> None:
    for n in range(3):
        make_document(collection, numbered(SENTENCES[n:], 20 + n))
    assert_as_expected(QUERIES)
    assert_as_expected(QUERIES, limit=100)


def test_a_source_that_is_replaced_or_deleted_is_forgotten_at_once(collection: Collection) -> None:
    first, second = make_document(collection, ["one dolphin", "two whales"]), make_document(collection, ["a whale and a dolphin"])
    replace_chunks(first, ["a shark instead"])
    assert texts_found("dolphin shark whales") == ["a shark instead", "a whale and a dolphin"]
    assert_as_expected(["dolphin", "shark whale"])
    second.delete()
    assert search("dolphin whale") == []
    assert_as_expected(["shark"])


def test_a_source_that_is_gone_cannot_be_indexed(collection: Collection) -> None:
    source = make_document(collection, ["something"])
    Source.objects.all().delete()
    with pytest.raises(SourceNotFound):
        lexical.index(source.pk, ["anew"])


def test_merging_changes_nothing_that_a_search_finds(collection: Collection) -> None:
    sources = [make_document(collection, numbered(SENTENCES[n:], 20 + n)) for n in range(4)]
    assert lexical.merge(spare=4) == 0
    assert lexical.merge(spare=3) == 4
    assert_as_expected(QUERIES)
    sources[1].delete()
    replace_chunks(sources[2], ["a network of whales", "the error of whales"])
    assert_as_expected(QUERIES)
    assert lexical.merge(spare=0) == 3  # a source that is gone, one that was replaced, and what it was replaced by
    assert_as_expected([*QUERIES, "whales"], limit=100)
    Source.objects.all().delete()
    assert search("network whales error") == []
    lexical.merge(spare=0)
    assert search("network whales error") == []
    assert not LexBlock.objects.exists()
    assert not LexEntry.objects.exists()


def test_only_sources_within_reach_are_found_and_scores_stay_those_of_the_library(collection: Collection) -> None:
    sources = [make_document(collection, numbered(SENTENCES, 12)) for _ in range(3)]
    everything = {hit.place: hit.score for hit in search("neural network", limit=100)}
    places = set(sources[1].chunks.values_list("place", flat=True))
    assert {hit.place: hit.score for hit in search("neural network", reach=within(sources[1]))} == {
        place: score for place, score in everything.items() if place in places
    }


def test_a_time_range_leaves_what_overlaps_it(collection: Collection) -> None:
    source = make_document(collection, ["whale one", "whale two", "whale three", "whale of no time"])
    for chunk in source.chunks.order_by("place")[:3]:
        Chunk.objects.filter(pk=chunk.pk).update(start=chunk.ordinal * 1000, end=(chunk.ordinal + 1) * 1000)
    assert texts_found("whale", reach=within(source, start=1000, end=2000)) == ["whale two"]
    assert sorted(texts_found("whale", reach=within(source, start=500, end=1001))) == ["whale one", "whale two"]
    assert texts_found("whale", reach=within(source, start=2500)) == ["whale three"]
    assert texts_found("whale", reach=Reach(sources=None, chunks=4, start=0, end=0)) == ["whale one"]


def test_phrases_must_occur_and_excluded_words_must_not(collection: Collection) -> None:
    make_document(collection, ["error 404 is a page", "404 times an error", "error 404 again, no fish", "a page"])
    assert sorted(texts_found('"error 404"')) == ["error 404 again, no fish", "error 404 is a page"]
    assert texts_found('"error 404" -fish') == ["error 404 is a page"]
    assert texts_found("error -page") == ["404 times an error", "error 404 again, no fish"]


def test_what_each_word_adds_is_the_score(collection: Collection) -> None:
    make_document(collection, numbered(SENTENCES, 30))
    query = parse("the neural network the network")
    hits = lexical.search(query, limit=30, reach=EVERYWHERE)
    told = lexical.explain(query, [hit.place for hit in hits])
    assert {hit.place: hit.score for hit in hits} == {place: sum(term.score for term in terms) for place, terms in told.items()}
    assert [(term.term, term.frequency) for term in told[hits[0].place]] == [("network", 1)]
    assert lexical.explain(query, [hits[-1].place + 1000]) == {}

"""Search by words over the library: the same scores as one index over everything, whatever was
stored, replaced, deleted and merged before.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
import pytest
from django.db import connection, transaction
from hypothesis import given
from hypothesis import strategies as st

from citations.errors import SourceNotFound
from citations.lexical import index as lexical_index
from citations.lexical import merging, postings, snapshot
from citations.lexical.index import ChunkScore
from citations.lexical.postings import Words, skyline
from citations.lexical.query import Query, parse
from citations.library.filters import ResolvedFilter
from citations.models import Chunk, LexBlock, LexEntry, LexPack, Source
from tests.makers import SENTENCES, make_document, replace_chunks
from transcripts import conf
from transcripts.core import locks
from transcripts.core.locks import Lock
from transcripts.models import Collection
from transcripts.text.bm25 import Index, Parameters, length_norm, score_formula
from transcripts.text.terms import counted_in, term_of, terms_of, words_in
from transcripts.text.tokenizer import TOKENIZER_VERSION, tokenize

EVERYWHERE = ResolvedFilter(sources=None, chunks=1)


def search(
    text: str, *, limit: int = 10, resolved: ResolvedFilter = EVERYWHERE
) -> list[ChunkScore]:
    return lexical_index.search(parse(text), limit=limit, resolved=resolved)


def texts_found(text: str, *, limit: int = 10, resolved: ResolvedFilter = EVERYWHERE) -> list[str]:
    chunks = dict(Chunk.objects.values_list("position", "text"))
    return [chunks[hit.position] for hit in search(text, limit=limit, resolved=resolved)]


def within(*sources: Source, start: int | None = None, end: int | None = None) -> ResolvedFilter:
    return ResolvedFilter(
        sources=frozenset(source.pk for source in sources), chunks=1, start=start, end=end
    )


def expected(text: str, *, limit: int) -> list[ChunkScore]:
    """Rank all chunks there are by one index of ``transcripts.text.bm25``, which knows neither
    numpy nor the lexicon.
    """
    rows = list(Chunk.objects.order_by("position").values_list("position", "text"))
    return [
        ChunkScore(rows[hit.position][0], hit.score)
        for hit in Index.build([counted_in(text, "") for _, text in rows], conf.bm25()).rank(
            words_in(parse(text).words, ""), limit=limit
        )
    ]


def assert_as_expected(queries: Iterable[str], *, limit: int = 10) -> None:
    for query in queries:
        hits, wanted = search(query, limit=limit), expected(query, limit=limit)
        assert [hit.position for hit in hits] == [hit.position for hit in wanted], query
        assert [hit.score for hit in hits] == pytest.approx(
            [hit.score for hit in wanted], rel=1e-9, abs=0
        ), query


def numbered(sentences: Sequence[str], count: int) -> list[str]:
    return [f"{sentences[n % len(sentences)]} Point {n}." for n in range(count)]


QUERIES = (
    "network",
    "the error",
    "error 404 missing page",
    "neural network point 7",
    "the the the network",
    "absent",
    "a",
    "",
)


def test_chunks_are_ranked_as_one_index_over_all_of_them_would(collection: Collection) -> None:
    for n in range(3):
        make_document(collection, numbered(SENTENCES[n:], 20 + n))
    assert_as_expected(QUERIES)
    assert_as_expected(QUERIES, limit=100)


@pytest.mark.parametrize(("k1", "b"), [(0.0, 0.75), (0.6, 0.0), (1.2, 1.0), (2.0, 0.3)])
def test_other_constants_rank_by_them_at_once_from_the_same_index(
    collection: Collection, settings: Any, k1: float, b: float
) -> None:
    for n in range(3):
        make_document(collection, ["the error", *numbered(SENTENCES[n:], 80 + n), "?!"])
        merging.merge(spare=0) if n == 1 else None
    before = search("the error", limit=20)
    settings.BM25_K1, settings.BM25_B = k1, b
    assert_as_expected(QUERIES, limit=20)
    hits = search("the error", limit=20)
    assert [hit.score for hit in hits] != [hit.score for hit in before]
    terms = lexical_index.explain(
        parse("the error"), [hit.position for hit in hits], resolved=EVERYWHERE
    )
    expected = [hit.score for hit in hits]
    assert [sum(term.score for term in terms[hit.position]) for hit in hits] == expected


def test_a_source_that_is_replaced_or_deleted_is_forgotten_at_once(collection: Collection) -> None:
    first, second = (
        make_document(collection, ["one dolphin", "two whales"]),
        make_document(collection, ["a whale and a dolphin"]),
    )
    replace_chunks(first, ["a shark instead"])
    expected = ["a shark instead", "a whale and a dolphin"]
    assert sorted(texts_found("dolphin shark whales")) == expected
    assert_as_expected(["dolphin", "shark whale"])
    second.delete()
    assert search("dolphin whale") == []
    assert_as_expected(["shark"])


def test_a_source_that_is_gone_cannot_be_indexed(collection: Collection) -> None:
    source = make_document(collection, ["something"])
    Source.objects.all().delete()
    with pytest.raises(SourceNotFound):
        lexical_index.index(source.pk, ["anew"])


def test_merging_changes_nothing_that_a_search_finds(collection: Collection) -> None:
    sources = [make_document(collection, numbered(SENTENCES[n:], 20 + n)) for n in range(4)]
    assert merging.merge(spare=4) == 0
    assert merging.merge(spare=3) == 4
    assert_as_expected(QUERIES)
    sources[1].delete()
    replace_chunks(sources[2], ["a network of whales", "the error of whales"])
    assert_as_expected(QUERIES)
    assert (
        merging.merge(spare=0) == 3
    )  # a source that is gone, one that was replaced, and what it was replaced by
    assert_as_expected([*QUERIES, "whales"], limit=100)
    Source.objects.all().delete()
    assert search("network whales error") == []
    merging.merge(spare=0)
    assert search("network whales error") == []
    assert not LexBlock.objects.exists()
    assert not LexEntry.objects.exists()


def test_only_sources_within_reach_are_found_and_scores_stay_those_of_the_library(
    collection: Collection,
) -> None:
    sources = [make_document(collection, numbered(SENTENCES, 12)) for _ in range(3)]
    everything = {hit.position: hit.score for hit in search("neural network", limit=100)}
    places = set(sources[1].chunks.values_list("position", flat=True))
    assert {
        hit.position: hit.score for hit in search("neural network", resolved=within(sources[1]))
    } == {place: score for place, score in everything.items() if place in places}


def test_a_time_range_leaves_what_overlaps_it(collection: Collection) -> None:
    source = make_document(
        collection, ["whale one", "whale two", "whale three", "whale of no time"]
    )
    for chunk in source.chunks.order_by("position")[:3]:
        Chunk.objects.filter(pk=chunk.pk).update(
            start=chunk.ordinal * 1000, end=(chunk.ordinal + 1) * 1000
        )
    assert texts_found("whale", resolved=within(source, start=1000, end=2000)) == ["whale two"]
    expected = ["whale one", "whale two"]
    assert sorted(texts_found("whale", resolved=within(source, start=500, end=1001))) == expected
    assert texts_found("whale", resolved=within(source, start=2500)) == ["whale three"]
    hits = texts_found("whale", resolved=ResolvedFilter(sources=None, chunks=4, start=0, end=0))
    assert hits == ["whale one"]


def test_phrases_must_occur_and_excluded_words_must_not(collection: Collection) -> None:
    make_document(
        collection,
        ["error 404 is a page", "404 times an error", "error 404 again, no fish", "a page"],
    )
    assert sorted(texts_found('"error 404"')) == ["error 404 again, no fish", "error 404 is a page"]
    assert texts_found('"error 404" -fish') == ["error 404 is a page"]
    assert texts_found("error -page") == ["404 times an error", "error 404 again, no fish"]


def test_what_each_word_adds_is_the_score(collection: Collection) -> None:
    make_document(collection, numbered(SENTENCES, 30))
    query = parse("the neural networks the networks")
    hits = lexical_index.search(query, limit=30, resolved=EVERYWHERE)
    shares = lexical_index.explain(query, [hit.position for hit in hits], resolved=EVERYWHERE)
    results = {hit.position: hit.score for hit in hits}
    assert results == {place: sum(term.score for term in terms) for place, terms in shares.items()}
    expected = {("the", "the"), ("neural", "neural"), ("networks", "network")}
    assert {(term.term, term.stem) for terms in shares.values() for term in terms} == expected
    assert lexical_index.explain(query, [hits[-1].position + 1000], resolved=EVERYWHERE) == {}


# Sizes and texts that nobody would type


def test_texts_of_any_kind_can_be_indexed(collection: Collection) -> None:
    long = "é" * 5000
    texts = [
        "",
        "NUL\x00 inside",
        "lone \ud800 surrogate",
        f"{long} {long[1:]}",
        "a " * 1000,
        "猫が好き ที่นี่",
        "very " * 70_000,
        "\u2026 … dots",
    ]
    words = Words.build(texts)
    assert Words.from_bytes(words.to_bytes()).terms == words.terms
    source = Source.objects.create(collection=collection, kind="text", title="Odd")
    first = lexical_index.index(source.pk, texts)
    for _ in range(2):
        assert [hit.position - first for hit in search("inside")] == [1]
        assert [hit.position - first for hit in search("surrogate")] == [2]
        hits = lexical_index.search(Query(text=long, words=long), limit=10, resolved=EVERYWHERE)
        assert [hit.position - first for hit in hits] == [3]
        assert [hit.position - first for hit in search("猫")] == [5]
        assert [hit.position - first for hit in search("very")] == [6]
        assert (
            lexical_index.explain(parse("very"), [first + 6], resolved=EVERYWHERE)[first + 6][
                0
            ].frequency
            == 70_000
        )
        assert search("é" * 5001) == []
        merging.merge(spare=0)


def test_a_source_without_chunks_is_in_nobodys_way(collection: Collection) -> None:
    make_document(collection, [])
    assert search("anything") == []
    assert merging.merge(spare=0) == 0
    make_document(collection, ["", "..."])
    merging.merge(spare=0)
    assert search("anything") == []
    make_document(collection, ["anything"])
    assert_as_expected(["anything"])


def test_a_word_in_every_chunk_and_many_equal_chunks_are_found_in_their_order(
    collection: Collection,
) -> None:
    sources = [
        make_document(collection, ["the same words again"] * 1000 + ["the same"]) for _ in range(2)
    ]
    for _ in range(2):
        assert_as_expected(["the same words again", "the", "again"], limit=20)
        merging.merge(spare=0)
    hits = [hit.position for hit in search("again", resolved=within(sources[1]), limit=2)]
    assert hits == [sources[1].chunks.earliest("position").position + n for n in (0, 1)]


def test_a_query_may_have_hundreds_of_words(collection: Collection) -> None:
    words = [f"word{n}" for n in range(700)]
    for start in range(0, 700, 100):
        make_document(collection, [" ".join(words[n : n + 30]) for n in range(start, start + 100)])
    merging.merge(spare=2)
    assert_as_expected(
        [" ".join(words), " ".join(reversed(words)), " ".join(words[:20] * 20)], limit=50
    )


def test_a_large_source_is_merged_before_others_join_it(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(merging, "USUAL", 10)
    make_document(collection, numbered(SENTENCES, 21))
    assert merging.merge(spare=3) == 0
    assert merging.merge(spare=2) == 1


def test_only_the_best_chunks_are_looked_at_for_a_phrase(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_document(collection, ["whale blue"] * 20 + ["far too many words about the blue whale"])
    assert texts_found('"blue whale"', limit=1) == ["far too many words about the blue whale"]
    monkeypatch.setattr(lexical_index, "MAX_VERIFIED", 20)
    assert texts_found('"blue whale"', limit=1) == []


# Merging and indexing anew


def test_few_dead_chunks_are_marked_and_many_are_dropped(collection: Collection) -> None:
    sources = [make_document(collection, numbered(SENTENCES[n % 3 :], 10)) for n in range(30)]
    merging.merge(spare=0)
    written = {*LexBlock.objects.values_list("pack", "term", "version")}
    for source in sources[2:9:3]:
        source.delete()
    assert_as_expected(QUERIES, limit=400)
    assert merging.merge(spare=0) == 3
    assert not LexEntry.objects.filter(source=None).exists()
    assert {*LexBlock.objects.values_list("pack", "term", "version")} == written
    assert_as_expected(QUERIES, limit=400)
    sources[11].delete()
    merging.merge(spare=0)
    assert not {*LexBlock.objects.values_list("pack", "term", "version")} & written
    assert not LexPack.objects.exclude(dead=b"").exists()
    assert_as_expected(QUERIES, limit=400)


def test_a_merged_source_keeps_its_words_in_the_packs_alone(collection: Collection) -> None:
    make_document(collection, numbered(SENTENCES, 10))
    merging.merge(spare=0)
    assert [bytes(data) for data in LexEntry.objects.values_list("data", flat=True)] == [b""]
    assert_as_expected(QUERIES)


def test_a_merge_that_ends_early_has_done_nothing(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources = [make_document(collection, numbered(SENTENCES, 10)) for _ in range(3)]
    merging.merge(spare=0)
    replace_chunks(sources[0], numbered(SENTENCES, 12))
    with monkeypatch.context() as patched:
        patched.setattr(merging, "_ROWS", 5)
        written = merging._write_blocks
        left = iter(range(3))
        patched.setattr(
            merging,
            "_write_blocks",
            lambda *args: written(*args) if next(left, None) is not None else pytest.fail("killed"),
        )
        with pytest.raises(pytest.fail.Exception, match="killed"):
            merging.merge(spare=0)
    assert_as_expected(QUERIES)
    assert merging.merge(spare=0) == 2
    assert_as_expected(QUERIES)


def test_sources_of_another_tokenizer_are_indexed_anew_from_their_chunks(
    collection: Collection,
) -> None:
    old, new = (
        make_document(collection, numbered(SENTENCES, 5)),
        make_document(collection, ["a whale"]),
    )
    merging.merge(spare=0)
    LexEntry.objects.filter(source=old).update(tokenizer_version=0)
    Chunk.objects.filter(source=old, ordinal=0).update(context="It is about dolphins.")
    assert lexical_index.renew() == 1
    assert texts_found("dolphins") == [SENTENCES[0] + " Point 0."]
    expected = list(range(min_place(old), min_place(old) + 5))
    assert [chunk.position for chunk in old.chunks.order_by("ordinal")] == expected
    assert texts_found("whale") == ["a whale"]
    assert lexical_index.renew() == 0
    LexEntry.objects.filter(source=new).delete()
    assert lexical_index.renew() == 1


@pytest.fixture
def backwards(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Source]:
    """Index a source as a version before: every word backwards, and no signs of names."""

    def counted_before(text: str, code: str) -> tuple[dict[str, int], int]:
        words = tokenize(text)
        return Counter(term_of(word, code)[::-1] for word in words), len(words)

    def make(*args: Any) -> Source:
        with monkeypatch.context() as before:
            before.setattr(postings, "counted", counted_before)
            before.setattr(lexical_index, "TOKENIZER_VERSION", TOKENIZER_VERSION - 1)
            return make_document(*args)

    monkeypatch.setattr(
        lexical_index,
        "worth_before",
        lambda word, codes: (
            {}
            if word.beyond is not None
            else {term[::-1]: 1.0 for term in terms_of(word.text, codes)}
        ),
    )
    return make


def test_searches_go_on_while_the_words_of_many_sources_are_indexed_again(
    collection: Collection, backwards: Callable[..., Source], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lexical_index, "_UNMERGED", 3)
    texts = [f"{sentence} It was written in C++." for sentence in numbered(SENTENCES, 6)]
    for _ in range(8):
        backwards(collection, texts)
    merging.merge(spare=0)
    for _ in range(3):
        backwards(collection, texts)
    make_document(collection, texts)  # added since
    words = ("network", "the error", "the the the network", "errors of neural networks", "absent")
    seen: list[tuple[int, int]] = []

    def search_meanwhile(done: int, total: int) -> None:
        seen.append((done, total))
        # Who wrote words backwards and who does not find the same, in the same order.
        assert_as_expected(words, limit=100)
        assert len(search('"neural networks"', limit=100)) == 12
        # The sign of a name is found where it is indexed.
        assert len(search("C++", limit=100)) == 6 * (12 - total + done)
        assert len(search('"C++" written', limit=100)) == 72
        assert lexical_index.outdated(Source.objects.all()).count() == total - done
        if done == 5:
            merging.merge(spare=0)
            assert_as_expected(words, limit=100)
        if done == 7 and total == 11:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        lexical_index.renew(search_meanwhile)
    assert lexical_index.renew(search_meanwhile) == 4
    assert seen == [*((n, 11) for n in range(1, 8)), *((n, 4) for n in range(1, 5))]
    assert_as_expected(words, limit=100)


@pytest.mark.django_db(transaction=True)
def test_one_process_at_a_time_indexes_words_again(
    transactional_db: None, backwards: Callable[..., Source]
) -> None:
    collection = Collection.objects.create(name="Old", slug="old")
    backwards(collection, ["a whale"])
    with locks.hold(Lock.LEXICON_RENEWAL):
        done: list[int] = []
        run_together(lambda: done.append(lexical_index.renew()))
        assert done == [0]
    assert lexical_index.renew() == 1


def min_place(source: Source) -> int:
    return source.chunks.earliest("position").position


def test_a_merge_in_the_middle_of_a_search_is_noticed(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshot, "INLINE", 0)
    make_document(collection, numbered(SENTENCES, 10))
    merging.merge(spare=0)
    make_document(collection, numbered(SENTENCES, 7))
    read = snapshot._block_data
    monkeypatch.setattr(
        snapshot, "_block_data", lambda *args: (merging.merge(spare=0), read(*args))[1]
    )
    assert_as_expected(["neural network"], limit=50)
    assert not LexEntry.objects.filter(merged=False).exists()


@given(
    st.lists(st.tuples(st.integers(1, 300), st.integers(1, 400)), min_size=1),
    st.floats(0.5, 500),
    st.builds(Parameters, k1=st.floats(0, 2), b=st.floats(0, 1)),
)
def test_no_posting_scores_more_than_the_best_of_its_blocks_skyline(
    postings: list[tuple[int, int]], average: float, by: Parameters
) -> None:
    frequencies, lengths = np.array(postings).T.astype(np.uint32)
    pairs = np.frombuffer(skyline(frequencies, lengths), "<u4").reshape(-1, 2).tolist()
    assert {(times, length) for times, length in pairs} <= set(postings)
    scores = [
        max(
            score_formula(times, length_norm(length, average, by), 1.0, by)
            for times, length in some
        )
        for some in (pairs, postings)
    ]
    assert scores[0] == pytest.approx(scores[1], rel=1e-12)


def test_a_source_that_is_merged_between_two_statements_is_found_in_the_packs(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_document(collection, ["a passing dolphin"])
    read = snapshot.fetch
    statements: list[str] = []

    def fetch(sql: str, parameters: Any) -> list[tuple[Any, ...]]:
        if len(statements) == 1:
            merging.merge(spare=0)
        statements.append(sql)
        return read(sql, parameters)

    monkeypatch.setattr(snapshot, "fetch", fetch)
    assert texts_found("dolphin") == ["a passing dolphin"]
    assert len(statements) > 2, "the second statement found its source merged"


@pytest.mark.django_db(transaction=True)
def test_nothing_is_lost_or_doubled_while_sources_are_replaced_deleted_and_merged(
    transactional_db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "citations.lexical.snapshot.INLINE", 2
    )  # so that most is read by a second statement
    collection = Collection.objects.create(name="Busy", slug="busy")
    kept = [make_document(collection, whales(n)) for n in range(4)]
    counts: list[int] = []
    run_together(
        *(partial(keep_replacing, source) for source in kept[:3]),
        *(partial(keep_searching, counts) for _ in range(2)),
        *(partial(repeat, 12, partial(merging.merge, spare=0)) for _ in range(2)),
        partial(repeat, 8, lambda: make_document(collection, ["a passing dolphin"] * 3).delete()),
    )
    assert set(counts) == {20}
    for _ in range(2):
        assert_as_expected(["whale", "turn 11", "dolphin"], limit=100)
        merging.merge(spare=0)


def whales(turn: int) -> list[str]:
    return [f"whale {n} turn {turn}" for n in range(5)]


def keep_replacing(source: Source) -> None:
    for turn in range(12):
        replace_chunks(source, whales(turn))


def keep_searching(counts: list[int]) -> None:
    for _ in range(60):
        hits = search("whale", limit=1000)
        counts.append(len({hit.position for hit in hits}))
        assert len(hits) == counts[-1]


def repeat(times: int, call: Callable[[], object]) -> None:
    for _ in range(times):
        call()


@pytest.mark.django_db(transaction=True)
def test_whoever_indexes_waits_for_no_other_transaction_to_end(transactional_db: None) -> None:
    collection = Collection.objects.create(name="Busy", slug="busy")
    whale, other = make_document(collection, ["whale"]), make_document(collection, ["dolphin"])
    with transaction.atomic():
        first = lexical_index.index(whale.pk, ["a", "long", "transaction"])
        places: list[int] = []
        run_together(lambda: places.append(lexical_index.index(other.pk, ["a short one"])))
        assert places[0] >= first + 3
        run_together(lambda: merging.merge(spare=0))
        assert len(search("transaction")) == 1
    assert len(search("transaction")) == 1
    assert len(search("whale dolphin")) == 0


def run_together(*calls: Callable[[], object]) -> None:
    def run(call: Callable[[], object]) -> None:
        try:
            call()
        finally:
            connection.close()

    with ThreadPoolExecutor(len(calls)) as pool:
        for done in [pool.submit(run, call) for call in calls]:
            done.result(timeout=60)


def test_the_share_of_the_chunks_that_have_a_word_is_known_by_collection(
    collection: Collection,
) -> None:
    make_document(collection, ["Networks learn.", "A network forgets.", "Soup boils.", "It cools."])
    other = Collection.objects.create(name="Kitchen", slug="kitchen")
    make_document(other, ["Soup boils.", "A network cools."])
    gone = make_document(other, ["Soup is eaten."])
    words = {collection.pk: ["network", "soup", "toaster"], other.pk: ["soup"]}

    def shares() -> dict[int, dict[str, float]]:
        return lexical_index.shares(words)

    known = {"network": 0.5, "soup": 0.25, "toaster": 0.0}
    assert shares() == {collection.pk: known, other.pk: {"soup": 2 / 3}}
    merging.merge()
    assert shares() == {collection.pk: known, other.pk: {"soup": 2 / 3}}
    gone.delete()
    assert shares() == {collection.pk: known, other.pk: {"soup": 0.5}}
    assert lexical_index.shares(words, least=3) == {collection.pk: known}
    assert lexical_index.shares({}) == {}

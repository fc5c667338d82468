"""A search says by which rule it does not list a hit, and of any passage where it is."""

from collections.abc import Callable
from typing import Any

import pytest

from citations.errors import PassageNotFound, SourceNotFound
from citations.library.filters import Filter
from citations.models import Chunk, Source, State
from citations.passages import DropRule, Results, SearchMode, TracedHit
from citations.search import pipeline as search_pipeline
from citations.search.candidates import CandidateHit
from tests.makers import embed, make_document, make_source, make_video
from transcripts.core.scope import NOTHING, Scope
from transcripts.models import Collection

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("fake_models")]

SAID = (
    "the quick brown fox jumps over one lazy dog while seven other animals watch it closely from"
    " far away"
)


def by_words(scope: Scope, query: str, **options: Any) -> Results:
    return search_pipeline.search(scope, query, mode=SearchMode.WORDS, explain=True, **options)


def rules(results: Results) -> dict[str, DropRule | None]:
    return {hit.text: hit.rule for hit in results.dropped}


@pytest.fixture
def foxes(collection: Collection) -> Source:
    """Three passages with a fox, the shorter the better, none beside another."""
    said = ["A fox.", "Nothing.", "A fox and a hen.", "No.", "A fox, a hen and a very long tail."]
    return make_source(make_video(collection, key="abcdefghijk"), texts=said)


def test_what_is_below_the_last_passage_that_was_asked_for_is_told(
    scope: Scope, foxes: Source
) -> None:
    results = by_words(scope, "fox", limit=2)
    assert [passage.text for passage in results.passages] == ["A fox.", "A fox and a hen."]
    (dropped,) = results.dropped
    assert (dropped.rule, dropped.rank, dropped.lexical_rank) == (DropRule.LIMIT, 3, 3)
    assert (dropped.fused_rank, dropped.vector_rank, dropped.kept) == (3, None, None)


def test_nothing_is_told_unless_it_is_asked_for(scope: Scope, foxes: Source) -> None:
    results = search_pipeline.search(scope, "fox", mode=SearchMode.WORDS, limit=1)
    assert (results.dropped, results.traced) == ((), None)


def test_a_near_duplicate_tells_which_passage_is_listed_in_its_place(
    scope: Scope, collection: Collection
) -> None:
    make_document(collection, [SAID], title="First")
    make_document(collection, [f"{SAID} now"], title="Second")
    results = by_words(scope, "quick fox")
    (passage,), (dropped,) = results.passages, results.dropped
    assert (dropped.rule, dropped.kept) == (DropRule.DUPLICATE, passage.chunk)
    assert dropped.similarity == passage.duplicates[0].similarity


def test_a_neighbour_tells_which_passage_it_is_shown_with(
    scope: Scope, collection: Collection
) -> None:
    make_source(make_video(collection), texts=["Entropy.", "Entropy, entropy and entropy."])
    results = by_words(scope, "entropy", for_readers=True)
    (passage,), (dropped,) = results.passages, results.dropped
    assert (dropped.rule, dropped.kept) == (DropRule.NEIGHBOUR, passage.chunk)
    assert dropped.chunk == passage.parts[0].chunk


def test_a_neighbour_of_a_passage_that_is_not_listed_is_left_out_as_that_is(
    scope: Scope, collection: Collection
) -> None:
    make_source(make_video(collection, key="abcdefghijk"), texts=["Entropy."])
    make_document(collection, ["Of entropy, much is known.", "Entropy is it that is known here."])
    results = by_words(scope, "entropy", for_readers=True, limit=1)
    assert [(hit.rule, hit.kept) for hit in results.dropped] == [(DropRule.LIMIT, None)] * 2


@pytest.fixture
def four_foxes(collection: Collection) -> Source:
    """Four passages with a fox, the shorter the better, none beside another."""
    said = ["A fox.", "A fox, two hens.", "A fox met an old dog.", "A fox ran into the cold barn."]
    texts = [text for fox in said for text in (fox, "Nothing.")]
    return make_source(make_video(collection, key="four"), texts=texts)


def test_what_its_source_has_enough_of_is_told(
    scope: Scope, four_foxes: Source, collection: Collection
) -> None:
    make_document(collection, ["A fox, two hens, three dogs and four cats lived in a house."])
    results = by_words(scope, "fox", limit=4, for_readers=True)
    assert [hit.rule for hit in results.dropped] == [DropRule.SHARE]


@pytest.mark.parametrize(
    ("options", "rule"),
    [({}, DropRule.SHARE), ({"limit": 30}, None), ({"filter": Filter(sources=("four",))}, None)],
    ids=["ten of all sources", "more", "one source"],
)
def test_a_listed_passage_tells_why_it_is_folded_away(
    scope: Scope, four_foxes: Source, options: dict[str, Any], rule: DropRule | None
) -> None:
    results = by_words(scope, "fox", for_readers=True, find="the cold barn", **options)
    assert [passage.folded for passage in results.passages] == [None, None, None, rule]
    assert results.traced is not None
    assert (results.traced.number, results.traced.rule) == (4, rule)


def test_where_nothing_is_likely_what_is_behind_the_nearest_is_told(
    scope: Scope, four_foxes: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(CandidateHit, "is_likely", property(lambda _: False))
    results = by_words(scope, "fox unheard", for_readers=True)
    assert results.nothing_relevant
    assert (len(results.passages), {*rules(results).values()}) == (3, {DropRule.FLOOR})


def test_what_is_probably_not_on_the_subject_is_told(
    scope: Scope, foxes: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    likely = property(lambda hit: "tail" in hit.candidate.text or hit.candidate.text == "A fox.")
    monkeypatch.setattr(CandidateHit, "is_likely", likely)
    foxes.change(state=State.READY)
    results = by_words(scope, "fox unheard", limit=2)
    assert rules(results) == {"A fox and a hen.": DropRule.FLOOR}


def test_what_is_behind_the_candidates_is_told(
    scope: Scope, collection: Collection, settings: Any
) -> None:
    settings.SEARCH_CANDIDATES = 2
    embed(make_document(collection, ["alpha one two", "beta", "alpha", "gamma", "alpha beta"]))
    results = search_pipeline.search(scope, "alpha beta", explain=True)
    behind = [hit for hit in results.dropped if hit.rule == DropRule.CANDIDATES]
    assert behind
    assert all(hit.rank is None and (hit.fused_rank or 0) > 2 for hit in behind)


def test_what_is_near_but_lacks_a_phrase_is_told(scope: Scope, collection: Collection) -> None:
    embed(make_document(collection, ["alpha beta gamma", "beta alpha gamma"]))
    results = search_pipeline.search(scope, '"alpha beta"', explain=True)
    assert rules(results) == {"beta alpha gamma": DropRule.QUERY}


# Where is it?


def find(scope: Scope, named: str, **options: Any) -> TracedHit:
    traced = by_words(scope, "fox", find=named, **options).traced
    assert traced is not None
    return traced


def test_a_passage_that_is_listed_has_its_number(scope: Scope, foxes: Source) -> None:
    traced = find(scope, "“a fox, and a HEN”")
    assert (traced.number, traced.rule, traced.rank, traced.lexical_rank) == (2, None, 2, 2)
    assert traced.bm25
    assert traced.is_found


@pytest.mark.parametrize(
    "name",
    [
        lambda chunk, _: str(chunk.pk),
        lambda chunk, _: chunk.text,
        lambda chunk, source: f"/videos/{source.video_id}/?t=40s&lang=en",
        lambda chunk, source: (
            f"http://localhost/sources/{source.uuid}/hit/?from={chunk.span_start}"
            f"&to={chunk.span_end}&q=fox"
        ),
        lambda *_: "https://www.youtube.com/watch?v=abcdefghijk&t=45s",
    ],
    ids=["id", "words", "page", "hit", "YouTube"],
)
def test_a_passage_is_named_by_its_id_its_words_or_an_address(
    scope: Scope, foxes: Source, name: Callable[[Chunk, Source], str]
) -> None:
    chunk = Chunk.objects.get(source=foxes, ordinal=4)
    assert find(scope, name(chunk, foxes)).chunk == chunk.pk


def test_a_passage_that_is_not_listed_has_its_rule(scope: Scope, foxes: Source) -> None:
    traced = find(scope, "a very long tail", limit=1)
    assert (traced.number, traced.rule, traced.rank) == (None, DropRule.LIMIT, 3)


def test_a_passage_behind_the_candidates_has_the_ranks_that_it_would_have(
    scope: Scope, foxes: Source, settings: Any
) -> None:
    settings.SEARCH_CANDIDATES = 1
    traced = find(scope, "a very long tail")
    assert (traced.rule, traced.lexical_rank, traced.rank) == (DropRule.CANDIDATES, 3, None)
    embed(foxes)
    options = {"find": "a very long tail", "mode": SearchMode.MEANING}
    near = search_pipeline.search(scope, "fox", **options).traced
    assert near is not None
    assert near.vector_rank
    assert near.cosine


def test_a_passage_that_neither_words_nor_meaning_find_is_not_found(
    scope: Scope, foxes: Source
) -> None:
    traced = find(scope, "Nothing")
    assert (traced.rule, traced.is_found) == (DropRule.CANDIDATES, False)


@pytest.mark.parametrize("filter", [Filter(kinds=("pdf",)), Filter(end=5), Filter(start=90)])
def test_a_passage_outside_the_filters_says_so(scope: Scope, foxes: Source, filter: Filter) -> None:
    assert find(scope, "a very long tail", filter=filter).rule == DropRule.FILTER


def test_a_passage_that_the_query_excludes_says_so(scope: Scope, foxes: Source) -> None:
    traced = by_words(scope, "fox -tail", find="a very long tail").traced
    assert traced is not None
    assert traced.rule == DropRule.QUERY


@pytest.mark.parametrize("named", ["0", "9" * 18, "9" * 300, "an unheard hen", "?!", "/videos/0/"])
def test_a_passage_that_is_not_there_is_not_found(scope: Scope, foxes: Source, named: str) -> None:
    with pytest.raises(PassageNotFound):
        find(scope, named)


def test_an_address_of_no_source_is_refused(scope: Scope, foxes: Source) -> None:
    with pytest.raises(SourceNotFound):
        find(scope, "https://www.youtube.com/watch?v=zzzzzzzzzzz")


def test_passages_outside_the_scope_look_as_if_they_did_not_exist(foxes: Source) -> None:
    chunk = Chunk.objects.filter(source=foxes).latest("pk")
    for named in (str(chunk.pk), chunk.text, f"/videos/{foxes.video_id}/?t=1s"):
        with pytest.raises(PassageNotFound):
            find(NOTHING, named)

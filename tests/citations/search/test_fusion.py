"""Neighbouring hits become one."""

from collections.abc import Sequence
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citations.passages import DropRule, Locator
from citations.search.fusion import (
    LAST_WEIGHT,
    FusedHit,
    UniqueText,
    apart,
    deduplicate,
    fold,
    min_max_weighted,
    rrf,
    spread,
)
from citations.search.fusion import join_neighbours as join
from transcripts.text.tokenizer import tokenize

PLACES = st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 12)), unique=True, max_size=26)


def test_scores_are_sums_of_reciprocal_ranks_and_say_their_parts():
    fused = rrf([["a", "b"], ["b", "c"]])

    assert [hit.key for hit in fused] == ["b", "a", "c"]
    assert fused[0].score == pytest.approx(1 / 62 + 1 / 61)
    assert fused[0].ranks == (2, 1)
    assert fused[0].parts == (1 / 62, 1 / 61)
    assert fused[1].ranks == (1, None)
    assert fused[1].parts == (1 / 61, 0.0)


def test_the_constant_can_be_chosen():
    assert rrf([["a"]], k=0)[0].score == 1.0


def test_of_equal_scores_the_earlier_ranking_leads():
    assert [hit.key for hit in rrf([["a", "b"], ["b", "a"]])] == ["a", "b"]
    assert [hit.key for hit in rrf([["x"], ["y"], ["z"]])] == ["x", "y", "z"]


def test_a_key_twice_in_a_ranking_counts_where_it_stands_first():
    assert [(hit.key, hit.ranks) for hit in rrf([["a", "b", "a"]])] == [("a", (1,)), ("b", (2,))]


def test_no_rankings_fuse_to_nothing():
    assert rrf([]) == []
    assert rrf([[], []]) == []


@given(st.lists(st.lists(st.integers(0, 15), unique=True, max_size=12), max_size=4))
def test_every_key_is_fused_once_best_first_and_the_scores_do_not_depend_on_the_order_of_rankings(
    rankings,
):
    fused = rrf(rankings)

    expected = sorted({key for ranking in rankings for key in ranking})
    assert sorted(hit.key for hit in fused) == expected
    assert [hit.score for hit in fused] == sorted((hit.score for hit in fused), reverse=True)
    for other in permutations(rankings):
        assert {hit.key: hit.score for hit in rrf(other)} == {hit.key: hit.score for hit in fused}


def deduplicated(texts: Sequence[str], threshold: float = 0.9) -> list[UniqueText]:
    return deduplicate([frozenset(tokenize(text)) for text in texts], threshold)


def test_a_text_that_says_the_same_is_told_under_the_better_one():
    texts = ["The cat sat on the mat.", "Dogs bark at night.", "the CAT sat, on the mat"]

    assert deduplicated(texts) == [(0, [(2, 1.0)]), (1, [])]


def test_the_threshold_itself_is_a_duplicate():
    nine, ten = "a1 a2 a3 a4 a5 a6 a7 a8 a9", "a1 a2 a3 a4 a5 a6 a7 a8 a9 a0"

    assert deduplicated([ten, nine], 0.9) == [(0, [(1, 0.9)])]
    assert deduplicated([ten, nine], 0.91) == [(0, []), (1, [])]


def test_a_duplicate_goes_to_the_text_it_is_most_like():
    first, second = "a1 a2 a3 a4 b1", "a1 a2 a3 a4 c1 c2"

    assert (
        deduplicated([first, second, second + " c3"], 0.5)[0].duplicates[0][0] == 1
    )  # second is like first, and so all are told there
    assert deduplicated([first, second, second + " c3"], 0.7) == [(0, []), (1, [(2, 6 / 7)])]


@given(
    st.lists(
        st.lists(st.sampled_from(["aa", "bb", "cc", "dd", "ee", "ff"]), min_size=1, max_size=8).map(
            " ".join
        ),
        max_size=15,
    ),
    st.sampled_from([0.3, 0.5, 0.9, 1.0]),
)
def test_deduplicating_agrees_with_its_definition(texts, threshold):
    sets = [set(tokenize(text)) for text in texts]
    kept: dict[int, list[tuple[int, float]]] = {}
    for place, words in enumerate(sets):
        alike = {other: len(words & sets[other]) / len(words | sets[other]) for other in kept}
        best = max(alike, key=lambda other: (alike[other], -other), default=None)
        if best is not None and alike[best] >= threshold:
            kept[best].append((place, alike[best]))
        else:
            kept[place] = []

    assert deduplicated(texts, threshold) == list(kept.items())


WORDS = {"a": 9.0, "b": 8.9, "c": 1.0}
MEANING = {"d": 0.8, "a": 0.6, "c": 0.2}
BRANCHES = [WORDS, MEANING]

rankings = st.dictionaries(st.integers(0, 30), st.floats(0.01, 100), max_size=20).map(
    lambda scores: dict(sorted(scores.items(), key=lambda item: (-item[1], item[0])))
)


def fused() -> list[FusedHit[str]]:
    return rrf([list(branch) for branch in BRANCHES])


def test_the_best_of_a_ranking_counts_fully_and_the_last_least() -> None:
    weighted = min_max_weighted(fused(), BRANCHES)
    assert weighted["d"] == pytest.approx(1 / 61)
    assert weighted["c"] == pytest.approx(2 * LAST_WEIGHT / 63)


def test_what_comes_close_to_the_best_counts_nearly_as_much() -> None:
    weight = LAST_WEIGHT + (1 - LAST_WEIGHT) * 7.9 / 8
    assert min_max_weighted(fused(), BRANCHES)["b"] == pytest.approx(weight / 62)


def test_a_ranking_of_equals_is_left_as_it_is() -> None:
    weighted = min_max_weighted(rrf([["a", "b"]]), [{"a": 1.0, "b": 1.0}])
    assert weighted == {"a": 1 / 61, "b": 1 / 62}


def test_it_does_not_matter_what_kind_of_score_it_is() -> None:
    shifted = [{key: 100 * score - 7 for key, score in branch.items()} for branch in BRANCHES]
    assert min_max_weighted(fused(), shifted) == pytest.approx(min_max_weighted(fused(), BRANCHES))


@given(rankings, rankings)
def test_weighted_sums_are_never_above_the_plain_ones(
    words: dict[int, float], near: dict[int, float]
) -> None:
    plain = rrf([list(words), list(near)])
    weighted = min_max_weighted(plain, [words, near])
    assert all(weighted[hit.key] <= hit.score + 1e-12 for hit in plain)


@pytest.mark.parametrize(
    ("sources", "likely", "chosen"),
    [
        ("aaaabc", "111111", [0, 1, 4, 5]),  # a book does not hide two talks
        ("aaaa", "1111", [0, 1, 2, 3]),
        ("aaaabc", "111101", [0, 1, 2, 5]),  # but what is unlikely comes after the rest of it
        ("abab", "0000", [0, 1, 2, 3]),
        ("", "", []),
    ],
)
def test_a_source_has_many_of_the_first_places_only_where_others_have_nothing_likely(
    sources: str, likely: str, chosen: list[int]
) -> None:
    is_likely = [mark == "1" for mark in likely]
    assert spread(sources, is_likely, limit=4, most=2)[0] == chosen


@pytest.mark.parametrize(
    ("likely", "limit", "left"),
    [("00000", 4, "FLOOR"), ("00000", 3, "LIMIT"), ("00000", 2, "LIMIT"), ("00010", 4, "FLOOR")],
    ids=["more than the nearest", "the nearest", "fewer", "one of them likely"],
)
def test_where_no_hit_is_likely_the_nearest_alone_are_chosen(
    likely: str, limit: int, left: str
) -> None:
    chosen, rules = spread("abcde", [m == "1" for m in likely], limit=limit, most=5, nearest=3)
    assert len(chosen) == (min(limit, 3) if "1" not in likely else limit)
    assert {*rules.values()} == {DropRule[left]}


@pytest.mark.parametrize(
    ("sources", "likely", "folded"),
    [
        ("aaab", "1111", "--s-"),
        ("aabaa", "11000", "--fff"),
        ("aabaaa", "110000", "--fffs"),
        ("aaa", "000", "--s"),
        ("", "", ""),
    ],
)
def test_beyond_its_share_a_source_is_folded_away_and_so_is_what_is_less_likely(
    sources: str, likely: str, folded: str
) -> None:
    rules = {"-": None, "s": DropRule.SHARE, "f": DropRule.FLOOR}
    assert fold(sources, [mark == "1" for mark in likely], most=2) == [rules[f] for f in folded]


def test_hits_side_by_side_become_one_in_the_place_of_the_better() -> None:
    assert join([("a", 3), ("b", 7), ("a", 4), ("a", 2)]) == [(0, 2, 3), (1,)]


def test_a_hit_between_two_links_them() -> None:
    assert join([("a", 1), ("b", 2), ("a", 3), ("a", 2)]) == [(0, 2, 3), (1,)]


def test_hits_of_other_sources_or_farther_away_stay_apart() -> None:
    assert join([("a", 1), ("b", 2), ("a", 3)]) == [(0,), (1,), (2,)]


def test_a_hit_beside_a_full_run_begins_another() -> None:
    assert join([("a", 1), ("a", 2), ("a", 3), ("a", 4)]) == [(0, 1, 2), (3,)]
    assert join([("a", 1), ("a", 2), ("a", 4), ("a", 3)], most=3) == [(0, 1, 3), (2,)]


@given(PLACES, st.integers(1, 4))
def test_every_hit_is_in_one_run_of_neighbours_and_the_best_lead(
    places: list[tuple[str, int]], most: int
) -> None:
    runs = join(places, most=most)
    assert sorted(index for run in runs for index in run) == list(range(len(places)))
    assert [run[0] for run in runs] == sorted(min(run) for run in runs)
    for run in runs:
        ordinals = sorted(places[index][1] for index in run)
        assert len({places[index][0] for index in run}) == 1
        assert ordinals == list(range(ordinals[0], ordinals[0] + len(run)))
        assert len(run) <= most


def at(first: int, last: int) -> Locator:
    """A place whose characters are said one each second."""
    return Locator(span=(first, last), start=1000 * first, end=1000 * last)


def test_what_a_better_hit_has_is_left_out_at_either_end() -> None:
    assert apart(at(10, 20), [at(15, 30)]) == at(10, 15)
    assert apart(at(10, 20), [at(0, 12), at(18, 25)]) == at(12, 18)
    assert apart(at(10, 20), [at(0, 10), at(20, 30)]) == at(10, 20)


def test_a_hit_within_a_better_one_stays_whole() -> None:
    assert apart(at(10, 20), [at(5, 25)]) == at(10, 20)
    assert apart(at(10, 20), [at(10, 20)]) == at(10, 20)


def test_pages_have_no_times() -> None:
    rest = apart(Locator(span=(10, 20), page=2), [Locator(span=(0, 15), page=1)])
    assert rest == Locator(span=(15, 20), page=2)

"""Weighing fused ranks by how close the scores are, and by what stands beside a passage."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citations.fusion import Fused, rrf
from citations.weighing import BESIDE, LEAST, by_closeness, by_neighbours

WORDS = {"a": 9.0, "b": 8.9, "c": 1.0}
MEANING = {"d": 0.8, "a": 0.6, "c": 0.2}
BRANCHES = [WORDS, MEANING]

rankings = st.dictionaries(st.integers(0, 30), st.floats(0.01, 100), max_size=20).map(
    lambda found: dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))
)


def fused() -> list[Fused[str]]:
    return rrf([list(branch) for branch in BRANCHES])


def parts(found: list[Fused[str]]) -> dict[str, tuple[float, ...]]:
    return {one.key: one.parts for one in found}


def test_the_best_of_a_ranking_counts_fully_and_the_last_least() -> None:
    weighed = parts(by_closeness(fused(), BRANCHES))
    assert weighed["a"][0] == pytest.approx(1 / 61)
    assert weighed["c"] == pytest.approx((LEAST / 63, LEAST / 63))
    assert weighed["d"] == pytest.approx((0, 1 / 61))


def test_what_comes_close_to_the_best_counts_nearly_as_much() -> None:
    weighed = parts(by_closeness(fused(), BRANCHES))
    assert weighed["b"][0] == pytest.approx((LEAST + (1 - LEAST) * 7.9 / 8) / 62)


def test_a_ranking_of_equals_is_left_as_it_is() -> None:
    even = [{"a": 1.0, "b": 1.0}]
    assert by_closeness(rrf([["a", "b"]]), even) == rrf([["a", "b"]])


def test_it_does_not_matter_what_kind_of_score_it_is() -> None:
    shifted = [{key: 100 * score - 7 for key, score in branch.items()} for branch in BRANCHES]
    assert [one.key for one in by_closeness(fused(), shifted)] == [one.key for one in by_closeness(fused(), BRANCHES)]


@given(rankings, rankings)
def test_weighed_scores_are_the_sums_of_their_parts_in_order_and_never_above_the_plain_ones(words: dict[int, float], near: dict[int, float]) -> None:
    plain = {one.key: one.score for one in rrf([list(words), list(near)])}
    weighed = by_closeness(rrf([list(words), list(near)]), [words, near])
    assert {one.key for one in weighed} == plain.keys()
    assert all(one.score == pytest.approx(sum(one.parts)) and one.score <= plain[one.key] + 1e-12 for one in weighed)
    assert [one.score for one in weighed] == sorted((one.score for one in weighed), reverse=True)


def test_neighbours_add_a_share_of_their_own() -> None:
    found = rrf([["a", "b", "c"]])
    lifted = parts(by_neighbours(found, {"a": ("b", "gone"), "b": ("a", "c"), "c": ("b", "gone")}))
    assert lifted["b"][0] == pytest.approx((1 / 62 + BESIDE * (1 / 61 + 1 / 63)) / (1 + 2 * BESIDE))
    assert lifted["a"][0] == pytest.approx((1 / 61 + BESIDE / 62) / (1 + 2 * BESIDE))


def test_where_a_source_ends_a_passage_stands_for_its_own_neighbour() -> None:
    (alone,) = by_neighbours(rrf([["a"]]), {"a": (None, None)})
    assert alone.score == pytest.approx(1 / 61)


@given(rankings, rankings)
def test_no_lift_goes_beyond_the_best_there_is(words: dict[int, float], near: dict[int, float]) -> None:
    found = rrf([list(words), list(near)])
    lifted = by_neighbours(found, {key: (key - 1, key + 1) for key in range(31)})
    assert all(one.score <= 2 / 61 + 1e-12 and one.score == pytest.approx(sum(one.parts)) for one in lifted)
    assert by_neighbours(found, {key: (key - 1, key + 1) for key in range(31)}) == lifted

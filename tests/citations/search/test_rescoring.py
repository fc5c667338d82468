"""Weighing fused ranks by how close the scores are, and by what stands beside a passage."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citations.search.fusion import FusedHit, rrf
from citations.search.rescoring import (
    BESIDE,
    LEAST,
    SHARED,
    RescoredHit,
    min_max_weighted,
    neighbour_boosted,
    unweighted,
)

WORDS = {"a": 9.0, "b": 8.9, "c": 1.0}
MEANING = {"d": 0.8, "a": 0.6, "c": 0.2}
BRANCHES = [WORDS, MEANING]

rankings = st.dictionaries(st.integers(0, 30), st.floats(0.01, 100), max_size=20).map(
    lambda found: dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))
)


def fused() -> list[FusedHit[str]]:
    return rrf([list(branch) for branch in BRANCHES])


def weights(found: list[RescoredHit[str]]) -> dict[str, tuple[float, ...]]:
    return {one.key: one.weights for one in found}


def test_the_best_of_a_ranking_counts_fully_and_the_last_least() -> None:
    found = min_max_weighted(fused(), BRANCHES)
    assert weights(found)["a"][0] == pytest.approx(1)
    assert weights(found)["c"] == pytest.approx((LEAST, LEAST))
    assert weights(found)["d"] == pytest.approx((0, 1))
    assert {one.key: one.score for one in found}["c"] == pytest.approx(2 * LEAST / 63)


def test_what_comes_close_to_the_best_counts_nearly_as_much() -> None:
    assert weights(min_max_weighted(fused(), BRANCHES))["b"][0] == pytest.approx(
        LEAST + (1 - LEAST) * 7.9 / 8
    )


def test_a_ranking_of_equals_is_left_as_it_is() -> None:
    even = [{"a": 1.0, "b": 1.0}]
    assert min_max_weighted(rrf([["a", "b"]]), even) == unweighted(rrf([["a", "b"]]))


def test_it_does_not_matter_what_kind_of_score_it_is() -> None:
    shifted = [{key: 100 * score - 7 for key, score in branch.items()} for branch in BRANCHES]
    assert [one.key for one in min_max_weighted(fused(), shifted)] == [
        one.key for one in min_max_weighted(fused(), BRANCHES)
    ]


@given(rankings, rankings)
def test_weighed_scores_are_their_weighed_parts_in_order_and_never_above_the_plain_ones(
    words: dict[int, float], near: dict[int, float]
) -> None:
    plain = {one.key: one for one in rrf([list(words), list(near)])}
    weighed = min_max_weighted(rrf([list(words), list(near)]), [words, near])
    assert {one.key for one in weighed} == plain.keys()
    for one in weighed:
        assert (one.parts, one.ranks) == (plain[one.key].parts, plain[one.key].ranks)
        assert one.score == pytest.approx(
            sum(part * weight for part, weight in zip(one.parts, one.weights, strict=True))
        )
        assert one.score <= plain[one.key].score + 1e-12
    assert [one.score for one in weighed] == sorted((one.score for one in weighed), reverse=True)


def test_neighbours_add_a_share_of_their_own() -> None:
    lifted = neighbour_boosted(
        unweighted(rrf([["a", "b", "c"]])),
        {"a": ("b", "gone"), "b": ("a", "c"), "c": ("b", "gone")},
    )
    found = {one.key: one for one in lifted}
    assert found["b"].neighbours == pytest.approx(BESIDE * (1 / 61 + 1 / 63))
    assert found["b"].score == pytest.approx((1 / 62 + BESIDE * (1 / 61 + 1 / 63)) / SHARED)
    assert found["a"].score == pytest.approx((1 / 61 + BESIDE / 62) / SHARED)


def test_where_a_source_ends_a_passage_stands_for_its_own_neighbour() -> None:
    (alone,) = neighbour_boosted(unweighted(rrf([["a"]])), {"a": (None, None)})
    assert alone.score == pytest.approx(1 / 61)


@given(rankings, rankings)
def test_no_lift_goes_beyond_the_best_there_is(
    words: dict[int, float], near: dict[int, float]
) -> None:
    found = unweighted(rrf([list(words), list(near)]))
    around = {key: (key - 1, key + 1) for key in range(31)}
    assert all(one.score <= 2 / 61 + 1e-12 for one in neighbour_boosted(found, around))
    assert [one.score for one in neighbour_boosted(found, around)] == sorted(
        (one.score for one in neighbour_boosted(found, around)), reverse=True
    )

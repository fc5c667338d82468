"""The signs of relevance, computed from words and cosines."""

from typing import Any

import numpy as np
import pytest

from citations.search import signs
from citations.search.signs import ABSOLUTE, MIN_SPREAD, SIGNS, CandidateTable


def make_table(**values: Any) -> CandidateTable:
    """Make a table of three candidates of two sources and a query of two words."""
    table: dict[str, Any] = {
        "weights": np.array([3.0, 1.0]),
        "has_word": np.array([[True, True], [True, False], [False, False]]),
        "near_word": np.array([[False, False], [False, True], [False, True]]),
        "title_word": np.zeros((3, 2), bool),
        "heading_word": np.array([[False, True]] * 3),
        "bm25": np.array([4.0, 2.0, 0.0]),
        "cosine": np.array([0.5, 0.7, 0.3]),
        "neighbour_bm25": np.array([[np.nan, 2.0], [4.0, 0.0], [np.nan, np.nan]]),
        "neighbour_cosine": np.array([[np.nan, 0.7], [0.5, 0.3], [np.nan, np.nan]]),
        "length": np.ones(3),
        "source": np.array([8, 8, 9]),
    }
    return CandidateTable(**(table | values))


def sign(table: CandidateTable, name: str) -> list[float]:
    column: list[float] = signs.compute(table)[:, SIGNS.index(name)].tolist()
    return column


def test_coverage_weighs_words_by_their_rarity_and_counts_those_of_neighbours() -> None:
    table = make_table()
    assert sign(table, "coverage") == [1.0, 0.75, 0.0]
    assert sign(table, "coverage with neighbours") == [1.0, 1.0, 0.25]
    assert sign(table, "coverage by the heading") == [0.25] * 3
    assert sign(table, "rarest word") == [0.75, 0.75, 0.0]


def test_closeness_is_one_for_the_nearest_and_zero_in_the_middle() -> None:
    assert sign(make_table(), "closeness") == pytest.approx([0.0, 1.0, -1.0])


def test_the_order_s_signs_do_not_depend_on_the_scale_of_cosines() -> None:
    table = make_table(cosine=np.array([0.1, 0.9, 0.2]))
    other = make_table(
        cosine=0.4 + table.cosine * 0.6, neighbour_cosine=0.4 + table.neighbour_cosine * 0.6
    )
    relative = [SIGNS.index(name) for name in SIGNS if name not in ABSOLUTE]
    assert (table.cosine.max() - np.median(table.cosine)) * 0.6 > MIN_SPREAD
    assert signs.compute(table)[:, relative] == pytest.approx(signs.compute(other)[:, relative])


def test_small_differences_of_closeness_stay_small() -> None:
    expected = pytest.approx([0.0, 0.1, -0.1])
    assert sign(make_table(cosine=np.array([0.5, 0.51, 0.49])), "closeness") == expected


def test_a_missing_neighbour_counts_as_the_passage_itself() -> None:
    alone = make_table(neighbour_cosine=np.full((3, 2), np.nan))
    assert sign(alone, "cosine with neighbours") == pytest.approx([0.5, 0.7, 0.3])


def test_a_passage_without_the_words_has_no_rank_by_words() -> None:
    assert sign(make_table(), "rank by words") == [1.0, 0.5, 0.0]


def test_a_source_is_described_by_its_best_passages() -> None:
    assert sign(make_table(), "share of the source") == pytest.approx([2 / 3, 2 / 3, 1 / 3])


@pytest.mark.parametrize("count", [0, 1])
def test_few_candidates_have_signs_too(count: int) -> None:
    table = make_table()
    few = {
        name: getattr(table, name)[:count]
        for name in table.__dataclass_fields__
        if name not in ("weights", "k1", "chunks")
    }
    matrix = signs.compute(CandidateTable(weights=table.weights, **few))
    assert matrix.shape == (count, len(SIGNS))
    assert np.isfinite(matrix).all()


def test_a_query_without_known_words_has_signs_too() -> None:
    nothing = np.zeros((3, 0), bool)
    table = make_table(
        weights=np.zeros(0),
        has_word=nothing,
        near_word=nothing,
        title_word=nothing,
        heading_word=nothing,
        bm25=np.zeros(3),
        neighbour_bm25=np.zeros((3, 2)),
    )
    assert np.isfinite(signs.compute(table)).all()

"""Trees add up, whichever way they are read."""

import numpy as np
import pytest

from citations.search.trees import TreeEnsemble

# One split on sign 1 at 0.5; below it another one on sign 0 at 2. The second tree is a leaf.
STORED = {
    "roots": [0, 5],
    "sign": [1, 0, 0, 0, 0, 0],
    "threshold": [0.5, 2.0, 0, 0, 0, 0],
    "left": [1, 2, 2, 3, 4, 5],
    "right": [4, 3, 2, 3, 4, 5],
    "value": [0.1, 0.2, -1.0, 1.0, 3.0, 0.25],
    "depth": 2,
}
ROWS = np.array([[1.0, 0.5], [2.5, 0.0], [9.0, 0.6]])


def test_a_row_gets_the_sum_of_one_leaf_of_each_tree() -> None:
    trees = TreeEnsemble.from_json(STORED)
    assert trees.predict(ROWS).tolist() == pytest.approx([-0.75, 1.25, 3.25])


def test_what_the_signs_add_makes_up_the_prediction() -> None:
    trees = TreeEnsemble.from_json(STORED)
    shares = trees.shares(ROWS)
    assert (trees.base + shares.sum(axis=1)).tolist() == pytest.approx(trees.predict(ROWS).tolist())
    assert shares[2].tolist() == pytest.approx([0.0, 2.9]), "only sign 1 was looked at"


def test_no_rows_have_no_predictions() -> None:
    assert TreeEnsemble.from_json(STORED).predict(np.zeros((0, 2))).shape == (0,)

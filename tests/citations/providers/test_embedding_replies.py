"""What servers reply is understood in all forms that it has, and nothing else is."""

import base64
import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from citations.providers.embedding_replies import EmbeddingReply, vector_of

ROWS = [[3.0, 4.0], [0.0, 2.0]]
FORMS: list[Any] = [
    {"data": [{"embedding": ROWS[1], "index": 1}, {"embedding": ROWS[0], "index": 0}]},
    {"data": [{"embedding": row} for row in ROWS], "usage": None},
    {"data": ROWS},
    {"data": [{"embedding": ROWS[0], "index": "0"}, {"embedding": ROWS[1], "index": "1"}]},
    {"embeddings": ROWS},
    {"embeddings": {"float": ROWS}, "id": "x"},
    {"embeddings": {"base64": ROWS}},
    {"embeddings": [{"embedding": row, "index": n} for n, row in enumerate(ROWS)]},
    [{"index": 0, "embedding": [ROWS[0]]}, {"index": 1, "embedding": [ROWS[1]]}],
    ROWS,
]


@pytest.mark.parametrize("form", FORMS)
def test_vectors_are_found_in_every_form(form: Any) -> None:
    rows = EmbeddingReply.model_validate_json(json.dumps(form)).rows or []
    vectors = [vector_of(row, 2) for row in rows]
    assert np.allclose(vectors, [[0.6, 0.8], [0, 1]])


def test_a_single_vector_may_stand_alone() -> None:
    assert EmbeddingReply.model_validate({"embedding": [1.0, 2.0]}).rows == [[1.0, 2.0]]


@pytest.mark.parametrize("numbers", [[0, 0], [1, 2], [0, None], ["a", "b"], [0, [1]]])
def test_wrong_numbers_are_not_guessed_at(numbers: list[Any]) -> None:
    data = [{"embedding": row, "index": n} for row, n in zip(ROWS, numbers, strict=True)]
    assert EmbeddingReply.model_validate({"data": data}).rows is None


@pytest.mark.parametrize("form", [{}, {"data": "none"}, {"data": {}}, "text", None, 5])
def test_what_has_no_vectors_is_no_reply(form: Any) -> None:
    with pytest.raises(ValidationError):
        EmbeddingReply.model_validate_json(json.dumps(form))


@pytest.mark.parametrize("kind", ["<f4", "<f8"])
def test_base64_is_read_in_both_precisions(kind: str) -> None:
    text = base64.b64encode(np.array(ROWS[0], kind).tobytes()).decode()
    assert np.allclose(vector_of(text, 2), [0.6, 0.8])


@pytest.mark.parametrize("row", [None, [None, 1.0], [float("nan"), 1], [1e308, 1e308], [0, 0]])
def test_a_vector_without_direction_is_none(row: Any) -> None:
    assert vector_of(row, 2) is None


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        ([1.0], "gives vectors of 1 numbers, not 2"),
        ([[1.0, 2.0], [3.0, 4.0]], "gives 2 vectors for a text, not one"),
        (["a", "b"], "not numbers"),
        ("no base64!", "not numbers"),
        ("AAA=", "not numbers"),
        ({"a": 1}, "not numbers"),
        ([[[1.0], [2.0]]], "numbers"),
        ([10**400, 1], "not numbers"),
    ],
)
def test_what_is_no_vector_is_told(row: Any, fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        vector_of(row, 2)


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["data", "embeddings", "embedding", "index", "float"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=12,
)


@given(JSON)
def test_whatever_comes_is_a_vector_none_or_refused(value: Any) -> None:
    try:
        rows = EmbeddingReply.model_validate(value).rows or []
        for row in rows:
            vector = vector_of(row, 2)
            assert vector is None or abs(np.linalg.norm(vector) - 1) < 1e-6
    except ValueError:
        pass

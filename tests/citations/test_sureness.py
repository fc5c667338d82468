"""How sure answers and hits are, in words."""

import pytest

from citations.schemas.answers import AnswerPartOut
from citations.sureness import HITS, level_of


@pytest.mark.parametrize(
    ("confidence", "sureness"),
    [(0.8, "sure"), (0.79, "likely"), (0.6, "likely"), (0.59, "unsure"), (None, None)],
)
def test_an_answer_has_a_word_beside_its_number(
    confidence: float | None, sureness: str | None
) -> None:
    part = AnswerPartOut(heading="Why?", is_answered=True, confidence=confidence)
    shown = part.model_dump(mode="json")
    assert (shown["confidence"], shown["sureness"]) == (confidence, sureness)
    assert AnswerPartOut.parse(shown) == part


@pytest.mark.parametrize(("score", "sureness"), [(0.85, "likely"), (0.84, "unsure")])
def test_no_hit_is_called_sure(score: float, sureness: str) -> None:
    assert level_of(score, HITS).sureness == sureness

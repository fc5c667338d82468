"""How likely an answer is right."""

import pytest

from citations.answers.writing.sentence_ranking import (
    ALWAYS,
    FUSED,
    MODEL_SIGNS,
    confidence,
    is_answered,
    trained_model,
)
from citations.providers import weights

GOOD = {
    "score": 0.9,
    "margin": 0.2,
    "heard": 1.0,
    "names": 1.0,
    "meaning": 0.7,
    "lead": 0.3,
    "share": 0.9,
    "subject": 0.95,
}
BAD = {
    "score": 0.5,
    "margin": 0.0,
    "heard": 0.0,
    "names": 0.0,
    "meaning": 0.05,
    "lead": 0.0,
    "share": 0.2,
    "subject": 0.05,
}
KNOWN = [ALWAYS, ALWAYS + FUSED, ALWAYS + MODEL_SIGNS, ALWAYS + FUSED + MODEL_SIGNS]


@pytest.mark.parametrize("names", KNOWN)
def test_whatever_is_known_what_speaks_for_an_answer_makes_it_likelier(
    names: tuple[str, ...],
) -> None:
    good, bad = ({name: signs[name] for name in names} for signs in (GOOD, BAD))
    assert 0 < confidence(bad) < confidence(good) < 1
    assert is_answered(good)


@pytest.mark.parametrize("names", KNOWN)
def test_where_nothing_speaks_for_an_answer_there_is_none(names: tuple[str, ...]) -> None:
    assert not is_answered({name: BAD[name] for name in names})


def test_lies_in_a_models_quotes_make_it_less_likely() -> None:
    assert confidence(GOOD, proven=0.5) == pytest.approx(confidence(GOOD) / 2)


def test_meaning_is_measured_by_the_model_that_it_was_trained_with() -> None:
    assert trained_model() == weights.MINILM

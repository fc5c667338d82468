"""How likely an answer is right."""

import pytest

from citations.answers import confidence
from citations.answers.confidence import ALWAYS, FUSED, MODEL_SIGNS
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
    assert 0 < confidence.estimate(bad) < confidence.estimate(good) < 1
    assert confidence.is_answered(good)


@pytest.mark.parametrize("names", KNOWN)
def test_where_nothing_speaks_for_an_answer_there_is_none(names: tuple[str, ...]) -> None:
    assert not confidence.is_answered({name: BAD[name] for name in names})


def test_lies_in_a_models_quotes_make_it_less_likely() -> None:
    assert confidence.estimate(GOOD, proven=0.5) == pytest.approx(confidence.estimate(GOOD) / 2)


def test_meaning_is_measured_by_the_model_that_it_was_trained_with() -> None:
    assert confidence.model() == weights.MINILM


def test_a_table_tells_what_was_estimated_and_what_was_right() -> None:
    table = confidence.reliability([(0.9, True), (0.9, False), (0.1, False), (1.0, True)])
    assert [(part.low, part.answers, round(part.right, 2)) for part in table] == [
        (0.0, 1, 0.0),
        (0.8, 3, 0.67),
    ]
    assert confidence.error(table) == pytest.approx((0.1 + 3 * (2.8 / 3 - 2 / 3)) / 4)
    assert confidence.error([]) == 0

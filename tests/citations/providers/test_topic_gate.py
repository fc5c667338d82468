from pathlib import Path

import numpy as np
import pytest

from citations.errors import ModelError
from citations.providers import registry
from citations.providers.topic_gate import SURE, Head

ASIDES = (
    "The homework is due on Friday at noon, and please staple it this time. My office hours are"
    " on Tuesday. The midterm is next week in the big hall.",
    "I had such a bad night, the dog next door would not stop barking. And then there was no"
    " milk for my coffee this morning. Anyway, good morning.",
)
SUBJECT = (
    "The derivative of the sine is the cosine, and you see that on the unit circle. So at zero"
    " the slope is one, and the tangent there is a diagonal.",
    "Mitochondria have their own ring of DNA, and they are passed on by the mother alone. That"
    " is why they tell us about descent over many generations.",
)


def test_asides_are_told_from_the_subject():
    gate, model = Head.read(), registry.embedder("local")
    assert gate.model == model.model

    asides, subject = (
        [gate.off_topic(vector) for vector in model.embed_documents(texts)]
        for texts in (ASIDES, SUBJECT)
    )

    assert min(asides) > SURE
    assert max(subject) < 0.5


@pytest.mark.usefixtures("fake_models")
def test_a_model_that_it_was_not_trained_on_has_no_gate():
    assert registry.gate() is None


def test_confidence_stays_between_0_and_1_however_far_a_vector_is():
    head = Head("words", np.array([1.0, -1.0], dtype=np.float32), 0.0)

    assert head.off_topic(np.array([0, 0], dtype=np.float32)) == 0.5
    assert 0 <= head.off_topic(np.array([-1e6, 1e6], dtype=np.float32)) < 1e-9
    assert 1 - 1e-9 < head.off_topic(np.array([1e6, -1e6], dtype=np.float32)) <= 1
    with pytest.raises(ValueError, match="shape|size|mismatch"):
        head.off_topic(np.zeros(3, dtype=np.float32))


@pytest.mark.parametrize("written", ["", "[]", "{}", '{"model": "x", "weights": ["a"], "bias": 0}'])
def test_a_broken_head_says_what_to_do(tmp_path: Path, written: str):
    (tmp_path / "gate.json").write_text(written)

    with pytest.raises(ModelError):
        Head.read(tmp_path / "gate.json")

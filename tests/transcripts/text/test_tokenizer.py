"""Words that are indexed, searched and highlighted."""

import pytest

from transcripts.text.tokenizer import tokenize, word_places


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("boats left¹, as known⁴,⁵ since", ["boats", "left", "as", "known", "since"]),
        ("10³ kg of H₂O on 5 km²: x²", ["103", "kg", "of", "h2o", "on", "km2", "x2"]),
    ],
)
def test_the_mark_of_a_note_is_no_part_of_the_word_before_it(text: str, words: list[str]) -> None:
    assert tokenize(text) == words
    assert [word for word, _ in word_places(text)] == words
    assert ("left", (6, 10)) in word_places("boats left¹")

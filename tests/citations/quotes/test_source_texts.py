"""Sources' texts in memory."""

from hypothesis import given
from hypothesis import strategies as st

from citations.quotes import source_texts


@given(st.text(alphabet="ab .\n", max_size=60), st.integers(-5, 70))
def test_a_text_is_cut_where_no_word_is_cut_in_two(text: str, place: int) -> None:
    cut = source_texts.border(text, place)
    assert 0 <= cut <= len(text)
    assert (
        cut in (0, len(text))
        or text[cut - 1].isspace()
        or not any(mark.isspace() for mark in text[max(0, place - 1) :])
    )

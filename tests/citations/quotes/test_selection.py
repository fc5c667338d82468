"""Words that were selected are located again, or not at all."""

import time

from citations.quotes.matching import prepare
from citations.quotes.selection import SelectedText, find

TEXT = "The error runs back. It grows.\nThe error runs back. It shrinks."


def located(exact: str, *, near: int | None = None, text: str = TEXT, **around: str) -> str | None:
    span = find(
        SelectedText(exact=exact, **around), text, near=near, prepared=lambda: prepare(text)
    )
    return f"{span[0]}: {text[slice(*span)]}" if span else None


def test_words_that_occur_once_are_found() -> None:
    assert located("It grows.") == "21: It grows."


def test_equal_words_are_told_apart_by_what_stands_around_them() -> None:
    assert located("The error runs back.", suffix=" It shrinks.") == "31: The error runs back."
    assert located("runs back.", prefix="grows. The error ") == "41: runs back."


def test_equal_words_are_told_apart_by_their_position() -> None:
    assert located("The error runs back.", near=33) == "31: The error runs back."
    assert located("The error runs back.", near=2) == "0: The error runs back."


def test_what_stands_around_tells_more_than_the_position() -> None:
    assert located("The error runs back.", near=2, suffix=" It shrinks") == (
        "31: The error runs back."
    )


def test_nothing_is_found_where_nothing_tells_equal_words_apart() -> None:
    assert located("The error") is None


def test_blanks_and_signs_may_differ() -> None:
    assert located("it grows the  error runs back it shrinks") == (
        "21: It grows.\nThe error runs back. It shrinks"
    )


def test_words_may_begin_and_end_within_words_on_several_lines() -> None:
    text = "Differentiating the series\nterm by term: f^′(x) =∑_{n=1}^{∞}nc_n"
    assert located("iating the series term by term: f^′(x) =∑_{n", text=text) == (
        "9: iating the series\nterm by term: f^′(x) =∑_{n"
    )


def test_a_place_to_the_letter_comes_before_one_with_other_blanks() -> None:
    text = "He said yes we can. And then:\nyes we\ncan"
    assert located("yes we can", text=text) == "8: yes we can"


def test_hostile_repetitions_take_linear_time() -> None:
    text, quote = "a a a\n" * 300_000, "a " * 2_499 + "b"
    began = time.process_time()
    assert find(SelectedText(exact=quote), text, near=None, prepared=lambda: prepare("")) is None
    assert time.process_time() - began < 10  # a regular expression takes minutes


def test_other_words_are_not_found() -> None:
    assert located("It stays the same.") is None
    assert located("  ") is None


def test_a_position_leads_to_words_behind_thousands_of_equal_ones() -> None:
    text = "so it is. " * 5_000
    assert located("so it is", near=40_001, text=text) == "40000: so it is"

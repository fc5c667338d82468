"""Scripts that run from right to left are read in their order."""

import pytest

from citations.readers.pdf.scripts import in_order, is_backwards, is_east_asian


def order(letters: str, lefts: list[float]) -> str:
    geometry = [number for left in lefts for number in (left, 0, 0, 0, 0, 0, 0)]
    indexes = in_order([*map(ord, letters)], geometry, range(len(letters)))
    return "".join(letters[index] for index in indexes)


SHALOM = "שלום"


def test_letters_as_they_stand_are_turned() -> None:
    assert order(SHALOM[::-1], [10, 20, 30, 40]) == SHALOM


def test_letters_in_order_stay() -> None:
    assert order(SHALOM, [40, 30, 20, 10]) == SHALOM


def test_numbers_and_latin_words_among_them_keep_their_own_order() -> None:
    assert order("ab12" + SHALOM[::-1], [*range(10, 90, 10)]) == SHALOM + "ab12"


def test_a_mark_follows_its_letter() -> None:
    assert order("ם\u05b8ש", [10, 10, 20]) == "שם\u05b8"


@pytest.mark.parametrize("letter", "กसক")
def test_marks_and_letters_of_other_scripts_run_from_left_to_right(letter: str) -> None:
    assert not is_backwards(ord(letter))
    assert not is_backwards(0x0E35)  # a vowel above a letter in Thai


def test_korean_has_spaces() -> None:
    assert is_east_asian(ord("漢"))
    assert is_east_asian(ord("か"))
    assert not is_east_asian(ord("한"))

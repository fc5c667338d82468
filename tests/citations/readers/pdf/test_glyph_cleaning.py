"""What programs do to the places, sizes and codes of letters is undone."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from reportlab.pdfgen.canvas import Canvas

from citations.readers.pdf import reader
from citations.readers.pdf.glyph_cleaning import clean
from citations.readers.pdf.glyph_repair import find_shift
from citations.readers.pdf.layout import lay_out
from citations.readers.pdf.paragraphs import compose
from citations.readers.pdf.runs import UNMAPPED, Glyphs
from tests.citations.readers.pdf.papers import LOSS, Draw, paper

UMBRELLAS = "Most people who carry an umbrella are surprised by the rain in the end"


def text_of(path: Path, draw: Draw) -> str:
    [page] = reader.read(paper(path, [draw]), most_pages=1)
    return page.text


def page_of(
    letters: str, places: Sequence[tuple[float, float]], *, size: float = 10, style: int = 0
) -> Glyphs:
    """A page with letters at these left ends of their baselines."""
    geometry = [
        number for x, y in places for number in (x, y - 0.7 * 10, x + 5, y, x, y, size)
    ]  # of letters that are 10 points large
    codes, styles = [*map(ord, letters)], [style] * len(letters)
    return Glyphs(width=600, height=800, codes=codes, styles=styles, geometry=geometry)


def read(glyphs: Glyphs) -> str:
    cleaned = clean(glyphs)
    return compose(cleaned, lay_out(cleaned)).text


def in_line(
    count: int, *, step: float = 5, x: float = 50, y: float = 100
) -> list[tuple[float, float]]:
    return [(x + step * place, y) for place in range(count)]


def test_letters_that_are_drawn_again_for_a_shadow_are_read_once(tmp_path: Path) -> None:
    def shadowed(canvas: Canvas) -> None:
        canvas.setFont("Helvetica", 24)
        for shift in (0, 0.6, 1.2, 1.8):
            canvas.drawString(72 + shift, 700 - shift, "All is well at the mill")

    assert text_of(tmp_path / "a.pdf", shadowed) == "All is well at the mill"


def test_two_of_the_same_letter_side_by_side_are_both_read() -> None:
    assert read(page_of("hilly", in_line(5, step=2.4))) == "hilly"


@pytest.mark.parametrize("size", [0.1, 1.0, 120.0])
def test_a_size_that_has_nothing_to_do_with_the_letters_parts_no_words(size: float) -> None:
    assert read(page_of("umbrella", in_line(8), size=size)) == "umbrella"


def test_columns_of_japanese_are_read_downwards_from_right_to_left() -> None:
    words = "雨の朝", "庭の木"
    places = [(300 - 20 * column, 100 + 10 * row) for column in (0, 1) for row in range(3)]
    assert read(page_of("".join(words), places)) == "雨の朝庭の木"


def test_the_letters_of_a_ligature_from_right_to_left_are_in_order() -> None:
    one_place = [(50.0, 100.0)] * 2
    lam_alef = "\u0644\u0627"
    assert read(page_of(lam_alef[::-1], one_place)) == lam_alef
    assert read(page_of(lam_alef, one_place)) == lam_alef


@pytest.mark.parametrize("shift", [28, 29])
def test_letters_stored_by_their_places_in_a_font_are_words_again(shift: int) -> None:
    stored = "".join(chr(ord(letter) - shift) for letter in UMBRELLAS)
    assert find_shift(stored) == shift
    glyphs = page_of(stored, in_line(len(stored)), style=UNMAPPED)
    assert read(glyphs) == UMBRELLAS


def test_accents_of_such_fonts_follow_apples_order() -> None:
    words = UMBRELLAS + " dé"
    stored = [ord(letter) - 29 for letter in words[:-1]] + [112]
    glyphs = page_of("".join(map(chr, stored)), in_line(len(stored)), style=UNMAPPED)
    assert read(glyphs) == words


def test_numbers_of_glyphs_that_make_no_words_are_told_as_unknown() -> None:
    numbers = "".join(chr(4 + place % 20) for place in range(30))
    text = read(page_of(numbers, in_line(30), style=UNMAPPED))
    assert set(text) == {"\ufffd"}


def test_words_of_a_language_are_not_shifted() -> None:
    assert find_shift(LOSS) == 0


@pytest.mark.parametrize("turn", [0, 1 << 2])
def test_a_space_of_a_font_without_a_table_is_none_of_its_unknown_letters(turn: int) -> None:
    glyphs = page_of("a\x03b\x02", in_line(4), style=UNMAPPED | turn)
    start = 7  # of the geometry of the space, which has a width and no height
    box = (55.0, 99.0, 58.0, 99.0) if turn == 0 else (55.0, 99.0, 55.0, 102.0)
    geometry = [*glyphs.geometry[:start], *box, *glyphs.geometry[start + 4 :]]
    cleaned = clean(replace(glyphs, geometry=geometry))
    assert [chr(code) for code in cleaned.codes] == ["a", " ", "b", "\ufffd"]

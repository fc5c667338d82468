"""What OCR has read of a page, as characters on it, and whether these can be its words."""

from typing import Any

import pytest

from citations.readers.pdf.layout import lay_out
from citations.readers.pdf.ocr_page import OcrPage
from citations.readers.pdf.paragraphs import compose

WORDS = "The learning rate sets how far a single step goes downhill"


def line(text: str, *, y: float = 100.0, pitch: float = 10.0, score: float = 0.99) -> Any:
    places = [
        (round(100 + pitch * place), round(100 + pitch * place + 8))
        for place, letter in enumerate(text)
        if not letter.isspace()
    ]
    return text, score, y, pitch * len(text), 22.0, places


def page(*lines: Any, turn: int = 0, blank: int = 0) -> OcrPage:
    return OcrPage(width=1000, height=1400, turn=turn, blank=blank, lines=lines)


def text_of(read: OcrPage) -> str:
    glyphs = read.glyphs(500, 700)
    return compose(glyphs, lay_out(glyphs)).text


def test_lines_become_paragraphs_as_those_of_a_text_layer() -> None:
    read = page(line(WORDS), line(f"{WORDS}.", y=130), line("Next.", y=220))
    assert text_of(read) == f"{WORDS} {WORDS}.\n\nNext."


def test_what_is_stored_is_the_same_page_again() -> None:
    read = page(line(WORDS))
    assert OcrPage.of(read.stored()) == read


@pytest.mark.parametrize(
    ("turn", "left", "top"), [(0, 50, 44.5), (1, 444.5, 50), (2, 446, 644.6), (3, 44.5, 646)]
)
def test_characters_stand_where_the_unturned_page_has_them(
    turn: int, left: float, top: float
) -> None:
    size = (1000, 1400) if turn % 2 == 0 else (1400, 1000)
    read = OcrPage(width=size[0], height=size[1], turn=turn, lines=[line(WORDS)])
    glyphs = read.glyphs(500, 700)
    x, y, *_ = glyphs.box(0)
    assert (x, y) == (pytest.approx(left, abs=2), pytest.approx(top, abs=3))
    assert text_of(read) == WORDS


def test_a_line_in_larger_letters_is_a_heading_though_none_of_them_descends() -> None:
    title = line("Momentum and rest", y=40, pitch=16)
    low = (*title[:4], 1.6 * 0.79 * 22.0, title[5])
    glyphs = page(low, line(WORDS), line(WORDS, y=130)).glyphs(500, 700)
    assert [piece.is_heading for piece in compose(glyphs, lay_out(glyphs)).pieces] == [True, False]


def test_lines_with_boxes_of_somewhat_other_heights_are_of_one_size() -> None:
    low = line(WORDS, y=130)
    read = page(line(WORDS), (*low[:4], 18.5, low[5]))
    assert len(set(read.glyphs(500, 700).geometry[6::7])) == 1


@pytest.mark.parametrize(
    ("read", "is_readable"),
    [
        (page(), True),
        (page(line(WORDS)), True),
        (page(line(WORDS, score=0.5)), False),
        (page(blank=2), False),
        (page(line(WORDS), blank=1), True),
        (page(line("0SVIQ MTWYQ HSPSV WMX EQIX GSRWIGXIXYV ZXQWJ")), False),
    ],
)
def test_words_that_cannot_be_those_of_the_page_are_told(read: OcrPage, is_readable: bool) -> None:
    assert read.is_readable == is_readable


def test_words_with_gaps_as_of_letters_are_not_those_of_the_page() -> None:
    said, *about, places = line(WORDS)
    kept = [place for place, letter in enumerate(said) if letter.isspace() or place % 5]
    letters = [place for place in kept if not said[place].isspace()]
    shown = [(100 + 10 * place, 108 + 10 * place) for place in letters]
    assert len(shown) < len(places)
    assert not page(("".join(said[place] for place in kept), *about, shown)).is_readable


def test_an_unreadable_page_has_no_characters() -> None:
    assert not page(line(WORDS, score=0.4)).glyphs(500, 700).codes

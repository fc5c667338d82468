"""Characters are joined to runs: at any angle, and not across gutters."""

import textwrap
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path

import pytest
from reportlab.pdfgen.canvas import Canvas

from citations.readers.pdf import reader
from citations.readers.pdf.layout import lay_out
from citations.readers.pdf.paragraphs import line_text
from citations.readers.pdf.runs import GENERATED, Glyphs
from tests.citations.readers.pdf.papers import Draw, paper

TEXT = (
    "The water for green tea should be warm and never boil, as the leaves turn bitter in it. "
    "Whoever has no thermometer lets the kettle stand open for as long as a short song takes. "
)


def text_of(path: Path, *, write: Draw) -> str:
    [page] = reader.read(paper(path, [write]), most_pages=1)
    return page.text


@pytest.mark.parametrize("degrees", [-60, -45, 20, 45, 120])
def test_words_on_a_slope_are_read_whole(tmp_path: Path, degrees: int) -> None:
    def draw(canvas: Canvas) -> None:
        canvas.drawString(72, 760, "A level line.")
        for place, label in enumerate(("January 2021", "February 2021", "March 2021")):
            canvas.saveState()
            canvas.translate(200 + 40 * place, 400)
            canvas.rotate(degrees)
            canvas.drawString(0, 0, label)
            canvas.restoreState()

    text = text_of(tmp_path / "a.pdf", write=draw)
    assert text.startswith("A level line.")
    assert all(label in text for label in ("January 2021", "February 2021", "March 2021"))


def test_a_quote_on_a_slope_is_marked_letter_by_letter(tmp_path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        canvas.translate(200, 400)
        canvas.rotate(45)
        canvas.drawString(0, 0, "February")

    path = paper(tmp_path / "a.pdf", [draw])
    [box] = reader.boxes(path, 1, 0, 2)
    assert 0 < box.width < 0.05
    assert 0 < box.height < 0.05


@pytest.mark.parametrize("gutter", [8, 12, 20])
@pytest.mark.parametrize("columns", [2, 3])
@pytest.mark.parametrize("by_row", [True, False])
def test_columns_are_read_one_after_the_other_however_narrow_the_gutter(
    tmp_path: Path, gutter: int, columns: int, by_row: bool
) -> None:
    width = (480 - gutter * (columns - 1)) / columns
    parts = [
        textwrap.wrap(f"Part{number}start {TEXT * 4} Part{number}end", int(width / 4.6))
        for number in range(columns)
    ]

    def draw(canvas: Canvas) -> None:
        canvas.setFont("Helvetica", 18)
        canvas.drawString(60, 760, "On tea, across all of the columns of the page")
        canvas.setFont("Courier", 7.6)  # letters of 4.56 points
        rows = [*zip_longest(*parts, fillvalue="")]
        places = [(column, row) for column in range(columns) for row in range(len(rows))]
        for column, row in sorted(places, key=lambda at: at[::-1]) if by_row else places:
            canvas.drawString(60 + column * (width + gutter), 730 - 10 * row, rows[row][column])

    text = text_of(tmp_path / "a.pdf", write=draw)
    ends = [f"Part{number}{end}" for number in range(columns) for end in ("start", "end")]
    places = sorted((text.find(end), end) for end in ends)
    assert [end for _, end in places] == ends


def test_a_table_is_read_row_by_row(tmp_path: Path) -> None:
    rows = [(f"Tea number {row}", f"{70 + row} degrees") for row in range(8)]

    def draw(canvas: Canvas) -> None:
        for place, cells in enumerate(rows):
            for column, cell in enumerate(cells):
                canvas.drawString(72 + 90 * column, 700 - 14 * place, cell)

    text = text_of(tmp_path / "a.pdf", write=draw)
    assert all(" ".join(row) in " ".join(text.split()) for row in rows)


def test_words_whose_letters_are_set_apart_are_read_whole(tmp_path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        x = 72.0
        for word in ("The ", "North ", "Buona ", "Vista ", "Drive ", "16220"):
            last = len(word.strip()) - 1
            for part in (word[:last], word[last:]):
                text = canvas.beginText(x, 700)
                text.setFont("Helvetica", 12)
                text.setCharSpace(3)
                text.textOut(part)
                canvas.drawText(text)
                x += canvas.stringWidth(part, "Helvetica", 12) + 3 * len(part)

    assert text_of(tmp_path / "a.pdf", write=draw) == "The North Buona Vista Drive 16220"


@pytest.mark.parametrize("words", ["15 AND", "2:13 PM", "1.1. TOPOLOGY", "Bank AG", "of it"])
def test_few_letters_with_room_around_them_join_no_words(tmp_path: Path, words: str) -> None:
    def draw(canvas: Canvas) -> None:
        first, last = words.split()
        canvas.setFont("Courier", 12)
        canvas.drawString(72, 700, first)
        canvas.drawString(72 + canvas.stringWidth(first, "Courier", 12) + 3, 700, last)

    assert text_of(tmp_path / "a.pdf", write=draw) == words


def test_a_narrow_space_after_two_letters_is_one() -> None:
    narrow = letters_at("ln x", 50, 56.5, 61.5, 63.5)  # gaps of 1.5 and of 2 points
    narrow = replace(narrow, styles=[0, 0, GENERATED, 0])
    [line] = lay_out(narrow)
    assert line_text(narrow, line) == "ln x"


def test_text_that_a_negative_size_turns_upside_down_is_read_in_order(tmp_path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        name = canvas._doc.getInternalFontName("Helvetica")
        canvas._code.append(f"BT {name} -12 Tf -1 0 0 -1 72 700 Tm (All is well at the) Tj ET")
        canvas._code.append(f"BT {name} -12 Tf -1 0 0 -1 168 700 Tm (mill.) Tj ET")

    assert text_of(tmp_path / "a.pdf", write=draw) == "All is well at the mill."


def letters_at(letters: str, *places: float) -> Glyphs:
    """A page with letters of ten points, each five wide, on one baseline."""
    geometry = [number for x in places for number in (x, 93, x + 5, 100, x, 100, 10)]
    styles = [0] * len(letters)
    return Glyphs(
        width=600, height=800, codes=[*map(ord, letters)], styles=styles, geometry=geometry
    )


@pytest.mark.parametrize(
    ("glyphs", "text"),
    [
        (letters_at("ꯋꯔꯜꯥ", 50, 56, 62, 51), "ꯋꯥꯔꯜ"),
        (letters_at("ꯋꯔꯥꯜ", 50, 56, 57, 62), "ꯋꯔꯥꯜ"),
        (letters_at("ab\u0301c", 50, 55, 51, 60), "a\u0301bc"),
    ],
    ids=["over an earlier letter", "over the last one", "Latin"],
)
def test_a_mark_follows_the_letter_that_it_stands_over(glyphs: Glyphs, text: str) -> None:
    [line] = lay_out(glyphs)
    assert line_text(glyphs, line) == text


def test_signs_that_a_program_writes_kind_by_kind_are_read_as_they_stand() -> None:
    glyphs = letters_at("cp +", 50, 64, 69, 57)
    [line] = lay_out(glyphs)
    assert line_text(glyphs, line) == "c + p"

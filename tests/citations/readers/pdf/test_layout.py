"""Characters become lines, lines become paragraphs: nothing is lost on the way, nothing comes
twice, whatever the page looks like.
"""

import time
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from citations.readers.pdf.glyph_repair import LIGATURES
from citations.readers.pdf.layout import lay_out
from citations.readers.pdf.paragraphs import Prose, compose
from citations.readers.pdf.runs import Glyphs

Set = tuple[str, float, float, float, int]  # text, left, baseline, size, style


def page(*pieces: Set, width: float = 600, height: float = 800) -> Glyphs:
    """Set texts: each character half its size wide, a line feed after each text."""
    codes: list[int] = []
    styles: list[int] = []
    places: list[float] = []
    for text, left, base, size, style in pieces:
        for index, letter in enumerate(f"{text}\n"):
            x = left + index * size / 2
            codes.append(ord(letter))
            styles.append(style)
            places += (x, base - 0.7 * size, x + size / 2, base + 0.2 * size, x, base, size)
    return Glyphs(width=width, height=height, codes=codes, styles=styles, geometry=places)


def read(*pieces: Set) -> Prose:
    glyphs = page(*pieces)
    return compose(glyphs, lay_out(glyphs))


def line(text: str, base: float, *, left: float = 50, size: float = 10, style: int = 0) -> Set:
    return text, left, base, size, style


def test_a_superscript_stays_with_its_line() -> None:
    prose = read(
        line("the area x", 100), line("2", 96, left=100, size=6), line("of a square of side x", 112)
    )
    assert prose.text == "the area x2 of a square of side x"


def test_a_soft_hyphen_is_seen_only_by_who_joins_the_lines() -> None:
    assert (
        read(line("the deri\u00adva\u00ad", 100), line("tive of it", 112)).text
        == "the derivative of it"
    )


def test_characters_that_no_database_takes_are_left_out() -> None:
    assert read(line("a\x00b\ud800c\uffffd", 100)).text == "a bcd"


def test_a_hyphen_of_a_compound_stays() -> None:
    prose = read(
        line("state-of-the-", 100),
        line("art methods, Anglo-", 112),
        line("Saxon words, from 1990-", 124),
        line("1995 on", 136),
    )
    assert prose.text == "state-of-the-art methods, Anglo-Saxon words, from 1990-1995 on"


def test_a_list_has_a_paragraph_for_each_of_its_points() -> None:
    prose = read(
        line("There are three kinds of it that we know:", 100),
        line("• the first", 112),
        line("• the second", 124),
        line("2. the third", 136),
    )
    assert [prose.text[piece.first : piece.last] for piece in prose.pieces][1:] == [
        "• the first",
        "• the second",
        "2. the third",
    ]


def test_a_few_notes_in_the_margin_are_read_apart_from_the_text() -> None:
    body = [
        line("the body of the text goes on from line to line", 100 + 12 * row) for row in range(12)
    ]
    notes = [
        line(text, 130 + 11 * row, left=350, size=9)
        for row, text in enumerate(("Figure 1 shows it", "as it was seen", "from the side"))
    ]
    prose = read(*(piece for pair in zip(body, notes, strict=False) for piece in pair), *body[3:])
    assert "Figure 1 shows it as it was seen from the side" in prose.text
    assert prose.text.startswith("the body of the text goes on from line to line the body")


LEFT = [f"left {row} of a column that is set narrow" for row in range(6)]
RIGHT = [f"right {row} of a column that is set so" for row in range(6)]


def test_columns_are_read_one_after_the_other_however_narrow_their_gutter() -> None:
    title = line("a title over both of the columns, as papers have", 80, size=14)
    assert max(map(len, LEFT)) * 5 + 50 == 235  # points, 4 before the right column
    sides = [line(text, 110 + 12 * row) for row, text in enumerate(LEFT)]
    sides += [line(text, 110 + 12 * row, left=239) for row, text in enumerate(RIGHT)]
    below = line("a paragraph under both of the columns of the page", 240)
    prose = read(title, *sides, below)
    assert prose.text.index(LEFT[-1]) < prose.text.index(RIGHT[0])
    assert prose.text.startswith("a title")
    assert prose.text.endswith("of the page")


def test_three_columns_of_few_lines_are_read_from_left_to_right() -> None:
    texts = [f"{side} line {row} of it" for side in ("first", "second", "third") for row in (1, 2)]
    prose = read(
        *(
            line(text, 100 + 12 * (place % 2), left=50 + 150 * (place // 2))
            for place, text in enumerate(texts)
        )
    )
    assert prose.text.split() == " ".join(texts).split()


def test_labels_and_values_are_read_row_by_row_in_whatever_order_they_were_written() -> None:
    labels = [line(text, 100 + 14 * row) for row, text in enumerate(("Sum:", "Tax:", "Due:"))]
    values = [line(text, 100 + 14 * row, left=200) for row, text in enumerate(("90", "9", "99"))]
    assert read(*labels, *values).text == "Sum: 90 Tax: 9 Due: 99"


PIECES = st.tuples(
    st.text(alphabet=st.sampled_from("abc dE.-\u00adﬁƟϭ1()\ufffe\x02�\n"), min_size=1, max_size=12),
    st.floats(0, 560),
    st.floats(0, 790),
    st.sampled_from([4.0, 7.0, 10.0, 10.5, 24.0]),
    st.sampled_from([0, 0, 0, 1, 2, 4, 8, 12]),
)


@given(st.lists(PIECES, max_size=25))
def test_every_character_comes_once_and_paragraphs_hold_them_all(pieces: list[Set]) -> None:
    glyphs = page(*pieces)
    prose = compose(glyphs, lay_out(glyphs))
    assert len(prose.text) == len(prose.origin) == len(prose.lines)
    seen = Counter(
        origin
        for origin, letter in zip(prose.origin, prose.text, strict=True)
        if origin >= 0 and letter not in "-"
    )
    wanted = {
        index
        for index, code in enumerate(glyphs.codes)
        if chr(code).isalnum() and _is_on(glyphs, index)
    }
    assert wanted <= set(seen)
    assert all(
        count == 1 or chr(glyphs.codes[origin]) in LIGATURES or chr(glyphs.codes[origin]) == "Ɵ"
        for origin, count in seen.items()
    )
    covered = 0
    for piece in prose.pieces:
        assert covered <= piece.first < piece.last <= len(prose.text)
        assert not prose.text[covered : piece.first].strip()
        covered = piece.last
    assert not prose.text[covered:].strip()


def _is_on(glyphs: Glyphs, index: int) -> bool:
    left, top, right, bottom = glyphs.box(index)
    return right >= 0 and bottom >= 0 and left <= glyphs.width and top <= glyphs.height


def test_a_drawing_full_of_labels_is_read_row_by_row_in_short_time() -> None:
    labels = [
        (f"n{number}", 10 + number % 60 * 150, 20 + number // 60 * 15.0, 9.0, 0)
        for number in range(30 * 60 * 6)
    ]
    glyphs = page(*reversed(labels), width=9_100, height=3_000)
    begun = time.process_time()
    lines = lay_out(glyphs)
    assert time.process_time() - begun < 10  # every label beside every other takes minutes
    assert len(lines) == 180
    assert [glyphs.codes[index] for index in lines[0].glyphs[:2]] == [ord("n"), ord("0")]
    assert sum(index >= 0 for line in lines for index in line.glyphs) == sum(
        len(label[0]) for label in labels
    )

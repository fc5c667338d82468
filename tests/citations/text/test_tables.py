"""Tables as readers write them."""

import pytest

from citations.text import tables

TEXT = "Before.\n\nName | Age\nAda | 36\nAlan | 41\n\nAfter.\n\nOther | Table\na | b"


def test_rows_have_the_header_of_their_table() -> None:
    found = [(TEXT[slice(*span)], header) for span, header in tables.rows(TEXT)]
    assert found == [
        ("Name | Age", ()),
        ("Ada | 36", ("Name", "Age")),
        ("Alan | 41", ("Name", "Age")),
        ("Other | Table", ()),
        ("a | b", ("Other", "Table")),
    ]


@pytest.mark.parametrize("word", ["Name", "Age", "36", "Alan", "41"])
def test_a_table_begins_at_its_header(word: str) -> None:
    assert tables.start(TEXT, TEXT.index(word)) == TEXT.index("Name")


@pytest.mark.parametrize("position", [0, 3, TEXT.index("After"), TEXT.index("After") + 2])
def test_beside_tables_there_is_no_start_but_the_position(position: int) -> None:
    assert tables.start(TEXT, position) == position


def test_a_table_may_begin_and_end_the_text() -> None:
    assert tables.start("a | b\nc | d", 10) == 0
    assert tables.start("", 0) == 0

"""Tables as readers write them."""

from citations.text.blocks import table_rows

TEXT = "Before.\n\nName | Age\nAda | 36\nAlan | 41\n\nAfter.\n\nOther | Table | Wider\na | b | c"


def headers(text: str) -> dict[str, tuple[str, ...]]:
    return {row.text: row.header for row in table_rows(text)}


def test_rows_have_the_header_of_their_table() -> None:
    assert headers(TEXT) == {
        "Name | Age": (),
        "Ada | 36": ("Name", "Age"),
        "Alan | 41": ("Name", "Age"),
        "Other | Table | Wider": (),
        "a | b | c": ("Other", "Table", "Wider"),
    }


def test_spans_count_the_characters_before_the_text() -> None:
    assert all(TEXT[slice(*row.span)] == row.text for row in table_rows(TEXT))
    row = next(table_rows(TEXT[9:], offset=9))
    assert TEXT[slice(*row.span)] == "Name | Age"


def test_a_table_goes_on_below_a_break_of_pages_with_as_many_cells() -> None:
    text = "Name | Age\nAda | 36\n\nAlan | 41\n\nOther | Table | Wider\na | b | c"
    assert headers(text)["Alan | 41"] == ("Name", "Age")
    assert headers(text)["Other | Table | Wider"] == ()


def test_a_header_that_names_no_column_is_none() -> None:
    assert headers("Name | \nAda | 36") == {"Name | ": (), "Ada | 36": ()}

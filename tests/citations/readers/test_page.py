"""What a reader noticed while pages went by is said in a sentence or two."""

from citations.readers.page import Box, OutlineEntry, Paragraph, ReadPage, Survey


def surveyed(*pages: ReadPage) -> str:
    survey = Survey()
    for page in pages:
        survey.add(page)
    return survey.note()


def page(
    number: int, *, is_picture: bool = False, words: int = 100, repaired: int = 0, garbled: int = 0
) -> ReadPage:
    return ReadPage(
        number=number,
        text="" if is_picture else "text",
        is_picture=is_picture,
        words=0 if is_picture else words,
        repaired=repaired,
        garbled=garbled,
    )


def test_nothing_is_said_of_a_document_that_is_well() -> None:
    assert surveyed(page(1), page(2, repaired=1)) == ""
    assert surveyed() == ""


def test_pages_without_text_are_named_by_their_numbers() -> None:
    note = surveyed(*(page(number, is_picture=number in (2, 3, 4, 7)) for number in range(1, 9)))
    assert (
        note == "No text on pages 2–4, 7 of 8: images whose words must be recognised (OCR) first."
    )
    assert "No text on page 1 of 1:" in surveyed(page(1, is_picture=True))


def test_empty_pages_are_told_of_only_where_no_page_has_words() -> None:
    blank = ReadPage(number=2, text="", is_blank=True)
    assert surveyed(page(1), blank) == ""
    assert "No text on page 2 of 1: they are empty" in surveyed(blank)


def test_a_note_stays_short_however_many_pages_there_are() -> None:
    assert (
        len(surveyed(*(page(number, is_picture=number % 2 == 0) for number in range(1, 2_000))))
        < 200
    )


def test_a_broken_text_layer_is_told_with_its_share() -> None:
    assert (
        surveyed(page(1, repaired=21))
        == "The text layer of this file is broken: about 21 % of its words have wrong letters;"
        " they were corrected."
    )
    assert (
        "30 % of its words have wrong letters; 33 % were corrected, and searches may miss the"
        " others." in surveyed(page(1, repaired=10, garbled=20))
    )
    assert "none were corrected" in surveyed(page(1, garbled=20))


def test_values_are_lists_in_json() -> None:
    assert (
        list(Paragraph(1, 2, "a", True)),
        list(OutlineEntry(1, "a", 2)),
        list(Box(0, 0, 1, 1)),
    ) == ([1, 2, "a", True], [1, "a", 2], [0, 0, 1, 1])

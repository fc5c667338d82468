"""What a reader noticed while pages went by is said in a sentence or two."""

from citations.readers.page import Box, OutlineEntry, Paragraph, ReadPage, Survey


def surveyed(*pages: ReadPage) -> str:
    survey = Survey()
    assert list(survey.watch(pages)) == list(pages)
    return survey.note()


def page(
    number: int, *, is_picture: bool = False, words: int = 100, mended: int = 0, garbled: int = 0
) -> ReadPage:
    return ReadPage(
        number=number,
        text="" if is_picture else "text",
        is_picture=is_picture,
        words=0 if is_picture else words,
        mended=mended,
        garbled=garbled,
    )


def test_nothing_is_said_of_a_document_that_is_well() -> None:
    assert surveyed(page(1), page(2, mended=1)) == ""
    assert surveyed() == ""


def test_pages_without_text_are_named_by_their_numbers() -> None:
    note = surveyed(*(page(number, is_picture=number in (2, 3, 4, 7)) for number in range(1, 9)))
    assert (
        note
        == "No text on pages 2–4, 7 of 8: pictures whose words would have to be recognised (OCR) first."
    )
    assert "No text on page 1 of 1:" in surveyed(page(1, is_picture=True))


def test_a_note_stays_short_however_many_pages_there_are() -> None:
    assert (
        len(surveyed(*(page(number, is_picture=number % 2 == 0) for number in range(1, 2_000))))
        < 200
    )


def test_a_broken_text_layer_is_told_with_its_share() -> None:
    assert (
        surveyed(page(1, mended=21))
        == "The text layer of this file is broken: about 21 % of its words carry wrong letters; they were put right."
    )
    assert (
        "30 % of its words carry wrong letters; 33 % were put right, searches may miss the others."
        in surveyed(page(1, mended=10, garbled=20))
    )
    assert "none were put right" in surveyed(page(1, garbled=20))


def test_values_are_lists_in_json() -> None:
    assert (
        list(Paragraph(1, 2, "a", True)),
        list(OutlineEntry(1, "a", 2)),
        list(Box(0, 0, 1, 1)),
    ) == ([1, 2, "a", True], [1, "a", 2], [0, 0, 1, 1])

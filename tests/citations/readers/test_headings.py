"""Which headings open sections, and the contents that they make."""

from collections.abc import Iterator

import pytest

from citations.readers.headings import (
    PlacedHeading,
    contents,
    find_labels,
    join_titles,
    levels_by_number,
    number_of,
)
from citations.readers.page import OutlineEntry


def placed(titles: list[str], *, apart: int = 2_000, level: int = 0) -> list[PlacedHeading]:
    return [
        PlacedHeading(title, place * apart, level, 1 + place * apart // 3_000)
        for place, title in enumerate(titles)
    ]


def book(*, section: tuple[str, ...]) -> Iterator[str]:
    for chapter in range(1, 4):
        yield f"Chapter {chapter}: Limits"
        for part in range(1, 3):
            yield f"{chapter}.{part} A preview"
            yield from section


def test_what_stands_again_and_again_in_a_section_is_a_label() -> None:
    headings = placed([*book(section=("Hint", "Slope of a line", "HINT:", "Key Concepts"))])
    assert find_labels(headings) == {"hint"}


def test_a_name_that_each_section_has_once_stays_a_heading() -> None:
    assert not find_labels(placed([*book(section=("Key Concepts", "Exercises"))]))


def test_sections_are_told_by_the_levels_of_markup_where_they_have_no_numbers() -> None:
    headings = [
        PlacedHeading(title, 0, level)
        for week in ("Monday", "Tuesday", "Friday", "Sunday")
        for level, title in ((1, week), (2, "Tip"), (2, "Tip"), (2, "Summary"))
    ]
    assert find_labels(headings) == {"tip"}


def test_without_sections_a_label_is_what_comes_every_few_paragraphs() -> None:
    assert find_labels(placed(["Hint"] * 6, apart=1_500)) == {"hint"}
    assert not find_labels(placed(["Exercises"] * 6, apart=15_000))


@pytest.mark.parametrize("title", ["1.2 Hint", "The tangent line of a curve at a point"])
def test_a_number_or_many_words_are_no_label(title: str) -> None:
    assert not find_labels(placed([title] * 8, apart=500))


def test_three_times_are_not_again_and_again() -> None:
    assert not find_labels(placed(["Hint"] * 3, apart=100))


@pytest.mark.parametrize(
    ("title", "number"),
    [
        ("4.10 Antiderivatives", (4, 10)),
        ("2. Unified system", (2,)),
        ("Chapter 3: Derivatives", (3,)),
        ("Kapitel 12", (12,)),
        ("3.0 Introduction", (3,)),
        ("1984", ()),
        ("30 %", ()),
        ("Hint", ()),
    ],
)
def test_the_number_of_a_heading(title: str, number: tuple[int, ...]) -> None:
    assert number_of(title) == number


def test_contents_are_the_chapters_and_their_sections() -> None:
    headings = placed([*book(section=("Slope of a line",))])
    assert [(level, title) for level, title, _ in contents(headings, 90_000)][:4] == [
        (1, "Chapter 1: Limits"),
        (2, "1.1 A preview"),
        (2, "1.2 A preview"),
        (1, "Chapter 2: Limits"),
    ]


def test_a_printed_table_of_contents_and_the_answers_at_the_end_are_no_sections() -> None:
    sections = [*book(section=())]
    inside = [heading._replace(start=heading.start + 9_000) for heading in placed(sections)]
    front = placed(sections, apart=40)
    back = [PlacedHeading(title, 90_000 + place) for place, title in enumerate(sections)]
    assert [entry.title for entry in contents([*front, *inside, *back], 90_100)] == sections


def test_numbers_that_count_something_else_are_left_out() -> None:
    titles = [*book(section=())]
    titles.insert(5, "1. Sum rule")
    titles.insert(1, "40 examples")
    assert [entry.title for entry in contents(placed(titles), 90_000)] == [*book(section=())]


def test_a_chapter_whose_title_is_a_picture_is_called_as_in_the_printed_contents() -> None:
    printed = placed(["1 Limits 9", "2 Derivatives 57", "3 Integrals 80"], apart=30)
    own = [
        PlacedHeading(f"{chapter}.{part} Part", 9_000 * chapter + 3_000 * part, 0, 10 * chapter)
        for chapter in (2, 3, 4)
        for part in (1, 2)
    ]
    entries = contents([*printed, *own], 60_000)
    assert [entry for entry in entries if entry.level == 1] == [
        OutlineEntry(1, "2 Derivatives", 20),
        OutlineEntry(1, "3 Integrals", 30),
        OutlineEntry(1, "4", 40),
    ]


def test_without_numbers_all_headings_are_contents() -> None:
    headings = placed(["Abstract", "Method", "1. First", "Results"])
    assert [entry.title for entry in contents(headings, 9_000)] == [
        "Abstract",
        "Method",
        "1. First",
        "Results",
    ]
    assert contents([], 10) == []


def test_numbers_tell_levels_where_chapters_and_sections_look_the_same() -> None:
    flat = [
        OutlineEntry(1, "1.0 Introduction", 1),
        OutlineEntry(1, "1.1 Functions", 2),
        OutlineEntry(2, "Domain", 3),
        OutlineEntry(1, "2.0 Introduction", 4),
    ]
    assert [entry.level for entry in levels_by_number(flat)] == [1, 2, 3, 1]
    whole = [OutlineEntry(1, "The book", 1), *flat]
    assert [entry.level for entry in levels_by_number(whole)] == [1, 1, 2, 3, 1]


def test_levels_that_agree_with_the_numbers_stay() -> None:
    entries = [
        OutlineEntry(1, "1 Limits", 1),
        OutlineEntry(3, "1.1 A preview", 2),
        OutlineEntry(2, "Exercises", 2),
    ]
    assert levels_by_number(entries) == entries


def test_a_heading_below_another_keeps_both_unless_it_has_a_number() -> None:
    assert join_titles("Chapter 3", "Derivatives") == "Chapter 3 Derivatives"
    assert join_titles("Chapter 3", "3.1 Slopes") == "3.1 Slopes"

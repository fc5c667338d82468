"""A book's contents: folded by parts, without headings that come again and again."""

from citations.reading import contents

BOOK: list[list[int | str]] = [
    entry
    for chapter in range(1, 9)
    for entry in (
        [1, f"Chapter {chapter}", chapter * 10],
        [2, f"Idea {chapter}", chapter * 10 + 1],
        [2, "Hint", chapter * 10 + 2],
        [3, f"Detail {chapter}", chapter * 10 + 3],
        [2, "HINT:", chapter * 10 + 4],
        [2, f"Aside {chapter}.1", chapter * 10 + 5],
        [2, f"Aside {chapter}.2", chapter * 10 + 5],
        [2, f"Aside {chapter}.3", chapter * 10 + 5],
    )
]


def test_a_heading_under_many_others_is_left_out_and_counted() -> None:
    book = contents.of(BOOK)
    titles = [entry.title for part in book.parts for entry in part.entries]
    assert "Hint" not in titles
    assert "Idea 3" in titles
    assert (book.left_out, book.example.casefold().rstrip(":")) == (16, "hint")


def test_a_heading_that_is_often_under_one_parent_stays() -> None:
    examples: list[list[int | str]] = [[2, "Example", page] for page in range(2, 12)]
    book = contents.of([[1, "A", 1], *examples, [1, "B", 12]])
    assert len(book.parts[0].entries) == 10
    assert book.left_out == 0


def test_chapters_of_the_same_name_are_chapters() -> None:
    book = contents.of([[1, "Exercises", page] for page in range(1, 9)])
    assert len(book.parts) == 8


def test_every_other_heading_is_in_its_part_at_its_depth() -> None:
    part = contents.of(BOOK).parts[1]
    assert (part.number, part.title, part.page) == (2, "Chapter 2", 20)
    assert [(entry.title, entry.depth) for entry in part.entries[:2]] == [
        ("Idea 2", 1),
        ("Detail 2", 2),
    ]


def test_a_short_document_has_no_folds() -> None:
    assert contents.of(BOOK).is_folded
    assert not contents.of(BOOK[:20]).is_folded


def test_a_lone_title_is_no_part_that_has_all_others() -> None:
    parts = contents.of([[1, "The book", 1], [2, "One", 1], [3, "Within", 2], [2, "Two", 3]]).parts
    assert [part.title for part in parts] == ["The book", "One", "Two"]


def test_hundreds_of_parts_are_folded_together_and_none_is_lost() -> None:
    parts = contents.of([[1, f"Entry {page}", page] for page in range(1, 301)]).parts
    assert len(parts) == 8
    assert sum(1 + len(part.entries) for part in parts) == 300


def test_a_page_is_at_the_first_entry_on_it_or_the_last_before() -> None:
    book = contents.of(BOOK)
    part, entry = book.at(23)
    assert part is book.parts[1]
    assert entry is not None
    assert entry.title == "Detail 2"
    assert book.at(20) == (book.parts[1], None)
    assert book.at(29)[0] is book.parts[1]
    assert book.at(3) == (None, None)
    assert contents.of([]).at(1) == (None, None)


def test_a_page_is_found_where_bookmarks_are_out_of_order() -> None:
    book = contents.of([[1, "Index", 300], [1, "Start", 1], [1, "End", 10]])
    assert [book.at(page)[0] for page in (0, 1, 9, 10, 400)] == [
        None,
        book.parts[1],
        book.parts[1],
        book.parts[2],
        book.parts[0],
    ]


def test_a_part_with_nearly_all_headings_is_divided() -> None:
    within: list[list[int | str]] = [[2, f"Section {page}", page] for page in range(3, 403)]
    book = contents.of([[1, "Cover", 1], [1, "Book", 2], *within])
    assert max(len(part.entries) for part in book.parts) <= contents.MAX_FOLDED
    assert sum(1 + len(part.entries) for part in book.parts) == 402


def test_headings_of_a_short_document_stay_though_they_come_again() -> None:
    chapters = range(1, 6)
    outline = [row for n in chapters for row in ([1, f"Chapter {n}", n], [2, "Summary", n])]
    book = contents.of(outline)
    assert [len(part.entries) for part in book.parts] == [1] * 5


def test_sections_of_chapters_that_are_folded_together_stand_below_them() -> None:
    outline = [row for n in range(1, 131) for row in ([1, f"Ch {n}", n], [2, f"Sec {n}", n])]
    entries = contents.of(outline).parts[0].entries[:3]
    assert [(entry.title, entry.depth) for entry in entries] == [
        ("Sec 1", 2),
        ("Ch 2", 1),
        ("Sec 2", 2),
    ]

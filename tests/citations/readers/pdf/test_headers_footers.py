"""Running heads are told by a page's neighbours, and text never is one."""

from citations.readers.pdf.headers_footers import EdgeLine, find_headers_footers


def top(text: str, *, index: int = 0, distance: float = 40, is_apart: bool = False) -> EdgeLine:
    return EdgeLine(indexes=(index,), text=text, distance=distance, is_top=True, is_apart=is_apart)


def foot(text: str, *, index: int = 9, distance: float = 30) -> EdgeLine:
    return EdgeLine(indexes=(index,), text=text, distance=distance, is_top=False)


def test_a_line_that_a_neighbour_repeats_runs_through() -> None:
    assert find_headers_footers(
        5, [top("A Book")], [(3, [top("A Book")]), (4, [top("Chapter 1")])]
    ) == {0}


def test_page_numbers_count_with_the_pages_whatever_stands_beside_them() -> None:
    others = [(4, [top("1.2 Limits 12")]), (6, [top("Exercises 14")])]
    assert find_headers_footers(5, [top("1.3 Continuity 13")], others) == {0}
    assert find_headers_footers(5, [top("1.3 Continuity 57")], others) == frozenset()


def test_roman_numbers_at_the_foot_run_through() -> None:
    assert find_headers_footers(5, [foot("xii")], [(4, [foot("xi")])]) == {9}


def test_equal_lines_with_other_numbers_are_text() -> None:
    assert (
        find_headers_footers(
            5, [top("Exercise 4")], [(4, [top("Exercise 1")]), (6, [top("Exercise 9")])]
        )
        == frozenset()
    )


def test_what_stands_elsewhere_is_another_line() -> None:
    assert (
        find_headers_footers(5, [top("A Book", distance=70)], [(4, [top("A Book", distance=40)])])
        == frozenset()
    )


def test_a_sentence_below_a_line_of_its_own_is_text_though_a_neighbour_has_it() -> None:
    own = [
        top("A heading that no other page has", distance=40),
        top("It is easy to see that", index=1, distance=60),
    ]
    assert (
        find_headers_footers(5, own, [(4, [top("It is easy to see that", distance=60)])])
        == frozenset()
    )


def test_where_most_neighbours_have_a_lone_line_there_stands_a_head() -> None:
    others = [(page, [top(f"section of {page} only", is_apart=True)]) for page in (3, 4, 6, 7)]
    assert find_headers_footers(5, [top("Its own section", is_apart=True)], others) == {0}
    assert (
        find_headers_footers(5, [top("Its own section", is_apart=True)], others[:2]) == frozenset()
    )

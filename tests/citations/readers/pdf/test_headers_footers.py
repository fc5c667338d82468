"""Headers and footers are found by what near pages repeat, and no word is lost with them."""

from collections.abc import Sequence
from pathlib import Path

from citations.readers.pdf import reader
from citations.readers.pdf.headers_footers import EdgeRow, PageRows, find_headers_footers
from tests.citations.readers.pdf.papers import HEIGHT, WIDTH, Draw, paper, write

LANDSCAPE = HEIGHT, WIDTH


def top(text: str, *, index: int = 0, distance: float = 40) -> EdgeRow:
    return EdgeRow(indexes=(index,), text=text, distance=distance, is_top=True)


def foot(text: str, *, index: int = 0) -> EdgeRow:
    return EdgeRow(indexes=(index,), text=text, distance=30, is_top=False)


def page(number: int, *edges: EdgeRow, text: str = "") -> tuple[int, PageRows]:
    """A page with rows at its edges, and a line of text that no other page has."""
    body = text or f"only page {number} says so: {'x' * number}"
    return number, PageRows(edges=edges, lines=(*(edge.text for edge in edges), body))


def headers_of(
    own: tuple[int, PageRows], *others: tuple[int, PageRows], page_count: int = 20
) -> Sequence[int]:
    number, rows = own
    return sorted(find_headers_footers(number, rows, others, page_count=page_count))


def slides(path: Path, *texts: Sequence[str], foot: str = "") -> list[str]:
    """Write slides with a title and points, and return the texts of their paragraphs."""

    def slide(text: Sequence[str]) -> Draw:
        def draw(canvas: object) -> None:
            canvas.setFont("Helvetica", 28)
            canvas.drawString(60, 520, text[0])
            canvas.setFont("Helvetica", 16)
            for place, point in enumerate(text[1:]):
                canvas.drawString(60, 460 - 40 * place, point)
            canvas.setFont("Helvetica", 9)
            canvas.drawString(60, 24, foot)

        return draw

    paper(path, [slide(text) for text in texts], size=LANDSCAPE)
    pages = reader.read(path, most_pages=20)
    return [page.text[: page.blocks[-1].last] for page in pages]


def test_a_row_that_an_earlier_page_has_is_a_header_and_stays_on_the_first() -> None:
    pages = [page(number, top("A Book")) for number in (3, 4, 5)]
    assert headers_of(pages[2], *pages[:2]) == [0]
    assert headers_of(pages[0], *pages[1:]) == []


def test_it_stays_on_no_page_where_its_words_are_those_of_the_heading() -> None:
    chapter = page(3, top("Limits"), text="2 Limits")
    assert headers_of(chapter, page(4, top("Limits"))) == [0]


def test_numbers_in_a_header_may_count_the_pages() -> None:
    others = page(3, top("12\tLimits")), page(5, top("14\tLimits"))
    assert headers_of(page(4, top("13\tLimits")), *others) == [0]
    assert headers_of(page(4, top("57\tLimits")), *others) == []


def test_numbers_above_the_number_of_pages_count_them_only_apart_from_words() -> None:
    assert headers_of(page(2, top("Tea Review\t1002")), page(1, top("Tea Review\t1001"))) == [0]
    assert headers_of(page(2, top("Invoice 1002")), page(1, top("Invoice 1001"))) == []


def test_the_number_of_a_chapter_counts_no_pages_where_it_happens_to() -> None:
    chapters = [page(number, top(f"Chapter {1 + number // 7}")) for number in (5, 6, 7, 8)]
    assert [headers_of(chapters[2], *others) for others in (chapters[:2], chapters[1::2])] == [
        [],
        [],
    ]
    assert headers_of(chapters[3], *chapters[:3]) == [0]


def test_page_numbers_are_left_out_of_all_pages() -> None:
    assert headers_of(page(1, foot("1")), page(2, foot("2"))) == [0]
    assert headers_of(page(5, foot("– xii –")), page(6, foot("– xiii –"))) == []
    assert headers_of(page(5, foot("xii")), page(6, foot("xiii"))) == [0]
    assert headers_of(page(5, foot("5 / 9")), page(4, foot("4 / 9"))) == [0]
    assert headers_of(page(5, foot("13.50")), page(4, foot("12.50"))) == []


def test_what_stands_elsewhere_is_another_row() -> None:
    assert headers_of(page(5, top("A Book", distance=70)), page(4, top("A Book"))) == []


def test_a_sentence_below_a_line_of_its_own_is_text_though_another_page_has_it() -> None:
    own = top("A heading that no other page has"), top("It is easy to see", index=1, distance=60)
    assert headers_of(page(5, *own), page(4, top("It is easy to see", distance=60))) == []


def test_a_page_with_nothing_else_keeps_its_header() -> None:
    alone = 5, PageRows(edges=(top("A Book"),), lines=("A Book",))
    assert headers_of(alone, page(4, top("A Book"))) == []


def test_slides_keep_their_titles(tmp_path: Path) -> None:
    titles = ["Why it rains", "Where clouds come from", "How drops grow", "Wind", "What is left"]
    texts = slides(tmp_path / "a.pdf", *((title, f"On {title}.") for title in titles), foot="Rain")
    assert [text.split("\n")[0] for text in texts] == titles
    assert [text.count("Rain") for text in texts] == [1, 0, 0, 0, 0]


def test_a_slide_that_is_built_up_has_its_title_in_each_step(tmp_path: Path) -> None:
    points = ["First they rise.", "Then they cool.", "At last they fall."]
    builds = [("How drops grow", *points[:count]) for count in (1, 2, 3)]
    texts = slides(
        tmp_path / "a.pdf", ("Why it rains", "Because."), *builds, ("The end", "Thanks.")
    )
    assert all(text.startswith("How drops grow") for text in texts[1:4])
    assert all(point in texts[3] for point in points)


def test_each_copy_of_a_form_has_all_its_words(tmp_path: Path) -> None:
    def invoice(copy: str) -> Draw:
        def draw(canvas: object) -> None:
            canvas.drawString(72, 800, "Invoice 2041")
            canvas.drawString(72, 780, copy)
            write(canvas, "Twelve umbrellas at nine each, to be paid within thirty days, please.")
            write(canvas, "Delivered by hand to the back door of the weather office.", y=640)
            canvas.drawString(72, 60, "Total 108.00")

        return draw

    path = paper(tmp_path / "a.pdf", [invoice("For the customer"), invoice("For the files")])
    for copy in reader.read(path, most_pages=2):
        assert "Invoice 2041" in copy.text
        assert "Total 108.00" in copy.text

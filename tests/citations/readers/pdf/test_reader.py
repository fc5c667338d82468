"""PDF files are read page by page, in reading order, cleaned; what was read is found again on the
page as it is shown.
"""

import io
import threading
from contextlib import closing, suppress
from itertools import islice
from pathlib import Path

import pytest
from PIL import Image
from pypdfium2 import PdfDocument
from reportlab.pdfgen.canvas import Canvas

from citations.errors import DocumentBroken, DocumentEncrypted, DocumentTooLarge, PageNotFound
from citations.readers.page import Box, OutlineEntry, ReadPage, Survey
from citations.readers.pdf import reader as pdf_reader
from tests.citations.readers.pdf import papers
from tests.citations.readers.pdf.papers import LOSS, paper, write


def read(path: Path, *, first: int = 1) -> list[ReadPage]:
    return list(pdf_reader.read(path, most_pages=100, first=first))


def paragraphs(page: ReadPage) -> list[str]:
    return [page.text[block.first : block.last] for block in page.blocks]


# Text


def test_a_paragraph_is_one_line_of_text_however_many_lines_it_was_set_in(tmp_path: Path) -> None:
    [page] = read(paper(tmp_path / "a.pdf", [lambda canvas: write(canvas, LOSS)]))
    assert page.text == LOSS.strip()
    assert paragraphs(page) == [page.text]


def test_a_word_broken_at_the_end_of_a_line_is_whole_again(tmp_path: Path) -> None:
    def broken(canvas: Canvas) -> None:
        for place, line in enumerate(
            ("The learn-", "ing rate sets the x-", "axis, and the right-", "hand side follows.")
        ):
            canvas.drawString(72, 700 - 12 * place, line)

    [page] = read(paper(tmp_path / "a.pdf", [broken]))
    assert page.text == "The learning rate sets the x-axis, and the right-hand side follows."


def test_space_and_indents_part_paragraphs(tmp_path: Path) -> None:
    def several(canvas: Canvas) -> None:
        y = write(canvas, LOSS)
        y = write(canvas, "Apart: " + LOSS, y=y - 12)
        canvas.drawString(90, y, "Indented: it begins a little to the right, as books")
        write(canvas, "do it. " + LOSS, y=y - 12)

    [page] = read(paper(tmp_path / "a.pdf", [several]))
    assert [text.split()[0] for text in paragraphs(page)] == ["Gradient", "Apart:", "Indented:"]


def test_columns_are_read_one_after_the_other_even_when_their_lines_alternate_in_the_file(
    tmp_path: Path,
) -> None:
    [page] = read(papers.columns(tmp_path / "a.pdf"))
    places = [
        page.text.index(words)
        for words in (
            "A title",
            "Left begins",
            "Left ends",
            "Right begins",
            "Right ends",
            "Below the columns",
        )
    ]
    assert places == sorted(places)


def test_a_table_is_read_row_by_row(tmp_path: Path) -> None:
    def table(canvas: Canvas) -> None:
        for row in range(8):
            for column, cell in enumerate((f"name {row}", f"size {row}", f"cost {row}")):
                canvas.drawString(72 + 150 * column, 700 - 14 * row, cell)

    [page] = read(paper(tmp_path / "a.pdf", [table]))
    assert "name 3 size 3 cost 3 name 4" in " ".join(page.text.split())


@pytest.mark.parametrize("rotation", [90, 180, 270])
def test_a_rotated_page_reads_like_one_that_is_not(tmp_path: Path, rotation: int) -> None:
    upright, turned = (
        papers.columns(tmp_path / f"{turn}.pdf", rotation=turn) for turn in (0, rotation)
    )
    assert read(turned)[0].text == read(upright)[0].text


def test_text_that_runs_up_the_margin_comes_after_the_rest(tmp_path: Path) -> None:
    def both(canvas: Canvas) -> None:
        canvas.saveState()
        canvas.translate(30, 300)
        canvas.rotate(90)
        canvas.drawString(0, 0, "printed up the margin")
        canvas.restoreState()
        write(canvas, LOSS)

    [page] = read(paper(tmp_path / "a.pdf", [both]))
    assert paragraphs(page) == [LOSS.strip(), "printed up the margin"]


def test_what_stands_beside_the_sheet_is_not_read(tmp_path: Path) -> None:
    [page] = read(
        paper(
            tmp_path / "a.pdf",
            [lambda canvas: (canvas.drawString(-300, 400, "beside"), write(canvas, LOSS))],
        )
    )
    assert "beside" not in page.text


# Running heads, headings, labels


def test_running_heads_and_page_numbers_are_in_no_paragraph_but_behind_all(tmp_path: Path) -> None:
    pages = read(papers.book(tmp_path / "a.pdf", 12))
    texts = [" ".join(paragraphs(page)) for page in pages]
    heads = [number for number, text in enumerate(texts, 1) if text.startswith("Chapter")]
    assert heads == [1, 7]  # where they are new
    for number, (page, text) in enumerate(zip(pages, texts, strict=True), 1):
        assert text.count("On matters") == 2 * (number in heads)
        assert not text.endswith(f" {number}")
        assert page.text.endswith(f"\n\n{number}")
        assert page.text.count("On matters") == (2 if number in heads else 1)


def test_the_first_line_of_a_page_stays_when_its_neighbours_begin_otherwise(tmp_path: Path) -> None:
    firsts = (
        "Exercise 4 is about slopes.",
        "Exercise 9 is about sums.",
        "Nothing else is like this.",
    )
    pages = read(
        paper(
            tmp_path / "a.pdf",
            [lambda canvas, text=text: write(canvas, f"{text} {LOSS}", y=800) for text in firsts],
        )
    )
    assert [page.text.startswith(first) for page, first in zip(pages, firsts, strict=True)] == [
        True
    ] * 3


def test_paragraphs_stand_under_the_titles_of_the_outline(tmp_path: Path) -> None:
    path = papers.book(tmp_path / "a.pdf", 18)
    assert pdf_reader.describe(path).outline[1] == OutlineEntry(1, "2 On matters of kind 2", 7)
    pages = read(path)
    assert [block.boundary for block in pages[6].blocks] == [False, True, False]
    assert {block.heading for page in pages[6:12] for block in page.blocks[-1:]} == {
        "2 On matters of kind 2"
    }
    assert read(path, first=9) == pages[8:]  # wherever one begins


def test_without_an_outline_large_or_bold_lines_are_headings(tmp_path: Path) -> None:
    def page(canvas: Canvas) -> None:
        canvas.setFont("Helvetica", 16)
        canvas.drawString(72, 740, "Learning rates")
        canvas.setFont("Helvetica", 10)
        y = write(canvas, LOSS)
        canvas.setFont("Helvetica-Bold", 10)
        canvas.drawString(72, y - 20, "Why small ones are slow")
        canvas.setFont("Helvetica", 10)
        write(canvas, LOSS, y=y - 40)

    [page_read, following] = read(
        paper(tmp_path / "a.pdf", [page, lambda canvas: write(canvas, "It goes on here. " + LOSS)])
    )
    assert [(block.heading, block.boundary) for block in page_read.blocks] == [
        ("Learning rates", True),
        ("Learning rates", False),
        ("Why small ones are slow", True),
        ("Why small ones are slow", False),
    ]
    assert following.blocks[0].heading == "Why small ones are slow"


def test_a_line_that_looks_like_a_heading_after_a_few_words_does_not_cut_the_text_again(
    tmp_path: Path,
) -> None:
    def page(canvas: Canvas) -> None:
        y = 740.0
        for heading, text in (("Definition", LOSS), ("Hint", "Look at it."), ("Proof", LOSS)):
            canvas.setFont("Helvetica-Bold", 10)
            canvas.drawString(72, y, heading)
            canvas.setFont("Helvetica", 10)
            y = write(canvas, text, y=y - 14) - 10

    [page_read] = read(paper(tmp_path / "a.pdf", [page]))
    assert [(block.heading, block.boundary) for block in page_read.blocks][::2] == [
        ("Definition", True),
        ("Hint", True),
        ("Proof", False),
    ]


def test_pages_carry_the_numbers_printed_on_them(tmp_path: Path) -> None:
    def first(canvas: Canvas) -> None:
        canvas.addPageLabel(0, "ROMAN_LOWER", 3)
        canvas.addPageLabel(1, "ARABIC", 1)
        write(canvas, LOSS)

    pages = read(paper(tmp_path / "a.pdf", [first, lambda canvas: write(canvas, LOSS)]))
    assert [page.label for page in pages] == ["iii", "1"]


# Files that are not as one wishes


def test_a_scanned_file_says_that_it_has_no_text(tmp_path: Path) -> None:
    survey = Survey()
    pages = list(pdf_reader.read(papers.scanned(tmp_path / "a.pdf"), most_pages=5))
    for page in pages:
        survey.add(page)
    assert [(page.text, page.is_picture) for page in pages] == [("", True)] * 2
    assert survey.note().startswith("No text on pages 1–2 of 2: images")


def test_a_file_with_a_password_is_refused_and_one_that_only_forbids_printing_is_read(
    tmp_path: Path,
) -> None:
    with pytest.raises(DocumentEncrypted):
        pdf_reader.describe(
            paper(tmp_path / "a.pdf", [lambda canvas: write(canvas, LOSS)], password="secret")
        )
    [page] = read(paper(tmp_path / "b.pdf", [lambda canvas: write(canvas, LOSS)], password=""))
    assert page.text == LOSS.strip()


@pytest.mark.parametrize("content", [b"", b"%PDF-1.7\n", b"%PDF-1.7\n" + b"\0" * 5000, b"GIF89a"])
def test_a_broken_file_is_said_to_be_broken(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(content)
    with pytest.raises(DocumentBroken):
        read(path)


def test_a_tree_of_pages_that_holds_itself_comes_to_an_end(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(
        b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 1 0 R/Kids[1 0 R]/Count 9>>endobj"
        b" trailer<</Root 1 0 R>>"
    )
    with suppress(DocumentBroken):
        assert not any(page.text for page in read(path))


def test_a_file_cut_off_in_the_middle_gives_what_is_left_or_says_that_it_is_broken(
    tmp_path: Path,
) -> None:
    whole = papers.book(tmp_path / "a.pdf", 6).read_bytes()
    for share in (0.3, 0.6, 0.9):
        path = tmp_path / f"{share}.pdf"
        path.write_bytes(whole[: int(share * len(whole))])
        with suppress(DocumentBroken):
            assert len(read(path)) <= 6


def test_more_pages_than_are_taken_are_refused_before_any_is_read(tmp_path: Path) -> None:
    with pytest.raises(DocumentTooLarge, match="has 4 pages; the limit is 3"):
        next(pdf_reader.read(papers.book(tmp_path / "a.pdf", 4), most_pages=3))


def test_a_file_whose_pages_take_too_long_together_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pdf_reader, "READING_TIME", 0.0)
    with pytest.raises(DocumentBroken, match="page 1 of 3"):
        list(pdf_reader.read(papers.book(tmp_path / "a.pdf", 3), most_pages=10))


def test_a_page_that_is_not_there_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(PageNotFound):
        pdf_reader.render(papers.scanned(tmp_path / "a.pdf"), 3, width=100)


def test_pages_come_as_they_are_asked_for(tmp_path: Path) -> None:
    path = papers.book(tmp_path / "a.pdf", 90)
    pdf_reader._laid_out.cache_clear()
    assert [page.number for page in islice(pdf_reader.read(path, most_pages=90), 2)] == [1, 2]
    assert pdf_reader._laid_out.cache_info().currsize <= 5


# Pictures and boxes


def red(path: Path, width: int) -> tuple[Image.Image, tuple[int, int, int, int]]:
    """Return the page's picture and where it is red: left, top, right, bottom in pixels."""
    picture = Image.open(io.BytesIO(pdf_reader.render(path, 1, width=width))).convert("RGB")
    strong, green, _ = picture.split()
    bounds = Image.composite(
        Image.new("L", picture.size, 255),
        Image.new("L", picture.size, 0),
        green.point(lambda value: 255 * (value < 128)),
    )
    reds = Image.composite(
        bounds, Image.new("L", picture.size, 0), strong.point(lambda value: 255 * (value > 180))
    )
    box = reds.getbbox()
    assert box
    return picture, box


@pytest.mark.parametrize(
    ("rotation", "turn"),
    [(0, 0), (90, 0), (180, 0), (270, 0), (0, 90), (0, 180), (0, 270), (90, 90)],
)
def test_a_box_is_where_the_word_is_seen(tmp_path: Path, rotation: int, turn: int) -> None:
    path = papers.marked(tmp_path / "a.pdf", rotation=rotation, turn=turn)
    [page] = read(path)
    picture, (left, top, right, bottom) = red(path, 1200)
    first = page.text.index("GLYPH")
    [box] = pdf_reader.boxes(path, 1, first, first + 5)
    across, down = (picture.width, picture.height)
    lying = (
        (box.left * across, (box.left + box.width) * across, left, right),
        (box.top * down, (box.top + box.height) * down, top, bottom),
    )
    along, high = lying if (rotation + turn) % 180 == 0 else lying[::-1]
    assert along[:2] == pytest.approx(along[2:], abs=3)
    assert high[0] <= high[2] + 3 and high[1] >= high[3] - 3  # noqa: PT018  as high as the line
    assert high[1] - high[0] < 2 * (high[3] - high[2])


def test_a_quote_has_a_box_for_each_line_it_stands_on(tmp_path: Path) -> None:
    path = papers.columns(tmp_path / "a.pdf")
    [page] = read(path)
    first = page.text.index("Right begins")
    boxes = pdf_reader.boxes(path, 1, first, page.text.index("Right ends"))
    assert len(boxes) > 5
    assert all(box.left > 0.5 and box.left + box.width < 0.95 for box in boxes)
    assert [box.top for box in boxes] == sorted(box.top for box in boxes)
    assert pdf_reader.boxes(path, 1, 5, 5) == []


def test_boxes_lie_on_the_page_whatever_is_asked_for(tmp_path: Path) -> None:
    path = papers.marked(tmp_path / "a.pdf")
    for box in pdf_reader.boxes(path, 1, -5, 10_000):
        assert isinstance(box, Box)
        assert 0 <= box.left <= box.left + box.width <= 1
        assert 0 <= box.top <= box.top + box.height <= 1


def test_a_picture_is_as_wide_as_asked_within_reason(tmp_path: Path) -> None:
    path = paper(
        tmp_path / "a.pdf", [lambda canvas: canvas.drawString(5, 5, "a label")], size=(100, 20)
    )
    assert [
        Image.open(io.BytesIO(pdf_reader.render(path, 1, width=width))).width
        for width in (1200, 1, 10**9)
    ] == [1200, pdf_reader.MIN_WIDTH, pdf_reader.MAX_WIDTH]
    strip = paper(
        tmp_path / "b.pdf", [lambda canvas: canvas.drawString(5, 5, "a strip")], size=(20, 14_000)
    )
    assert Image.open(io.BytesIO(pdf_reader.render(strip, 1, width=4_000))).height <= 16_000


# Processes


def test_many_threads_read_and_draw_at_once(tmp_path: Path) -> None:
    path = papers.book(tmp_path / "a.pdf", 8)
    texts = [page.text for page in read(path)]
    wrong: list[int] = []

    def work(number: int) -> None:
        pdf_reader._laid_out.cache_clear()
        page = next(pdf_reader.read(path, most_pages=8, first=number))
        if page.text != texts[number - 1] or not pdf_reader.render(path, number, width=100):
            wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


# Real books


def test_a_real_book_with_wrong_letters_is_put_right(real_data: Path) -> None:
    survey = Survey()
    book = real_data / "shared/documents/apex-calculus-1-v3.pdf"
    pages = list(islice(pdf_reader.read(book, most_pages=400, first=40), 12))
    for page in pages:
        survey.add(page)
    assert sum(page.text.count("function") for page in pages) > 40
    assert not any(letter in page.text for page in pages for letter in "ƟŌϭϮ")
    assert {block.heading for block in pages[0].blocks} == {"1.4 One Sided Limits"}
    assert "The text layer of this file is broken" in survey.note()


def test_what_a_file_has_beside_its_pages_is_told(tmp_path: Path) -> None:
    with closing(PdfDocument(paper(tmp_path / "a.pdf", [lambda c: write(c, LOSS)]))) as document:
        document.new_attachment("table.csv").set_data(b"1,2")
        document.save(path := tmp_path / "b.pdf")
    assert pdf_reader.describe(path).note == "Attached files that are not read: 1."

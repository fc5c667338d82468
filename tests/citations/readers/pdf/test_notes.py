"""What forms and notes say is read with the page: values where they stand, notes after the text."""

from pathlib import Path

from reportlab.pdfgen.canvas import Canvas

from citations.readers.page import ReadPage
from citations.readers.pdf import reader
from tests.citations.readers.pdf.papers import LOSS, paper, write


def read(path: Path) -> ReadPage:
    (page,) = reader.read(path, most_pages=1)
    return page


def form(canvas: Canvas) -> None:
    for place, (label, value) in enumerate(
        (("Name of the boat:", "Grey Heron of the North"), ("Harbour:", "Emden"), ("Masts:", ""))
    ):
        y = 700 - 30 * place
        canvas.drawString(72, y, label)
        canvas.acroForm.textfield(value=value, x=220, y=y - 6, width=200, height=20, fontSize=10)


def noted(canvas: Canvas) -> None:
    write(canvas, LOSS)
    canvas.textAnnotation("Ask the harbour master\nabout the tide.", (400, 500, 420, 520))
    canvas.textAnnotation("Not before noon.", (400, 690, 420, 710))
    canvas.textAnnotation("the size of the step is", (80, 690, 90, 700))  # as viewers copy it
    canvas.linkURL("https://example.org", (72, 600, 90, 620))


def test_values_stand_beside_their_labels(tmp_path: Path) -> None:
    page = read(paper(tmp_path / "a.pdf", [form]))
    lines = [page.text[block.first : block.last] for block in page.blocks]
    assert lines == ["Name of the boat: Grey Heron of the North", "Harbour: Emden", "Masts:"]


def test_boxes_to_tick_are_read_with_their_state(tmp_path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        form = canvas.acroForm
        for place, (label, is_ticked) in enumerate((("I agree", True), ("Send me news", False))):
            canvas.drawString(72, 700 - 30 * place, label)
            form.checkbox(name=label, checked=is_ticked, x=200, y=696 - 30 * place, size=14)
        for place, drink in enumerate(("Tea", "Coffee")):
            form.radio(name="drink", value=drink, selected=not place, x=72, y=596 - 30 * place)
            canvas.drawString(100, 604 - 30 * place, drink)

    page = read(paper(tmp_path / "a.pdf", [draw]))
    lines = [page.text[block.first : block.last] for block in page.blocks]
    assert lines == ["I agree ☑", "Send me news ☐", "◉ Tea", "○ Coffee"]


def test_notes_come_after_the_text_each_once(tmp_path: Path) -> None:
    page = read(paper(tmp_path / "a.pdf", [noted]))
    paragraphs = [page.text[block.first : block.last] for block in page.blocks]
    notes = ["Ask the harbour master about the tide.", "Not before noon."]
    assert paragraphs == [LOSS.strip(), *notes]


def test_a_page_reads_the_same_again(tmp_path: Path) -> None:
    def both(canvas: Canvas) -> None:
        form(canvas)
        noted(canvas)

    path = paper(tmp_path / "a.pdf", [both])
    first = read(path)
    reader._laid_out.cache_clear()
    reader._prose.cache_clear()
    assert read(path) == first


def test_the_box_of_a_note_is_where_it_is_pinned(tmp_path: Path) -> None:
    path = paper(tmp_path / "a.pdf", [noted])
    text = read(path).text
    start = text.index("Not before")
    (box,) = reader.boxes(path, 1, start, len(text))
    assert 400 / 595 <= box.left <= box.left + box.width <= 421 / 595
    assert abs(box.top - (842 - 710) / 842) < 0.01

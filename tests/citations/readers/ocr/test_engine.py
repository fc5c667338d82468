"""Pages that are pictures, as the real engine reads them: level, skewed, turned, and unknown."""

import io
from pathlib import Path

import pytest
from PIL import Image, ImageDraw, ImageFont
from reportlab.pdfgen.canvas import Canvas

from citations.errors import OcrFailed, OcrMissing
from citations.readers.ocr import engine
from citations.readers.pdf import reader
from citations.readers.pdf.ocr_page import OcrPage
from tests.citations.readers.pdf.papers import columns, paper, photographed, write
from tests.programs import require
from transcripts.core.installation import install_command

SAID = "The learning rate sets how far a single step goes. Größe und Straße stay as they are."
WORDS = 12  # of a thousand characters that may be misread


@pytest.fixture(autouse=True)
def has_engine() -> None:
    require("" if engine.is_installed() else "OCR is not installed: pip install 'cuebase[ocr]'")


def page_of(path: Path, number: int = 1) -> tuple[OcrPage, str]:
    """Return what is read on a page, and its text as it is stored."""
    picture = reader.render_at(path, number, dpi=engine.DPI, most=engine.MAX_SIDE)
    read = engine.read(picture)
    (page, *_) = reader.read(path, most_pages=10, first=number, ocr=lambda _: read)
    return read, page.text


def said(path: Path) -> Path:
    def draw(canvas: Canvas) -> None:
        write(canvas, SAID, width=50)

    return paper(path, [draw])


@pytest.mark.parametrize(("skew", "turn"), [(0.0, 0), (1.5, 0), (-1.0, 1), (0.0, 2)])
def test_a_page_is_read_however_it_lay_in_the_scanner(
    tmp_path: Path, skew: float, turn: int
) -> None:
    scan = photographed(tmp_path / "scan.pdf", said(tmp_path / "a.pdf"), skew=skew, turn=turn)
    read, text = page_of(scan)
    assert text == SAID
    assert read.score > 0.9
    assert read.is_readable
    assert read.engine.startswith("RapidOCR 3")


@pytest.mark.parametrize("turn", [0, 1, 2])
def test_words_are_boxed_where_the_picture_shows_them(tmp_path: Path, turn: int) -> None:
    scan = photographed(tmp_path / "scan.pdf", said(tmp_path / "a.pdf"), skew=1.0, turn=turn)
    read, text = page_of(scan)
    first = text.index("learning rate")

    def lookup(number: int) -> OcrPage:
        return read

    boxes = reader.boxes(scan, 1, first, first + len("learning rate"), ocr=lookup)
    with Image.open(io.BytesIO(reader.render(scan, 1, width=1000))) as picture:
        grey = picture.convert("L")
        for box in boxes:
            left, top = box.left * grey.width, box.top * grey.height
            right, bottom = left + box.width * grey.width, top + box.height * grey.height
            inside = grey.crop((round(left), round(top), round(right), round(bottom)))
            assert min(inside.tobytes()) < 100
    length = sum(box.width if turn % 2 == 0 else box.height for box in boxes)
    assert 0.05 < length < 0.2


def test_columns_are_read_one_after_the_other(tmp_path: Path) -> None:
    scan = photographed(tmp_path / "scan.pdf", columns(tmp_path / "a.pdf"))
    _, text = page_of(scan)
    places = [text.index(f"{side} {word}") for side in ("Left", "Right") for word in ("b", "e")]
    assert places == sorted(places)


def test_letters_of_scripts_that_the_models_do_not_know_are_no_words() -> None:
    font = ImageFont.truetype("DejaVuSans.ttf", 32)
    image = Image.new("RGB", (1400, 200), "white")
    russian = "Все люди рождаются свободными и равными"
    ImageDraw.Draw(image).text((40, 60), f"{russian}\n{russian}", font=font, fill="black")
    file = io.BytesIO()
    image.save(file, "PNG")
    read = engine.read(file.getvalue())
    assert not read.is_readable
    assert not read.glyphs(600, 100).codes


def test_an_empty_page_has_no_words() -> None:
    file = io.BytesIO()
    Image.new("L", (800, 1000), 255).save(file, "PNG")
    read = engine.read(file.getvalue())
    assert (read.text, read.score, read.is_readable) == ("", 0.0, True)


@pytest.mark.parametrize("data", [b"no picture", b"\x89PNG\r\n\x1a\n"])
def test_what_is_no_picture_is_refused(data: bytes) -> None:
    with pytest.raises(OcrFailed):
        engine.read(data)


def test_a_picture_that_is_too_large_is_refused() -> None:
    file = io.BytesIO()
    Image.new("1", (30_000, 30_000)).save(file, "PNG")
    with pytest.raises(OcrFailed):
        engine.read(file.getvalue())


def test_without_its_packages_it_says_how_to_install_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "is_installed", lambda: False)
    with pytest.raises(OcrMissing) as raised:
        engine.read(b"")
    assert install_command("ocr") in raised.value.hint

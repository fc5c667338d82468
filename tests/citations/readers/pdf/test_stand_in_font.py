"""Text is read though neither the file nor the system has a font for it."""

from pathlib import Path

from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfgen.canvas import Canvas

from citations.readers.pdf import reader
from citations.readers.pdf.stand_in_font import font
from tests.citations.readers.pdf.papers import paper, write

JAPANESE, CHINESE = "HeiseiMin-W3", "STSong-Light"


def text_of(path: Path, name: str, *lines: str) -> str:
    def draw(canvas: Canvas) -> None:
        pdfmetrics.registerFont(UnicodeCIDFont(name))
        canvas.setFont(name, 12)
        for place, line in enumerate(lines):
            canvas.drawString(72, 700 - 16 * place, line)
        canvas.setFont("Helvetica", 12)
        write(canvas, "A line in Latin letters.", y=500)

    [page] = reader.read(paper(path, [draw]), most_pages=1)
    return page.text


def test_letters_without_a_font_are_read(tmp_path: Path) -> None:
    text = text_of(tmp_path / "a.pdf", CHINESE, "水的温度决定茶的味道")
    assert "水的温度决定茶的味道" in text
    assert "A line in Latin letters." in text


def test_no_spaces_part_the_lines_of_a_script_without_spaces(tmp_path: Path) -> None:
    lines = "今日は朝から雨が降っていて庭の木", "の葉がとても静かに揺れています"
    assert "".join(lines) in text_of(tmp_path / "a.pdf", JAPANESE, *lines)


def test_the_font_has_one_shape_for_all_characters() -> None:
    data = font()
    assert data.startswith(b"\0\1\0\0")
    assert len(data) < 600

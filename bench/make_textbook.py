"""Make the sample textbook, a PDF, from its text: the same bytes every time.

python bench/make_textbook.py [FILE]

The text's lines begin with what they are: ``%`` title page, ``#`` chapter, ``##`` section (each on
a page of its own), ``$`` formula, ``=`` listing, ``|`` row of a table, ``*`` point of a list, ``!``
figure, ``?`` exercise; anything else is a paragraph.
"""

import math
import sys
from collections.abc import Callable, Iterator
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from reportlab.lib.colors import Color, HexColor
from reportlab.lib.enums import TA_CENTER
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import cm
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import (
    BaseDocTemplate,
    Flowable,
    Frame,
    PageBreak,
    PageTemplate,
    Paragraph,
    Preformatted,
    Spacer,
    Table,
)

FOLDER: Final = Path(__file__).resolve().parent.parent / "citations" / "sample"
TEXT, BOOK = FOLDER / "textbook.txt", FOLDER / "counting-waiting-keeping-time.pdf"

Flowables = Iterator[Flowable]
SIZE: Final = (17 * cm, 24 * cm)
MARGIN: Final = 2.1 * cm
FRONT: Final = 2  # pages before page 1
INK, TEAL = HexColor("#1d1c1a"), HexColor("#0b655d")
PALE, GREY = HexColor("#e1f0ed"), HexColor("#6b665c")

BODY: Final = ParagraphStyle(
    "body", fontName="Times-Roman", fontSize=10.6, leading=14.6, spaceAfter=6.5, textColor=INK
)
BOLD: Final = {"fontName": "Times-Bold"}
ITALIC: Final = {"fontName": "Times-Italic"}
CODE: Final = {"fontName": "Courier"}
HEADING: Final = {**BOLD, "fontSize": 14.5, "leading": 19, "spaceAfter": 10}
LOOKS: Final[dict[str, dict[str, Any]]] = {
    "title": {**BOLD, "fontSize": 27, "leading": 32, "spaceBefore": 5 * cm, "spaceAfter": 14},
    "subtitle": {**ITALIC, "fontSize": 14, "leading": 19, "textColor": GREY, "spaceAfter": 10 * cm},
    "author": {"fontSize": 11, "textColor": TEAL},
    "chapter": {**BOLD, "fontSize": 19, "leading": 24, "textColor": TEAL, "spaceAfter": 13},
    "section": HEADING,
    "contents": HEADING,
    "entry": {"spaceAfter": 3},
    "formula": {**ITALIC, "alignment": TA_CENTER, "spaceBefore": 3, "spaceAfter": 10},
    "point": {"leftIndent": 14, "bulletIndent": 3, "spaceAfter": 4},
    "listing": {**CODE, "fontSize": 9.2, "leading": 12.5, "leftIndent": 14, "spaceAfter": 9},
    "exercise": {**ITALIC, "backColor": PALE, "borderPadding": (5, 7, 6, 7), "spaceBefore": 9},
}
STYLES: Final = {name: ParagraphStyle(name, BODY, **look) for name, look in LOOKS.items()}


def make(path: Path = BOOK) -> Path:
    lines = TEXT.read_text(encoding="utf-8").splitlines()
    title, subtitle, author = (line[2:] for line in lines if line.startswith("% "))
    book = _Book(path, pagesize=SIZE, title=title, author=author, lang="en", invariant=1)
    names = {"title": title, "subtitle": subtitle, "author": author}
    head = [Paragraph(text, STYLES[name]) for name, text in names.items()]
    body = (line for line in lines if not line.startswith("% "))
    book.build([*head, *_contents(lines), *_body(body)])
    return path


class _Book(BaseDocTemplate):  # type: ignore[misc]
    """Numbers the pages, as they are printed and as a reader's program shows them, and lists the
    sections in the outline.
    """

    def __init__(self, path: Path, **about: Any) -> None:
        super().__init__(str(path), **about)
        frame = Frame(MARGIN, MARGIN, SIZE[0] - 2 * MARGIN, SIZE[1] - 2 * MARGIN, 0, 0, 0, 0)
        self.addPageTemplates(PageTemplate(frames=[frame], onPage=_margins))

    def afterFlowable(self, flowable: Flowable) -> None:  # noqa: N802  reportlab's name
        level = {"chapter": 0, "section": 1}.get(getattr(flowable, "style", BODY).name)
        if level is not None:
            heading = flowable.getPlainText()
            self.canv.bookmarkPage(heading)
            self.canv.addOutlineEntry(heading, heading, level)


def _margins(canvas: Canvas, book: _Book) -> None:
    number = canvas.getPageNumber()
    if number == 1:
        canvas.addPageLabel(0, style="ROMAN_LOWER")
        canvas.addPageLabel(FRONT, style="ARABIC")
        return
    canvas.setFont("Times-Roman", 8.8)
    canvas.setFillColor(GREY)
    shown = "ii" if number <= FRONT else str(number - FRONT)
    canvas.drawCentredString(SIZE[0] / 2, 1.2 * cm, shown)
    canvas.drawString(MARGIN, SIZE[1] - 1.35 * cm, book.title)


def _contents(lines: list[str]) -> Flowables:
    yield PageBreak()
    yield Paragraph("Contents", STYLES["contents"])
    headings = [line for line in lines if line.startswith("#")]
    for page, line in enumerate(headings, start=1):
        name = escape(line.lstrip("# "))
        yield Paragraph(
            f"{f'<b>{name}</b>' if line.startswith('# ') else name}, page {page}", STYLES["entry"]
        )


def _body(lines: Iterator[str]) -> Flowables:
    for mark, group in groupby(filter(None, lines), key=_mark):
        body = [line if mark == "" else line[len(mark) :].strip() for line in group]
        if mark in ("#", "##"):
            yield PageBreak()
        yield from _FORMS[mark](body)


def _mark(line: str) -> str:
    first = line.split(" ", 1)[0] if not line.startswith("!") else "!"
    return first if first in _FORMS else ""


def _in(style: ParagraphStyle, bullet: str | None = None) -> Callable[[list[str]], Flowables]:
    return lambda lines: (Paragraph(escape(line), style, bulletText=bullet) for line in lines)


def _table(lines: list[str]) -> Flowables:
    rows = [[cell.strip() for cell in line.split("|")] for line in lines]
    look = [
        ("FONT", (0, 0), (-1, -1), "Times-Roman", 9.6),
        ("TEXTCOLOR", (0, 0), (-1, -1), INK),
        ("LINEBELOW", (0, 0), (-1, 0), 0.7, TEAL),
        ("FONT", (0, 0), (-1, 0), "Times-Bold", 9.6),
        ("TOPPADDING", (0, 0), (-1, -1), 2),
        ("BOTTOMPADDING", (0, 0), (-1, -1), 3),
    ]
    yield Table(rows, style=look, spaceBefore=2, spaceAfter=9, hAlign="CENTER")


def _exercise(lines: list[str]) -> Flowables:
    for line in lines:
        yield Spacer(1, 4)
        yield Paragraph(f"<b>Exercise.</b> {escape(line)}", STYLES["exercise"])


_FORMS: Final[dict[str, Callable[[list[str]], Flowables]]] = {
    "#": _in(STYLES["chapter"]),
    "##": _in(STYLES["section"]),
    "$": _in(STYLES["formula"]),
    "=": lambda lines: iter([Preformatted("\n".join(lines), STYLES["listing"])]),
    "|": _table,
    "*": _in(STYLES["point"], "•"),
    "!": lambda names: map(_Figure, names),
    "?": _exercise,
    "": _in(BODY),
}


class _Figure(Flowable):  # type: ignore[misc]
    def __init__(self, name: str) -> None:
        super().__init__()
        self.draw_on, self.height = _DRAWINGS[name]
        self.width = SIZE[0] - 2 * MARGIN
        self.spaceBefore, self.spaceAfter = 4, 10

    def wrap(self, *_: float) -> tuple[float, float]:
        return self.width, self.height

    def draw(self) -> None:
        self.canv.setLineWidth(1.1)
        self.draw_on(self.canv, self.width)


def _label(canvas: Canvas, x: float, y: float, text: str, colour: Color = INK) -> None:
    canvas.setFont("Helvetica", 8)
    canvas.setFillColor(colour)
    canvas.drawCentredString(x, y, text)


def _arrow(canvas: Canvas, start: tuple[float, float], end: tuple[float, float]) -> None:
    canvas.setStrokeColor(GREY)
    canvas.line(*start, *end)
    angle = math.atan2(end[1] - start[1], end[0] - start[0])
    for turn in (2.7, -2.7):
        canvas.line(*end, end[0] + 5 * math.cos(angle + turn), end[1] + 5 * math.sin(angle + turn))


def _box(
    canvas: Canvas, x: float, y: float, text: str, *, width: float = 74, colour: Color = PALE
) -> None:
    canvas.setFillColor(colour)
    canvas.setStrokeColor(TEAL)
    canvas.roundRect(x - width / 2, y - 12, width, 24, 5, fill=1)
    _label(canvas, x, y - 3, text)


def _saturation(canvas: Canvas, width: float) -> None:
    left, right, ceiling = 70.0, width - 60, 96.0
    canvas.setStrokeColor(GREY)
    canvas.line(left, 16, right, 16)
    canvas.line(left, 16, left, 112)
    canvas.setDash(2, 3)
    canvas.line(left, ceiling, right, ceiling)
    canvas.setDash()
    canvas.setStrokeColor(TEAL)
    path = canvas.beginPath()
    path.moveTo(left, 16)
    for step in range(1, 101):
        count = step / 5
        path.lineTo(left + step * (right - left) / 100, 16 + (ceiling - 16) * count / (count + 1.5))
    canvas.drawPath(path)
    _label(canvas, left - 24, ceiling - 3, "k1 + 1", GREY)
    _label(canvas, right + 18, 13, "tf = 20", GREY)


def _waves(canvas: Canvas, width: float) -> None:
    jitter = (0.5, 0.2, 0.15, 0.3, 0.25, 0.2, 0.15, 0.2, 0.25)
    rows = (("in step", (1, 0, 0, 1, 0, 0, 0, 0, 1)), ("with jitter", jitter))
    for row, (name, heights) in enumerate(rows):
        floor = 62.0 - 52 * row
        canvas.setStrokeColor(GREY)
        canvas.line(90, floor, width - 20, floor)
        _label(canvas, 50, floor + 6, name, GREY)
        canvas.setFillColor(TEAL)
        for place, height in enumerate(heights):
            canvas.rect(100 + place * (width - 140) / 9, floor, 14, 38 * height, stroke=0, fill=1)


def _breaker(canvas: Canvas, width: float) -> None:
    left, middle, right = 60.0, width / 2, width - 60
    for x, name in ((left, "closed"), (middle, "open"), (right, "probing")):
        _box(canvas, x, 40, name)
    _arrow(canvas, (left + 40, 44), (middle - 40, 44))
    _label(canvas, (left + middle) / 2, 52, "refused", GREY)
    _arrow(canvas, (middle + 40, 44), (right - 40, 44))
    _label(canvas, (middle + right) / 2, 52, "time is over", GREY)
    _arrow(canvas, (right - 40, 34), (middle + 40, 34))
    _label(canvas, (middle + right) / 2, 22, "refused again", GREY)
    canvas.line(right, 28, right, 8)
    canvas.line(right, 8, left, 8)
    _arrow(canvas, (left, 8), (left, 27))
    _label(canvas, middle, 0, "answered", GREY)


def _gate(canvas: Canvas, width: float) -> None:
    middle = width / 2
    for row in range(4):
        _box(canvas, 56, 106 - row * 29, f"worker {row + 1}")
        _arrow(canvas, (94, 106 - row * 29), (middle - 44, 62 + (1.5 - row) * 4))
    _box(canvas, middle, 62, "one row", width=84, colour=HexColor("#ffe694"))
    _arrow(canvas, (middle + 44, 62), (width - 102, 62))
    _box(canvas, width - 60, 62, "the service", width=82)


def _rolling(canvas: Canvas, width: float) -> None:
    shown = (("", "no service is"), ("no service is", "obliged to"), ("obliged to", "answer us"))
    colours = (HexColor("#b9b4a8"), HexColor("#ffffff"))
    for column, lines in enumerate(shown):
        left = 20 + column * (width - 30) / 3
        canvas.setFillColor(HexColor("#2b2d33"))
        canvas.roundRect(left, 4, (width - 60) / 3, 44, 5, stroke=0, fill=1)
        for row, (text, colour) in enumerate(zip(lines, colours, strict=True)):
            _label(canvas, left + (width - 60) / 6, 32 - 18 * row, text, colour)


_DRAWINGS: Final[dict[str, tuple[Callable[[Canvas, float], None], float]]] = {
    "saturation": (_saturation, 118),
    "waves": (_waves, 108),
    "breaker": (_breaker, 66),
    "gate": (_gate, 122),
    "rolling": (_rolling, 56),
}

if __name__ == "__main__":
    make(*map(Path, sys.argv[1:]))

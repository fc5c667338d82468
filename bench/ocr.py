"""OCR of ten pages that are made from known text: words read wrong, seconds a page, memory."""

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import perf_counter

from harness.environment import arguments, boot, command, machine

boot(database=False)

from harness.report import publish, table
from rapidfuzz.distance import Levenshtein
from reportlab.pdfgen.canvas import Canvas

from citations.readers.ocr import engine
from citations.readers.pdf import reader
from citations.samples import TEXTBOOK
from tests.citations.readers.pdf.papers import paper, photographed, write
from tests.footprint import footprint

KINDS = {  # dots per inch, skew in degrees, columns, blur in pixels with noise
    "300 dpi": (300, 0.0, 1, 0.0),
    "150 dpi": (150, 0.0, 1, 0.0),
    "200 dpi, skewed by 1.5°": (200, 1.5, 1, 0.0),
    "200 dpi, two columns": (200, 0.0, 2, 0.0),
    "150 dpi, blurred and noisy": (150, 0.0, 1, 1.2),
}


def main() -> None:
    arguments(__doc__)
    heads = ("page of 350 words", "font", "words wrong", "score", "s", "MB of the engine")
    publish("Pages read by OCR", f"{command()}, {machine()}.", table(heads, rows(), left=2))


def rows() -> Iterator[Sequence[object]]:
    pages = reader.read(TEXTBOOK, most_pages=50)
    words = [word for page in pages for word in page.text.split() if word.isascii()]
    engine.read(reader.render(TEXTBOOK, 1, width=800))  # loads the models
    for place, kind in enumerate(KINDS):
        for font in ("Times-Roman", "Helvetica"):
            yield kind, font, *measured(words[300 * place :][:350], font, *KINDS[kind])


def measured(
    words: Sequence[str], font: str, dpi: int, skew: float, columns: int, blur: float
) -> Sequence[str]:
    def draw(canvas: Canvas) -> None:
        canvas.setFont(font, 11)
        size = -(-len(words) // columns)
        for column in range(columns):
            text = " ".join(words[column * size : (column + 1) * size])
            write(canvas, text, x=60 + 250 * column, y=760, width=80 // columns, step=14)

    with tempfile.TemporaryDirectory() as folder, footprint() as used:
        scan, typed = Path(folder) / "scan.pdf", paper(Path(folder) / "typed.pdf", [draw])
        photographed(scan, typed, dpi=dpi, skew=skew, blur=blur)
        began = perf_counter()
        read = engine.read(reader.render_at(scan, 1, dpi=engine.DPI, most=engine.MAX_SIDE))
        seconds = perf_counter() - began
        (page,) = reader.read(scan, most_pages=1, ocr=lambda _: read)
    wrong = Levenshtein.normalized_distance(words, page.text.split())
    return f"{wrong:.1%}", f"{read.score:.2f}", f"{seconds:.1f}", f"{used.child / 2**20:.0f}"


if __name__ == "__main__":
    main()

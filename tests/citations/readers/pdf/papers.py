"""PDF files made for tests: each function writes one and returns its path."""

import io
import textwrap
from collections.abc import Callable, Sequence
from contextlib import closing
from itertools import zip_longest
from pathlib import Path

from PIL import Image, ImageFilter
from pypdfium2 import PdfDocument
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

WIDTH, HEIGHT = 595.0, 842.0  # A4, in points
LOSS = (
    "Gradient descent walks downhill on the surface of the loss, one small step at a time, and"
    " the size of the step is the learning rate. "
    "When the rate is too large the walk overshoots the valley; when it is too small it takes"
    " for ever. "
)

Draw = Callable[[Canvas], object]


def paper(
    path: Path,
    pages: Sequence[Draw],
    *,
    password: str | None = None,
    size: tuple[float, float] = (WIDTH, HEIGHT),
) -> Path:
    """Write a file with a page for each of ``pages``."""
    encrypt = StandardEncryption(password, ownerPassword="owner") if password is not None else None
    canvas = Canvas(str(path), pagesize=size, encrypt=encrypt, invariant=1)
    for draw in pages:
        canvas.setFont("Helvetica", 10)
        draw(canvas)
        canvas.showPage()
    canvas.save()
    return path


def write(
    canvas: Canvas, text: str, *, x: float = 72, y: float = 700, width: int = 80, step: float = 12
) -> float:
    """Set a paragraph, lines of at most ``width`` characters; returns where the next line would
    stand.
    """
    for line in textwrap.wrap(text, width):
        canvas.drawString(x, y, line)
        y -= step
    return y


def book(path: Path, pages: int, *, chapter: int = 6) -> Path:
    """Write pages with the chapter in a running head, a number at the foot, and an outline.

    Their texts begin in different words.
    """
    words = LOSS.split()

    def draw(number: int) -> Draw:
        def page(canvas: Canvas) -> None:
            about = (number - 1) // chapter + 1
            canvas.drawString(72, 800, f"Chapter {about}   On matters of kind {about}")
            canvas.drawCentredString(WIDTH / 2, 30, str(number))
            if (number - 1) % chapter == 0:
                canvas.bookmarkPage(f"chapter {about}")
                canvas.addOutlineEntry(f"{about} On matters of kind {about}", f"chapter {about}", 0)
                canvas.setFont("Helvetica-Bold", 18)
                canvas.drawString(72, 740, f"{about} On matters of kind {about}")
                canvas.setFont("Helvetica", 10)
            turn = number % len(words)
            text = " ".join(words[turn:] + words[:turn])
            write(canvas, f"Page {number} speaks for itself. {text} {text} {text}")

        return page

    return paper(path, [draw(number) for number in range(1, pages + 1)])


def columns(path: Path, *, rotation: int = 0) -> Path:
    """Write a page with a title, two columns whose lines alternate in the file, and a paragraph
    below both; ``rotation`` turns the page.
    """

    def page(canvas: Canvas) -> None:
        canvas.setFont("Helvetica-Bold", 18)
        canvas.drawString(60, 780, "A title across both columns of the page")
        canvas.setFont("Helvetica", 10)
        both = (
            textwrap.wrap(f"{side} begins. {LOSS * 3} {side} ends.", 44)
            for side in ("Left", "Right")
        )
        for place, (left, right) in enumerate(zip_longest(*both, fillvalue="")):
            canvas.drawString(60, 740 - 12 * place, left)
            canvas.drawString(320, 740 - 12 * place, right)
        write(
            canvas,
            "Below the columns a paragraph runs over the whole width of the page, and it says"
            " something else than they do.",
            x=60,
            y=300,
            width=95,
        )
        canvas.setPageRotation(rotation)

    return paper(
        path, [page], size=(WIDTH, HEIGHT) if rotation % 180 == 0 else (HEIGHT, WIDTH)
    )  # the canvas turns the sheet with the page


def marked(path: Path, *, rotation: int = 0, turn: float = 0) -> Path:
    """Write a page with black words, one red among them; the words run at ``turn`` degrees."""

    def page(canvas: Canvas) -> None:
        canvas.saveState()
        canvas.translate(300, 400)
        canvas.rotate(turn)
        canvas.setFont("Helvetica", 14)
        canvas.drawString(0, 0, "before")
        canvas.setFillColorRGB(1, 0, 0)
        canvas.drawString(60, 0, "GLYPH")
        canvas.setFillColorRGB(0, 0, 0)
        canvas.drawString(120, 0, "behind")
        canvas.restoreState()
        canvas.setPageRotation(rotation)

    return paper(path, [page], size=(WIDTH, HEIGHT) if rotation % 180 == 0 else (HEIGHT, WIDTH))


def photographed(
    path: Path, source: Path, *, dpi: int = 150, skew: float = 0.0, turn: int = 0, blur: float = 0.0
) -> Path:
    """Write the pages of a file as pictures; ``skew`` is in degrees, ``turn`` in quarter turns.

    Pictures with ``blur`` (pixels) are noisy, too.
    """
    with closing(PdfDocument(source)) as document:
        pictures = [page.render(scale=dpi / 72).to_pil().convert("L") for page in document]
    if blur:
        pictures = [_noisy(picture, blur) for picture in pictures]
    skewed = [
        picture.rotate(skew, fillcolor=255, resample=Image.Resampling.BICUBIC).rotate(
            90 * turn, expand=True
        )
        for picture in pictures
    ]
    skewed[0].save(path, "PDF", resolution=dpi, save_all=True, append_images=skewed[1:])
    return path


def _noisy(picture: Image.Image, blur: float) -> Image.Image:
    noise = Image.effect_noise(picture.size, 60)
    return Image.blend(picture.filter(ImageFilter.GaussianBlur(blur)), noise, 0.2)


def scanned(path: Path, pages: int = 2) -> Path:
    """Write pages that are pictures."""
    picture = io.BytesIO()
    Image.new("L", (60, 80), 200).save(picture, "PNG")
    return paper(
        path,
        [
            lambda canvas: canvas.drawImage(
                ImageReader(io.BytesIO(picture.getvalue())), 0, 0, WIDTH, HEIGHT
            )
        ]
        * pages,
    )


def layered(path: Path, content: str, *, forms: Sequence[tuple[str, str]] = ()) -> Path:
    """Write a page with layers that content calls /On and /Off; ``forms`` are what its form
    XObjects /X0, /X1 … say of themselves, and their content. Its font is /F.
    """
    names = "/Font << /F 5 0 R >> /Properties << /On 6 0 R /Off 7 0 R >>"
    drawn = " ".join(f"/X{number} {8 + number} 0 R" for number in range(len(forms)))
    streams = [("", content)] + [
        (f"/Type /XObject /Subtype /Form /BBox [0 0 600 800] /Resources << {names} >> {about}", own)
        for about, own in forms
    ]
    first, *others = [
        f"<< {about} /Length {len(own)} >>\nstream\n{own}\nendstream" for about, own in streams
    ]
    objects = [
        "<< /Type /Catalog /Pages 2 0 R /OCProperties"
        " << /OCGs [6 0 R 7 0 R] /D << /OFF [7 0 R] /Order [6 0 R 7 0 R] >> >> >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R"
        f" /Resources << {names} /XObject << {drawn} >> >> >>",
        first,
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        "<< /Type /OCG /Name (English) >>",
        "<< /Type /OCG /Name (German) >>",
        *others,
    ]
    lines = [f"{number} 0 obj\n{own}\nendobj" for number, own in enumerate(objects, 1)]
    path.write_text("\n".join(["%PDF-1.5", *lines, "trailer << /Root 1 0 R >>", "%%EOF"]))
    return path

"""Program of the child process that makes a PDF file of a picture: a page of each of its frames.

``child_loop`` has the protocol: a request has the ``path`` of a picture, the path ``to`` which the
PDF is written, and the most frames that are made pages.
"""

import io
from collections.abc import Iterator
from typing import Any, Final

import pypdfium2
from PIL import Image, ImageOps

from citations.readers import child_loop

MEMORY: Final = 2 * 1024**3  # bytes of address space
IDLE: Final = 60  # seconds
FORMATS: Final = ("PNG", "JPEG", "TIFF", "WEBP")
MAX_PIXELS: Final = 120_000_000  # of a frame: those of the largest cameras
MAX_SIDE: Final = 4_000  # pixels; what is larger is kept smaller
MAX_BYTES: Final = 500_000_000  # of all pages
DPI: Final = 200  # of the pages, whatever a picture says: OCR reads as many pixels as there are
QUALITY: Final = 90  # of JPEG


class PictureTooLarge(Exception):
    """What there is too much of is the answer to the request."""


def main() -> None:
    """Answer requests."""
    child_loop.set_limits(MEMORY)
    Image.MAX_IMAGE_PIXELS = MAX_PIXELS // 2  # Pillow refuses twice as many
    child_loop.serve(_answer, idle=IDLE)


def _answer(request: dict[str, Any]) -> child_loop.Answer:
    try:
        with Image.open(request["path"], formats=FORMATS) as picture:
            pdf = _pdf(_frames(picture, request["most"]))
        pdf.save(request["to"])
        pdf.close()
    except PictureTooLarge as error:
        return {"refused": str(error)}, ()
    except Image.DecompressionBombError:
        return {"refused": "pixels"}, ()
    except Exception as error:  # noqa: BLE001 - a hostile file may raise anything
        return {"refused": "broken", "detail": f"{type(error).__name__}: {error}"[:300]}, ()
    return {}, ()


def _frames(picture: Image.Image, most: int) -> Iterator[Image.Image]:
    """Yield the pages of a TIFF file, else the picture, or the first of one that moves."""
    count = getattr(picture, "n_frames", 1) if picture.format == "TIFF" else 1
    if count > most:
        raise PictureTooLarge("pages")
    for number in range(count):
        picture.seek(number)
        if picture.width * picture.height > MAX_PIXELS:  # before it is decoded
            raise PictureTooLarge("pixels")
        picture.draft("RGB", (MAX_SIDE, MAX_SIDE))
        yield _on_white(ImageOps.exif_transpose(picture))


def _on_white(picture: Image.Image) -> Image.Image:
    """Return a picture in grey or colours, without transparency."""
    if picture.mode.startswith("I;16"):
        picture = picture.point(lambda value: value / 256).convert("L")
    picture.thumbnail((MAX_SIDE, MAX_SIDE))
    if picture.has_transparency_data:
        upper = picture.convert("RGBA")
        picture = Image.new("RGBA", upper.size, "white")
        picture.alpha_composite(upper)
    return picture.convert("L" if picture.mode in ("1", "L") else "RGB")


def _pdf(frames: Iterator[Image.Image]) -> pypdfium2.PdfDocument:
    pdf = pypdfium2.PdfDocument.new()
    size = 0
    for frame in frames:
        data = io.BytesIO()
        frame.save(data, "JPEG", quality=QUALITY)
        size += len(data.getbuffer())
        if size > MAX_BYTES:
            raise PictureTooLarge("bytes")
        image = pypdfium2.PdfImage.new(pdf)
        image.load_jpeg(data, inline=True)
        width, height = (72 / DPI * side for side in frame.size)
        image.set_matrix(pypdfium2.PdfMatrix().scale(width, height))
        page = pdf.new_page(width, height)
        page.insert_obj(image)
        page.gen_content()
        page.close()
    return pdf


if __name__ == "__main__":
    main()

"""A picture becomes a PDF that shows it, upright and on white; a hostile one is refused."""

import zlib
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy
import pytest
from PIL import Image

from citations.errors import DocumentBroken, DocumentTooLarge
from citations.formats import PICTURES
from citations.readers import recognition
from citations.readers.pdf import reader as pdf_reader
from citations.readers.pictures import reader

SIZE = (300, 200)
TURNED = Image.Exif()
TURNED[0x0112] = 6  # shown turned to the right


def made(mode: str, format: str, *, frames: int = 1, **how: Any) -> bytes:
    """Return a picture whose left third is black."""
    picture = Image.new("RGB", SIZE, "white")
    picture.paste("black", (0, 0, 100, 200))
    if mode == "RGBA":
        picture = picture.convert("RGBA")
        picture.putalpha(Image.eval(picture.convert("L"), lambda value: 255 - value))
    if mode == "I;16":
        picture = Image.fromarray(257 * numpy.asarray(picture.convert("L")).astype("uint16"))
    data = BytesIO()
    copies = [picture.convert(mode)] * frames
    more = {"save_all": True, "append_images": copies[1:]} if frames > 1 else {}
    copies[0].save(data, format, **more, **how)
    return data.getvalue()


def drawn(data: bytes, folder: Path, *, most_pages: int = 10) -> list[Image.Image]:
    """Return the pages of the PDF that is made of a picture."""
    path, pdf = folder / "picture", folder / "made.pdf"
    path.write_bytes(data)
    reader.to_pdf(path, pdf, most_pages=most_pages)
    count = pdf_reader.describe(pdf).page_count
    images = [pdf_reader.render(pdf, number, width=300) for number in range(1, count + 1)]
    return [Image.open(BytesIO(image)).convert("L") for image in images]


def brightness(page: Image.Image, x: int, y: int) -> int:
    """Return how bright a page is there, 0 to 255."""
    return page.crop((x, y, x + 1, y + 1)).tobytes()[0]


@pytest.mark.parametrize(
    ("mode", "format"),
    [
        *(("RGB", "PNG"), ("RGBA", "PNG"), ("P", "PNG"), ("1", "PNG"), ("I;16", "PNG")),
        *(("RGB", "JPEG"), ("CMYK", "JPEG"), ("RGB", "WEBP"), ("1", "TIFF"), ("L", "TIFF")),
    ],
)
def test_a_picture_is_a_page_whatever_its_colours(mode: str, format: str, tmp_path: Path) -> None:
    data = made(mode, format)
    known = recognition.recognise(recognition.read_head(BytesIO(data)), "x")
    assert known in PICTURES
    [page] = drawn(data, tmp_path)
    assert page.size == SIZE
    assert brightness(page, 250, 100) > 240
    assert brightness(page, 50, 100) < 16


def test_a_photograph_is_turned_as_its_camera_says(tmp_path: Path) -> None:
    [page] = drawn(made("RGB", "JPEG", exif=TURNED), tmp_path)
    assert page.size == (300, 450)
    assert brightness(page, 150, 50) < 16
    assert brightness(page, 150, 400) > 240


def test_each_page_of_a_tiff_is_one(tmp_path: Path) -> None:
    data = made("1", "TIFF", frames=3, compression="group4")
    assert len(drawn(data, tmp_path)) == 3
    with pytest.raises(DocumentTooLarge, match="more pages"):
        drawn(data, tmp_path, most_pages=2)


def test_of_a_picture_that_moves_the_first_is_read(tmp_path: Path) -> None:
    assert len(drawn(made("RGB", "WEBP", frames=3, lossless=True), tmp_path)) == 1


def declared(width: int, height: int) -> bytes:
    """Return a PNG of a kilobyte that says it is so large."""
    head = width.to_bytes(4) + height.to_bytes(4) + bytes((8, 2, 0, 0, 0))
    chunks = ((b"IHDR", head), (b"IDAT", zlib.compress(bytes(1_000_000))), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        len(data).to_bytes(4) + name + data + zlib.crc32(name + data).to_bytes(4)
        for name, data in chunks
    )


@pytest.mark.parametrize("size", [(60_000, 60_000), (12_000, 10_001), (2**31 - 1, 1)])
def test_a_picture_of_too_many_pixels_is_refused_by_what_it_declares(
    size: tuple[int, int], tmp_path: Path
) -> None:
    with pytest.raises(DocumentTooLarge, match="pixels"):
        drawn(declared(*size), tmp_path)


@pytest.mark.parametrize(
    "break_it",
    [
        lambda data: data[: len(data) // 2],
        lambda data: data[:40] + bytes(len(data) - 40),
        lambda _: b"\x89PNG\r\n\x1a\n",
        lambda _: made("RGB", "GIF"),
        lambda _: b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n",
    ],
    ids=["cut", "zeros", "nothing", "another format", "a program"],
)
def test_a_damaged_picture_and_what_is_none_are_refused(
    break_it: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    with pytest.raises(DocumentBroken):
        drawn(break_it(made("RGB", "PNG")), tmp_path)

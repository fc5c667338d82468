"""Small PDF files that would take gigabytes, hours or an endless stack to read."""

import os
import zlib
from collections.abc import Callable, Sequence
from typing import Final

MEGABYTE = 1 << 20
_RESOURCES = b"<</Font<</F 4 0 R>>/XObject<</X 6 0 R>>>>"


def _file(objects: Sequence[bytes], *, trailer: bytes = b"") -> bytes:
    """Write objects, the first of which is the catalogue, with their cross-reference table."""
    out, offsets = bytearray(b"%PDF-1.7\n"), []
    for number, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start, count = len(out), len(objects) + 1
    out += b"xref\n0 %d\n0000000000 65535 f \n" % count
    out += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    out += b"trailer <</Size %d/Root 1 0 R%s>>\nstartxref\n%d\n%%%%EOF" % (count, trailer, start)
    return bytes(out)


def _stream(data: bytes, about: bytes = b"") -> bytes:
    return b"<<%s/Length %d>>stream\n%s\nendstream" % (about, len(data), data)


def page(content: bytes, *more: bytes, boxes: bytes = b"/MediaBox[0 0 612 792]") -> bytes:
    """Write a page with a compressed content, and further objects from number 6 on.

    ``boxes`` are the entries that say how large it is, and how it is turned.
    """
    return _file(
        [
            b"<</Type/Catalog/Pages 2 0 R>>",
            b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
            b"<</Type/Page/Parent 2 0 R%s/Resources%s/Contents 5 0 R>>" % (boxes, _RESOURCES),
            b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
            _stream(content, b"/Filter/FlateDecode"),
            *more,
        ]
    )


def heavy(pages: int, bytes_a_page: int) -> bytes:
    """Write pages with a sentence and an image of noise each."""
    side = int(bytes_a_page**0.5)
    about = (
        b"/Type/XObject/Subtype/Image/Width %d/Height %d/BitsPerComponent 8/ColorSpace/DeviceGray"
        % (side, side)
    )
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Count %d/Kids[%s]>>"
        % (pages, b" ".join(b"%d 0 R" % (4 + 3 * page) for page in range(pages))),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    for page in range(pages):
        first = 4 + 3 * page
        resources = b"<</Font<</F 3 0 R>>/XObject<</X %d 0 R>>>>" % (first + 2)
        said = b"BT /F 12 Tf 72 700 Td (Page %d speaks for itself.) Tj ET" % (page + 1)
        objects += (
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources%s/Contents %d 0 R>>"
            % (resources, first + 1),
            _stream(said + b" q 200 0 0 200 72 72 cm /X Do Q"),
            _stream(os.urandom(side * side), about),
        )
    return _file(objects)


def _inflating(piece: bytes, times: int) -> bytes:
    """Compress a piece repeated ``times``, in the time that one piece takes."""
    packer = zlib.compressobj(9)
    first = packer.compress(piece) + packer.flush(zlib.Z_FULL_FLUSH)
    block = packer.compress(piece) + packer.flush(zlib.Z_FULL_FLUSH)
    return first + block * (times - 1) + b"\x03\x00"


def _laughs(depth: int = 12) -> bytes:
    """Write forms each of which draws the next one twenty times."""
    about = b"/Type/XObject/Subtype/Form/BBox[0 0 600 700]/Resources<</XObject<</X %d 0 R>>>>"
    forms = [_stream(b"/X Do " * 20, about % (7 + number)) for number in range(depth)]
    return page(zlib.compress(b"/X Do"), *forms, _stream(b"0 0 5 5 re f", about % 6))


def _text(content: bytes) -> bytes:
    return zlib.compress(b"BT /F 12 Tf 72 700 Td (Still read) Tj ET " + content)


def _chain(length: int) -> bytes:
    """Write cross-reference tables each of which refers to the one before."""
    out = bytearray(page(_text(b"")))
    previous = int(out[out.rindex(b"startxref\n") + 10 :].split()[0])
    for _ in range(length):
        start = len(out) + 1
        out += b"\nxref\n0 0\ntrailer <</Size 6/Root 1 0 R/Prev %d>>\n" % previous
        previous = start
    return bytes(out) + b"startxref\n%d\n%%%%EOF" % previous


def _cycle() -> bytes:
    kids = (b"<</Type/Pages/Kids[%s]/Count 900>>" % kids for kids in (b"3 0 R 3 0 R", b"2 0 R"))
    return _file([b"<</Type/Catalog/Pages 2 0 R>>", *kids])


def _endless_outline() -> bytes:
    return _file(
        [
            b"<</Type/Catalog/Pages 2 0 R/Outlines 4 0 R>>",
            b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 700]>>",
            b"<</First 5 0 R/Last 5 0 R>>",
            b"<</Title(a)/Parent 4 0 R/Next 5 0 R/First 5 0 R/Dest[3 0 R/Fit]>>",
        ]
    )


BOMBS: Final[dict[str, Callable[[], bytes]]] = {
    "4 GB of spaces": lambda: page(_inflating(b" " * MEGABYTE, 4096)),
    "ten million operators": lambda: page(_inflating(b"0 0 m 1 1 l S\n" * 10_000, 1_000)),
    "200,000 letters on one line": lambda: page(
        zlib.compress(
            b"BT /F 8 Tf %s ET"
            % b"".join(b"1 0 0 1 %d 700 Tm (x) Tj\n" % (n % 600) for n in range(200_000))
        )
    ),
    "forms in forms in forms": _laughs,
    "an image of 60,000 pixels a side": lambda: page(
        _text(b"q 600 0 0 700 0 0 cm /X Do Q"),
        _stream(
            _inflating(bytes(MEGABYTE), 3_434),
            b"/Type/XObject/Subtype/Image/Width 60000/Height 60000/BitsPerComponent 8"
            b"/ColorSpace/DeviceGray/Filter/FlateDecode",
        ),
    ),
    "a million brackets": lambda: page(_text(b"[" * MEGABYTE + b"]" * MEGABYTE)),
    "a million saved states": lambda: page(_text(b"q " * MEGABYTE)),
    "a page of a kilometre": lambda: page(_text(b""), boxes=b"/MediaBox[0 0 999999 999999]"),
    "a page without end": lambda: page(_text(b""), boxes=b"/MediaBox[0 0 99999999999 99999999999]"),
    "pages that contain each other": _cycle,
    "two billion pages": lambda: _file(
        [
            b"<</Type/Catalog/Pages 2 0 R>>",
            b"<</Type/Pages/Kids[3 0 R]/Count 2000000000>>",
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 700]>>",
        ]
    ),
    "an outline that ends nowhere": _endless_outline,
    "100,000 tables": lambda: _chain(100_000),
}

"""Reads the characters of a page from PDFium: what they are, where they stand, how they are set."""

import ctypes
import math
from array import array
from contextlib import closing
from typing import Any

import pypdfium2
import pypdfium2.raw as pdfium

MAX_CHARACTERS = 200_000  # of a page
FARTHEST = 1e6  # points
NOWHERE = (-1.0,) * 6 + (1.0,)  # beside the page
# Bits of a character's style; the next two count the quarter turns of its direction.
GENERATED, BOLD, UNMAPPED = 1, 2, 64
OBLIQUE = 0.1  # radians, by which a line's direction differs from all quarter turns
UNKNOWN = 0xFFFD  # a glyph without a code point
HIGH, LOW = 0xD800 >> 10, 0xDC00 >> 10  # the halves of a letter beyond U+FFFF


def characters(page: pypdfium2.PdfPage, mark: int = 0) -> "list[array[Any]]":
    """Return the characters of a page; ``mark`` is a bit of the style of all."""
    codes, styles, geometry, angles = array("I"), array("B"), array("f"), array("f")
    a, b, c, d, e, f = display_matrix(page)
    left, right, bottom, top, x, y = (ctypes.c_double() for _ in range(6))
    with closing(page.get_textpage()) as text:
        raw = text.raw
        finder = CharacterStyles(raw, (a, b, c, d))
        for index in range(min(text.count_chars(), MAX_CHARACTERS)):
            pdfium.FPDFText_GetCharBox(raw, index, left, right, bottom, top)
            pdfium.FPDFText_GetCharOrigin(raw, index, x, y)
            x1, y1 = a * left.value + c * bottom.value + e, b * left.value + d * bottom.value + f
            x2, y2 = a * right.value + c * top.value + e, b * right.value + d * top.value + f
            code = pdfium.FPDFText_GetUnicode(raw, index)
            is_unmapped = pdfium.FPDFText_HasUnicodeMapError(raw, index) == 1
            code = _code_point(code) if is_unmapped else code or UNKNOWN
            if code >> 10 == LOW and codes and codes[-1] >> 10 == HIGH:
                codes[-1] = 0x10000 + ((codes[-1] & 0x3FF) << 10 | code & 0x3FF)
                continue  # one letter in UTF-16, and one place
            codes.append(code)
            style, size, angle = finder.of(index)
            styles.append(style | mark | UNMAPPED * is_unmapped)
            angles.append(angle)
            origin = a * x.value + c * y.value + e, b * x.value + d * y.value + f
            numbers = (min(x1, x2), min(y1, y2), max(x1, x2), max(y1, y2), *origin, size)
            # False for NaN, too.
            geometry.extend(numbers if -FARTHEST < sum(numbers) < FARTHEST else NOWHERE)
    return [codes, styles, geometry, angles]


def _code_point(code: int) -> int:
    """Return the letter of a code that no table of the file has, and that is sometimes in UTF-8."""
    if code < 0x80:
        return code
    letter = code.to_bytes(4, "big").lstrip(b"\0").decode("utf-8", "replace")
    if len(letter) == 1 and letter != chr(UNKNOWN):
        return ord(letter)
    return code if code <= 0x10FFFF else UNKNOWN


class CharacterStyles:
    """Finds the style, the size in points, and the angle of characters, the same for all of a text
    object: the clockwise direction of its line, 0.0 unless it is ``OBLIQUE``.
    """

    def __init__(self, text: Any, turn: tuple[float, float, float, float]) -> None:
        self._text, self._turn = text, turn
        self._object: int | None = None
        self._last = (0, 0.0, 0.0)
        self._matrix = pdfium.FS_MATRIX()
        self._name = ctypes.create_string_buffer(128)

    def of(self, index: int) -> tuple[int, float, float]:
        if pdfium.FPDFText_IsGenerated(self._text, index) == 1:
            return self._last[0] | GENERATED, *self._last[1:]
        pointer = pdfium.FPDFText_GetTextObject(self._text, index)
        address = ctypes.c_void_p.from_buffer(pointer).value
        if address is None or address != self._object:
            self._object, self._last = address, self._measured(index)
        return self._last

    def _measured(self, index: int) -> tuple[int, float, float]:
        matrix, (a, b, c, d) = self._matrix, self._turn
        pdfium.FPDFText_GetMatrix(self._text, index, matrix)
        size = pdfium.FPDFText_GetFontSize(self._text, index) * math.hypot(matrix.c, matrix.d)
        ahead = math.copysign(1, size)  # a negative one turns letters upside down
        across, down = a * matrix.a + c * matrix.b, b * matrix.a + d * matrix.b
        angle = math.atan2(ahead * down, ahead * across)
        quarter = round(angle / (math.pi / 2))
        is_oblique = abs(angle - quarter * math.pi / 2) > OBLIQUE
        style = (BOLD if self._is_bold(index) else 0) | quarter % 4 << 2
        return style, min(abs(size), 10_000.0), angle if is_oblique else 0.0

    def _is_bold(self, index: int) -> bool:
        pdfium.FPDFText_GetFontInfo(self._text, index, self._name, len(self._name), ctypes.c_int())
        name = self._name.value.lower()
        # PDFium guesses the weight from the width of the stems.
        return b"bold" in name or b"black" in name


def display_matrix(page: pypdfium2.PdfPage) -> tuple[float, float, float, float, float, float]:
    """Return (a, b, c, d, e, f) with displayed x = a·x + c·y + e and y = b·x + d·y + f.

    In points from the upper left corner of the displayed page, its rotation and boxes applied.
    """
    width, height = page.get_size()
    side = 10_000
    corners = []
    x, y = ctypes.c_double(), ctypes.c_double()
    for across, down in ((0, 0), (side, 0), (0, side)):
        pdfium.FPDF_DeviceToPage(page, 0, 0, side, side, 0, across, down, x, y)
        corners.append((x.value, y.value))
    (x0, y0), (x1, y1), (x2, y2) = corners
    # page = origin + (p, q) · across + (r, s) · down
    p, q, r, s = (x1 - x0) / width, (y1 - y0) / width, (x2 - x0) / height, (y2 - y0) / height
    scale = p * s - r * q
    a, c, b, d = s / scale, -r / scale, -q / scale, p / scale
    return a, b, c, d, -(a * x0 + c * y0), -(b * x0 + d * y0)

"""The program of the child process that reads and draws PDF pages with PDFium, which is not thread safe and which a hostile file may crash or hang.

It is run by its path and knows nothing of the project. It reads requests from standard input, one JSON object a line, and answers each on standard output
with four bytes (length, big endian) and JSON that says how many bytes of what follow. A request that takes longer than its ``seconds`` ends the process,
as do the end of the input, the end of the parent, and ten minutes without a request.
"""

import ctypes
import io
import json
import math
import os
import select
import signal
import sys
from array import array
from collections import OrderedDict
from pathlib import Path
from typing import Any

import pypdfium2
import pypdfium2.raw as pdfium

try:
    import resource
except ImportError:  # a system without limits
    resource = None  # type: ignore[assignment]

MEMORY = 3 * 512 * 1024**2  # bytes of addresses that the process may use
IDLE = 600  # seconds
OPEN_DOCUMENTS = 3
PAGES_AN_OPENING = 250  # after which a document is opened anew: PDFium keeps what it has parsed
MAX_CHARACTERS = 200_000  # of a page; the rest is dropped
MAX_OBJECTS, FEW_PATHS = 10_000, 20
MAX_PIXELS = 24_000_000  # of a picture
MAX_ENTRIES = 5_000  # of an outline
MAX_TITLE = 500  # characters
QUALITY = 88  # of the WebP pictures
FARTHEST = 1e6  # points, and points added up
NOWHERE = (-1.0,) * 6 + (1.0,)  # beside the page
GENERATED, BOLD = (
    1,
    2,
)  # bits of a character's style; the next two count the quarter turns of its direction
UNKNOWN = 0xFFFD  # for a glyph of which the file does not say what it means


class RequestRefused(Exception):
    """A request that is answered with a reason."""


class Documents:
    """The documents that were used last, kept open."""

    def __init__(self) -> None:
        self._open: OrderedDict[tuple[str, int, int], tuple[pypdfium2.PdfDocument, list[int]]] = (
            OrderedDict()
        )

    def find(self, path: str) -> pypdfium2.PdfDocument:
        """Return the document at ``path`` as it is on the disk now."""
        stat = Path(path).stat()
        key = (path, stat.st_ino, stat.st_size)
        document, uses = self._open.pop(key, (None, [0]))
        uses[0] += 1
        if document is not None and uses[0] > PAGES_AN_OPENING:
            document.close()
            document, uses = None, [1]
        self._open[key] = (document or _opened(path), uses)
        while len(self._open) > OPEN_DOCUMENTS:
            self._open.popitem(last=False)[1][0].close()
        return self._open[key][0]


def main() -> None:
    """Answer requests until there are no more."""
    _set_limits()
    documents, parent = Documents(), os.getppid()
    waiting = select.poll()
    waiting.register(0, select.POLLIN | select.POLLHUP)
    idle = 0
    while idle < IDLE and os.getppid() == parent:
        if not waiting.poll(10_000):
            idle += 10
            continue
        idle = 0
        line = sys.stdin.buffer.readline()
        if not line:
            return
        _answer(documents, json.loads(line))


def _set_limits() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides what an interrupt means
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    if resource is not None:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        try:
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        except (ValueError, OSError):
            return  # a system that does not know this limit


def _answer(documents: Documents, request: dict[str, Any]) -> None:
    signal.setitimer(
        signal.ITIMER_REAL, request["seconds"]
    )  # ends the process even within PDFium, and when the parent is gone
    try:
        header, blobs = DEEDS[request["do"]](documents, request)
    except RequestRefused as refusal:
        header, blobs = {"refused": str(refusal)}, []
    except Exception as error:  # noqa: BLE001 - whatever a hostile file brings about is an answer
        header, blobs = (
            {"refused": "broken", "detail": f"{type(error).__name__}: {error}"[:300]},
            [],
        )
    signal.setitimer(signal.ITIMER_REAL, 0)
    head = json.dumps({**header, "blobs": [len(blob) for blob in blobs]}).encode()
    out = sys.stdout.buffer
    out.write(len(head).to_bytes(4, "big") + head)
    for blob in blobs:
        out.write(blob)
    out.flush()


def _opened(path: str) -> pypdfium2.PdfDocument:
    try:
        return pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError as error:
        encrypted = getattr(error, "err_code", None) in (
            pdfium.FPDF_ERR_PASSWORD,
            pdfium.FPDF_ERR_SECURITY,
        )
        raise RequestRefused("encrypted" if encrypted else "broken") from error


# What is known of the document


def _describe(documents: Documents, request: dict[str, Any]) -> tuple[dict[str, Any], list[bytes]]:
    document = documents.find(request["path"])
    facts = {
        "page_count": len(document),
        "title": document.get_metadata_value("Title")[:MAX_TITLE],
        "author": document.get_metadata_value("Author")[:MAX_TITLE],
        "language": _language(document),
        "outline": _outline(document),
    }
    return {}, [json.dumps(facts).encode()]


def _language(document: pypdfium2.PdfDocument) -> str:
    size = pdfium.FPDFCatalog_GetLanguage(document, None, 0)
    if not 2 < size <= 200:
        return ""
    buffer = ctypes.create_string_buffer(size)
    pdfium.FPDFCatalog_GetLanguage(
        document, ctypes.cast(buffer, ctypes.POINTER(pdfium.FPDF_WCHAR)), size
    )
    return buffer.raw[:size].decode("utf-16-le", "replace").rstrip("\0")


def _outline(document: pypdfium2.PdfDocument) -> list[tuple[int, str, int]]:
    entries: list[tuple[int, str, int]] = []
    for entry in document.get_toc():
        target = entry.get_dest()
        page = target.get_index() if target else None
        if page is not None and 0 <= page < len(document):
            entries.append((entry.level + 1, entry.get_title()[:MAX_TITLE], page + 1))
        if len(entries) >= MAX_ENTRIES:
            break
    return entries


# A page's characters


def _read(documents: Documents, request: dict[str, Any]) -> tuple[dict[str, Any], list[bytes]]:
    """Answer with arrays of a page's characters: code point, style; left, top, right, bottom, baseline, size, in points as the page is shown."""
    document = documents.find(request["path"])
    page = _page(document, request["number"])
    try:
        text = page.get_textpage()
        try:
            codes, styles, places = _characters(page, text)
        finally:
            text.close()
        width, height = page.get_size()
        header = {
            "width": width,
            "height": height,
            "is_drawn_on": _is_drawn_on(page),
            "label": _label(document, request["number"]),
        }
        header["page_count"] = len(document)
    finally:
        page.close()
    return header, [codes.tobytes(), styles.tobytes(), places.tobytes()]


def _page(document: pypdfium2.PdfDocument, number: int) -> pypdfium2.PdfPage:
    if not 1 <= number <= len(document):
        raise RequestRefused("no such page")
    page = document[number - 1]
    if not all(0 < side < FARTHEST for side in page.get_size()):
        page.close()
        raise RequestRefused("broken")
    return page


def _is_drawn_on(page: pypdfium2.PdfPage) -> bool:
    """Say whether there is a picture on the page, or much that is drawn: more than the rules and frames of an empty page."""
    count = pdfium.FPDFPage_CountObjects(page)
    types = [
        pdfium.FPDFPageObj_GetType(pdfium.FPDFPage_GetObject(page, index))
        for index in range(min(count, MAX_OBJECTS))
    ]
    return (
        bool({pdfium.FPDF_PAGEOBJ_IMAGE, pdfium.FPDF_PAGEOBJ_FORM}.intersection(types))
        or types.count(pdfium.FPDF_PAGEOBJ_PATH) > FEW_PATHS
    )


def _label(document: pypdfium2.PdfDocument, number: int) -> str:
    try:
        return str(document.get_page_label(number - 1))[:40]
    except (pypdfium2.PdfiumError, UnicodeDecodeError):
        return ""


def _characters(
    page: pypdfium2.PdfPage, text: pypdfium2.PdfTextPage
) -> tuple["array[int]", "array[int]", "array[float]"]:
    codes, styles, places = array("I"), array("B"), array("f")
    a, b, c, d, e, f = _to_shown(page)
    left, right, bottom, top, x, y = (ctypes.c_double() for _ in range(6))
    raw = text.raw
    looks = Looks(raw, (a, b, c, d))
    for index in range(min(text.count_chars(), MAX_CHARACTERS)):
        pdfium.FPDFText_GetCharBox(raw, index, left, right, bottom, top)
        pdfium.FPDFText_GetCharOrigin(raw, index, x, y)
        x1, y1 = a * left.value + c * bottom.value + e, b * left.value + d * bottom.value + f
        x2, y2 = a * right.value + c * top.value + e, b * right.value + d * top.value + f
        codes.append(pdfium.FPDFText_GetUnicode(raw, index) or UNKNOWN)
        style, size = looks.of(index)
        styles.append(style)
        at_x, at_y = a * x.value + c * y.value + e, b * x.value + d * y.value + f
        place = (min(x1, x2), min(y1, y2), max(x1, x2), max(y1, y2), at_x, at_y, size)
        places.extend(place if -FARTHEST < sum(place) < FARTHEST else NOWHERE)  # NaN is not either
    return codes, styles, places


class Looks:
    """Finds how a character looks: its style and its size in points, the same for all of a text object."""

    def __init__(self, text: Any, turn: tuple[float, float, float, float]) -> None:
        self._text, self._turn = text, turn
        self._object: int | None = None
        self._last = (0, 0.0)
        self._matrix = pdfium.FS_MATRIX()
        self._name = ctypes.create_string_buffer(128)

    def of(self, index: int) -> tuple[int, float]:
        """Return style and size of the character."""
        if pdfium.FPDFText_IsGenerated(self._text, index) == 1:
            return self._last[0] | GENERATED, self._last[1]
        pointer = pdfium.FPDFText_GetTextObject(self._text, index)
        address = ctypes.c_void_p.from_buffer(pointer).value
        if address is None or address != self._object:
            self._object, self._last = address, self._measured(index)
        return self._last

    def _measured(self, index: int) -> tuple[int, float]:
        matrix, (a, b, c, d) = self._matrix, self._turn
        pdfium.FPDFText_GetMatrix(self._text, index, matrix)
        size = pdfium.FPDFText_GetFontSize(self._text, index) * math.hypot(matrix.c, matrix.d)
        across, down = a * matrix.a + c * matrix.b, b * matrix.a + d * matrix.b
        quarter = round(math.atan2(down, across) / (math.pi / 2)) % 4
        return (BOLD if self._is_bold(index) else 0) | quarter << 2, min(abs(size), 10_000.0)

    def _is_bold(self, index: int) -> bool:
        pdfium.FPDFText_GetFontInfo(self._text, index, self._name, len(self._name), ctypes.c_int())
        name = self._name.value.lower()
        return (
            b"bold" in name or b"black" in name
        )  # the weight that PDFium tells is a guess from the width of the stems


def _to_shown(page: pypdfium2.PdfPage) -> tuple[float, float, float, float, float, float]:
    """Return (a, b, c, d, e, f) with shown x = a·x + c·y + e and shown y = b·x + d·y + f, in points from the upper left corner of the page as it is shown:
    its rotation and its boxes are in it.
    """
    width, height = page.get_size()
    side = 10_000
    corners = []
    x, y = ctypes.c_double(), ctypes.c_double()
    for across, down in ((0, 0), (side, 0), (0, side)):
        pdfium.FPDF_DeviceToPage(page, 0, 0, side, side, 0, across, down, x, y)
        corners.append((x.value, y.value))
    (x0, y0), (x1, y1), (x2, y2) = corners
    p, q, r, s = (
        (x1 - x0) / width,
        (y1 - y0) / width,
        (x2 - x0) / height,
        (y2 - y0) / height,
    )  # page = origin + p, q · across + r, s · down
    scale = p * s - r * q
    a, c, b, d = s / scale, -r / scale, -q / scale, p / scale
    return a, b, c, d, -(a * x0 + c * y0), -(b * x0 + d * y0)


# A page's picture


def _render(documents: Documents, request: dict[str, Any]) -> tuple[dict[str, Any], list[bytes]]:
    page = _page(documents.find(request["path"]), request["number"])
    try:
        width, height = page.get_size()
        scale = (request["width"] - 0.01) / width  # what is over a pixel counts as a whole one
        scale = min(scale, math.sqrt(MAX_PIXELS / (width * height)), 16_000 / max(width, height))
        bitmap = page.render(scale=scale, may_draw_forms=False)
        picture = bitmap.to_pil()
        out = io.BytesIO()
        picture.save(out, "WEBP", quality=QUALITY, method=1)
        bitmap.close()
    finally:
        page.close()
    return {}, [out.getvalue()]


DEEDS = {"describe": _describe, "read": _read, "render": _render}

if __name__ == "__main__":
    main()

"""Program of the child process that reads and renders PDF pages with PDFium.

PDFium is not thread safe, and a hostile file may crash or hang it. ``child_loop`` has the protocol.
"""

import ctypes
import io
import json
import logging
import math
from collections import OrderedDict
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import pypdfium2
import pypdfium2.raw as pdfium

from citations.readers import child_loop
from citations.readers.pdf.layers import leave_out_hidden
from citations.readers.pdf.page_characters import characters, display_matrix
from citations.readers.pdf.stand_in_font import use_stand_in

MEMORY = 3 * 512 * 1024**2  # bytes of address space
IDLE = 600  # seconds
OPEN_DOCUMENTS = 3
PAGES_AN_OPENING = 250  # PDFium keeps what it has parsed until a document is closed
MAX_OBJECTS, FEW_PATHS = 10_000, 20
MAX_PIXELS = 24_000_000  # of an image
MAX_ENTRIES = 5_000  # of an outline
MAX_TITLE = 500  # characters
MAX_NOTES, MAX_STRING = 500, 200_000  # annotations of a page, bytes of a text of one
QUALITY = 88  # of WebP images
FARTHEST = 1e6  # points, of a page
FIELD = 16  # a bit of a character's style
LETTER = (0, 0, 612, 792)  # points: the box of a page that has none
Note = tuple[str, float, float, float, float]  # and where: left, top, right, bottom
BOXES = {pdfium.FPDF_FORMFIELD_CHECKBOX: "☐☑", pdfium.FPDF_FORMFIELD_RADIOBUTTON: "○◉"}
SHOWN = pdfium.FPDF_ANNOT_FREETEXT, pdfium.FPDF_ANNOT_WIDGET  # kinds that are drawn as they say
UNSAID = pdfium.FPDF_ANNOT_LINK, pdfium.FPDF_ANNOT_POPUP  # kinds without words of their own


class RequestRefused(Exception):
    """The reason is the answer to the request."""


class Documents:
    """Keeps the last documents open."""

    def __init__(self) -> None:
        self._open: OrderedDict[tuple[str, int, int], tuple[pypdfium2.PdfDocument, list[int]]] = (
            OrderedDict()
        )

    def find(self, path: str) -> pypdfium2.PdfDocument:
        """Return the document at ``path``, reopened if the file was replaced."""
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

    def forget(self, path: str) -> None:
        """Close the document at ``path``: flattening has changed its pages."""
        for key in [key for key in self._open if key[0] == path]:
            self._open.pop(key)[0].close()


def main() -> None:
    """Answer requests."""
    child_loop.set_limits(MEMORY)
    logging.disable()  # pypdfium2 advises its users to build it otherwise
    documents = Documents()
    child_loop.serve(lambda request: _answer(documents, request), idle=IDLE)


def _answer(documents: Documents, request: dict[str, Any]) -> child_loop.Answer:
    try:
        return ACTIONS[request["do"]](documents, request)
    except RequestRefused as refusal:
        return {"refused": str(refusal)}, ()
    except Exception as error:  # noqa: BLE001 - a hostile file may raise anything
        return {"refused": "broken", "detail": f"{type(error).__name__}: {error}"[:300]}, ()


def _opened(path: str) -> pypdfium2.PdfDocument:
    # PDFium may fail without saying why, and then still tells the error before.
    pdfium.FPDF_LoadMemDocument(b"", 0, None)
    try:
        document = pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError as error:
        encrypted = getattr(error, "err_code", None) in (
            pdfium.FPDF_ERR_PASSWORD,
            pdfium.FPDF_ERR_SECURITY,
        )
        raise RequestRefused("encrypted" if encrypted else "broken") from error
    with suppress(pypdfium2.PdfiumError):
        document.init_forms()  # draws values for which the file has no appearance
    return document


# Metadata


def _describe(documents: Documents, request: dict[str, Any]) -> child_loop.Answer:
    document = documents.find(request["path"])
    facts = {
        "page_count": len(document),
        "title": document.get_metadata_value("Title")[:MAX_TITLE],
        "author": document.get_metadata_value("Author")[:MAX_TITLE],
        "language": _string(pdfium.FPDFCatalog_GetLanguage, document),
        "outline": _outline(document),
        "is_xfa": pdfium.FPDF_GetFormType(document) > pdfium.FORMTYPE_ACRO_FORM,
        "attachments": pdfium.FPDFDoc_GetAttachmentCount(document),
    }
    return {}, [json.dumps(facts).encode()]


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


_stand_in = cache(use_stand_in)  # an image shows rather nothing than squares


def _read(documents: Documents, request: dict[str, Any]) -> child_loop.Answer:
    """Return arrays of code points, of styles, of the geometry, and of angles (see ``Glyphs``).

    Form values and typed text are read where they stand, other notes after all else.
    """
    _stand_in()
    document = documents.find(request["path"])
    page = _page(document, request["number"])
    kinds, notes, states = _annotations(page)
    header = {
        "is_drawn_on": _is_drawn_on(page),
        "notes": notes,
        "label": _label(document, request["number"]),
        "page_count": len(document),
    }
    is_annotated = not kinds.issubset(UNSAID)
    try:
        header["width"], header["height"] = page.get_size()
        header["has_layers_off"] = leave_out_hidden(page)
        arrays = characters(page)
        if is_annotated:
            _reduce_to_annotations(page, states)
            page.close()
            page = _page(document, request["number"])
            for values, more in zip(arrays, characters(page, FIELD), strict=True):
                values.extend(more)
        for letter, left, top, right, bottom in states.values():
            height = bottom - top  # a label's letters are smaller, and stand higher
            place = left, top, right, bottom, left, bottom - 0.2 * height, 0.7 * height
            own: tuple[Iterable[float], ...] = [ord(letter)], [FIELD], place, [0.0]
            for values, signs in zip(arrays, own, strict=True):
                values.extend(signs)
    finally:
        page.close()
        if is_annotated:
            documents.forget(request["path"])
    return header, [values.tobytes() for values in arrays]


def _reduce_to_annotations(page: pypdfium2.PdfPage, left_out: Iterable[int]) -> None:
    """Leave of a page only what its annotations show, but those of these numbers: its own fonts
    might be mixed with theirs.
    """
    for index in sorted(left_out, reverse=True):
        pdfium.FPDFPage_RemoveAnnot(page, index)
    for index in reversed(range(pdfium.FPDFPage_CountObjects(page))):
        shown = pdfium.FPDFPage_GetObject(page, index)
        pdfium.FPDFPage_RemoveObject(page, shown)
        pdfium.FPDFPageObj_Destroy(shown)
    pdfium.FPDFPage_GenerateContent(page)
    pdfium.FPDFPage_Flatten(page, pdfium.FLAT_NORMALDISPLAY)


def _annotations(page: pypdfium2.PdfPage) -> tuple[set[int], list[Note], dict[int, Note]]:
    """Return the kinds of a page's annotations, what they say that the page does not show, and the
    states of its boxes to tick, by the number of the annotation.
    """
    kinds: set[int] = set()
    notes: list[Note] = []
    states: dict[int, Note] = {}
    a, b, c, d, e, f = display_matrix(page)
    for index in range(min(pdfium.FPDFPage_GetAnnotCount(page), MAX_NOTES)):
        annotation = pdfium.FPDFPage_GetAnnot(page, index)
        kinds.add(kind := pdfium.FPDFAnnot_GetSubtype(annotation))
        is_shown = kind in SHOWN and _string(pdfium.FPDFAnnot_GetAP, annotation, 0)
        is_hidden = pdfium.FPDFAnnot_GetFlags(annotation) & pdfium.FPDF_ANNOT_FLAG_HIDDEN
        state = "" if is_hidden else _state(page, annotation)
        if kind not in UNSAID and (state or not is_shown) and not is_hidden:
            name = b"V" if kind == pdfium.FPDF_ANNOT_WIDGET else b"Contents"
            text = state or _string(pdfium.FPDFAnnot_GetStringValue, annotation, name)
            at = pdfium.FS_RECTF()
            pdfium.FPDFAnnot_GetRect(annotation, at)
            x1, y1 = a * at.left + c * at.bottom + e, b * at.left + d * at.bottom + f
            x2, y2 = a * at.right + c * at.top + e, b * at.right + d * at.top + f
            note = text, min(x1, x2), min(y1, y2), max(x1, x2), max(y1, y2)
            if state:
                states[index] = note
            else:
                notes.append(note)
        pdfium.FPDFPage_CloseAnnot(annotation)
    return kinds, notes, states


def _state(page: pypdfium2.PdfPage, annotation: Any) -> str:
    """Return a box of a form as a letter, ticked or not, "" for other annotations."""
    if page.formenv is None:
        return ""
    field = pdfium.FPDFAnnot_GetFormFieldType(page.formenv, annotation)
    shown = _string(pdfium.FPDFAnnot_GetStringValue, annotation, b"AS")
    # PDFium says no where a damaged appearance has no such state.
    is_ticked = pdfium.FPDFAnnot_IsChecked(page.formenv, annotation) or shown not in ("", "Off")
    return BOXES[field][is_ticked] if field in BOXES else ""


def _string(call: Any, *about: Any) -> str:
    """Return a text that PDFium writes into a buffer, "" for one that is too long."""
    size = call(*about, None, 0)
    if not 2 < size <= MAX_STRING:
        return ""
    buffer = ctypes.create_string_buffer(size)
    call(*about, ctypes.cast(buffer, ctypes.POINTER(pdfium.FPDF_WCHAR)), size)
    return buffer.raw[:size].decode("utf-16-le", "replace").rstrip("\0")


def _page(document: pypdfium2.PdfDocument, number: int) -> pypdfium2.PdfPage:
    if not 1 <= number <= len(document):
        raise RequestRefused("no such page")
    page = document[number - 1]
    for box in (page.get_mediabox(), LETTER):
        if not all(0 < side < FARTHEST for side in page.get_size()):
            page.set_mediabox(*box)  # its boxes do not meet, or are too large: as if it named none
            page.set_cropbox(*box)
    return page


def _is_drawn_on(page: pypdfium2.PdfPage) -> bool:
    """Whether the page shows an image or more paths than the rules and frames of an empty page."""
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


# A page's image


def _render(documents: Documents, request: dict[str, Any]) -> child_loop.Answer:
    page = _page(documents.find(request["path"]), request["number"])
    try:
        width, height = page.get_size()
        scale = (request["width"] - 0.01) / width  # PDFium rounds up
        scale = min(scale, math.sqrt(MAX_PIXELS / (width * height)), 16_000 / max(width, height))
        bitmap = page.render(scale=scale, may_draw_forms=False)
        out = io.BytesIO()
        bitmap.to_pil().save(out, "WEBP", quality=QUALITY, method=1)
        bitmap.close()
    finally:
        page.close()
    return {}, [out.getvalue()]


ACTIONS = {"describe": _describe, "read": _read, "render": _render}

if __name__ == "__main__":
    main()

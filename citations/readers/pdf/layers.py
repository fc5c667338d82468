"""Layers of a page that are switched off (optional content, ISO 32000-1, 8.11).

PDFium does not draw them, and reads them all the same; nor does it say which they are. So the words
of each layer are drawn by themselves, to see whether they are shown.
"""

import ctypes
from collections.abc import Iterator
from typing import Any

import pypdfium2
import pypdfium2.raw as pdfium

MAX_OBJECTS, MAX_DEPTH, MAX_LAYERS = 20_000, 4, 50  # of a page; of further ones, all is read
SIDE = 600  # pixels of a picture in which words are looked for
BACKGROUND = (90, 160, 120, 255)  # no colour of words
MAX_NAME = 200  # bytes


def leave_out_hidden(page: pypdfium2.PdfPage) -> bool:
    """Make words on layers that are off inactive: they are not read then. Return whether there are
    any. On a page without marks of layers, form XObjects that name theirs are not looked at.
    """
    count = pdfium.FPDFPage_CountObjects(page)
    top = (pdfium.FPDFPage_GetObject(page, index) for index in range(min(count, MAX_OBJECTS)))
    own = list(_leaves(top, "", MAX_DEPTH))
    if not any("/" in layer for _, layer in own):
        return False
    layers = list(dict.fromkeys(layer for shown, layer in own if layer and _is_visible_text(shown)))
    off = {layer for layer in layers[:MAX_LAYERS] if not _is_drawn(page, own, layer)}
    for shown, layer in own:
        pdfium.FPDFPageObj_SetIsActive(shown, layer not in off)
    return bool(off)


def _leaves(objects: Iterator[Any], layer: str, depth: int) -> Iterator[tuple[Any, str]]:
    """Yield objects that are no form XObjects, with the layers and forms that they are part of."""
    for shown in objects:
        within = layer + _layer(shown)
        is_form = pdfium.FPDFPageObj_GetType(shown) == pdfium.FPDF_PAGEOBJ_FORM
        if is_form and depth:
            count = min(pdfium.FPDFFormObj_CountObjects(shown), MAX_OBJECTS)
            inner = (pdfium.FPDFFormObj_GetObject(shown, index) for index in range(count))
            yield from _leaves(inner, f"{within}#{_address(shown)}", depth - 1)
        elif not is_form:
            yield shown, within


def _layer(shown: Any) -> str:
    """Return the names of an object's own layers; one without a name is that of its mark."""
    names = []
    for index in range(pdfium.FPDFPageObj_CountMarks(shown)):
        mark = pdfium.FPDFPageObj_GetMark(shown, index)
        if _text(pdfium.FPDFPageObjMark_GetName, mark) == "OC":
            name = _text(pdfium.FPDFPageObjMark_GetParamStringValue, mark, b"Name")
            names.append(name or str(_address(mark)))
    return "".join(f"/{name}" for name in names)


def _address(pointer: Any) -> int | None:
    return ctypes.c_void_p.from_buffer(pointer).value


def _text(call: Any, *about: Any) -> str:
    buffer, length = ctypes.create_string_buffer(MAX_NAME), ctypes.c_ulong()
    pointer = ctypes.cast(buffer, ctypes.POINTER(pdfium.FPDF_WCHAR))
    call(*about, pointer, MAX_NAME, length)
    return buffer.raw[: min(length.value, MAX_NAME)].decode("utf-16-le", "replace").rstrip("\0")


def _is_visible_text(shown: Any) -> bool:
    """Whether an object is text that has a colour, unlike that which lies over a scanned page."""
    is_text = pdfium.FPDFPageObj_GetType(shown) == pdfium.FPDF_PAGEOBJ_TEXT
    unseen = pdfium.FPDF_TEXTRENDERMODE_INVISIBLE
    return is_text and bool(pdfium.FPDFTextObj_GetTextRenderMode(shown) != unseen)


def _is_drawn(page: pypdfium2.PdfPage, objects: list[tuple[Any, str]], layer: str) -> bool:
    for shown, own in objects:
        pdfium.FPDFPageObj_SetIsActive(shown, own == layer and _is_visible_text(shown))
    bitmap = page.render(
        scale=SIDE / max(page.get_size()),
        fill_color=BACKGROUND,
        may_draw_forms=False,
        draw_annots=False,
    )
    try:
        return not bitmap.to_pil().getcolors(1)
    finally:
        bitmap.close()

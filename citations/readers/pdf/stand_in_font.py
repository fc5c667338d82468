"""A font in which all letters look alike, for those that a file and this system have none of.

PDFium leaves out what has no shape: all text of a Chinese or Japanese file that embeds no fonts.
"""

import ctypes
import struct
from typing import Any

import pypdfium2.raw as pdfium

HANDLE = 0x5D0  # of the font, for PDFium
# Character sets of Windows that PDFium's own fonts have: Latin, unknown, symbols.
COVERED = 0, 1, 2
EM, SIDE = 1_000, 800  # units; those of a letter's square
_kept: list[Any] = []  # PDFium calls these functions until the process ends


def use_stand_in() -> None:
    """Have PDFium use the font where it finds no other; once in a process."""
    info = pdfium.FPDF_GetDefaultSystemFontInfo()
    types = dict(pdfium.FPDF_SYSFONTINFO._fields_)
    data = font()

    def usual(name: str) -> Any:
        address = ctypes.cast(getattr(info.contents, name), ctypes.c_void_p).value
        return types[name](address)

    map_font, get_data, delete, get_name, get_charset = map(usual, _NAMES)

    def find(this: Any, weight: int, italic: int, charset: int, *rest: Any) -> int | None:
        handle: int | None = map_font(this, weight, italic, charset, *rest)
        return handle or (None if charset in COVERED else HANDLE)

    def read(this: Any, handle: int, table: int, buffer: Any, size: int) -> int:
        if handle != HANDLE:
            return int(get_data(this, handle, table, buffer, size))
        if table:
            return 0  # it is no collection of fonts
        if buffer and size >= len(data):
            ctypes.memmove(buffer, data, len(data))
        return len(data)

    own = (
        find,
        read,
        lambda this, handle: None if handle == HANDLE else delete(this, handle),
        lambda this, handle, *rest: 0 if handle == HANDLE else get_name(this, handle, *rest),
        lambda this, handle: 1 if handle == HANDLE else get_charset(this, handle),
    )
    _kept.extend(types[name](function) for name, function in zip(_NAMES, own, strict=True))
    for name, function in zip(_NAMES, _kept, strict=True):
        setattr(info.contents, name, function)
    _kept.append(info)
    pdfium.FPDF_SetSystemFontInfo(info)


_NAMES = "MapFont", "GetFontData", "DeleteFont", "GetFaceName", "GetFontCharset"


def font() -> bytes:
    """Return a TrueType font of one shape, a square, that stands for all characters."""
    corners = struct.pack(">8h", 0, SIDE, 0, -SIDE, 0, 0, SIDE, 0)  # steps across, then up
    square = struct.pack(">5h2H4B", 1, 0, 0, SIDE, SIDE, 3, 0, 1, 1, 1, 1) + corners
    square += bytes(-len(square) % 4)
    one_for_all = struct.pack(">2H6I", 13, 0, 28, 0, 1, 0x21, 0x10FFFF, 1)
    head = struct.pack(">4I2H2q", 0x10000, 0x10000, 0, 0x5F0F3CF5, 3, EM, 0, 0)
    tables = {
        b"cmap": struct.pack(">4HI", 0, 1, 3, 10, 12) + one_for_all,
        b"glyf": square * 2,  # the first is that of no character
        b"head": head + struct.pack(">4h2H3h", 0, 0, EM, EM, 0, 8, 2, 1, 0),
        b"hhea": struct.pack(">I3hH12h", 0x10000, 880, -120, 0, EM, *(0,) * 11, 2),
        b"hmtx": struct.pack(">HhHh", EM, 0, EM, 0),
        b"loca": struct.pack(">3I", 0, len(square), 2 * len(square)),
        b"maxp": struct.pack(">I14H", 0x10000, 2, 4, 1, 0, 0, 2, *(0,) * 8),
        b"name": struct.pack(">3H", 0, 0, 6),
        b"post": struct.pack(">I2h6I", 0x30000, *(0,) * 8),
    }
    directory = struct.pack(">I4H", 0x10000, len(tables), 128, 3, 16 * len(tables) - 128)
    first, body = len(directory) + 16 * len(tables), b""
    for tag, table in tables.items():
        directory += tag + struct.pack(">3I", 0, first + len(body), len(table))
        body += table + bytes(-len(table) % 4)
    return directory + body

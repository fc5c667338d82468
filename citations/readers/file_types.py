"""The media type of a file, by its first bytes, or else by its name. Pure."""

import codecs
import re
from pathlib import PurePath
from typing import Final

from citations.errors import DocumentUnknown
from transcripts import captions, files

HEAD: Final = 65_536  # bytes that are examined
PDF, MARKDOWN, TEXT, HTML = "application/pdf", "text/markdown", "text/plain", "text/html"

_PDF_HEAD: Final = 1_024  # bytes that may precede PDF's signature
_MARKDOWN_NAMES: Final = frozenset({".md", ".markdown", ".mdown", ".mkd"})
_HTML_NAMES: Final = frozenset({".html", ".htm", ".xhtml"})
_NAMES: Final = _MARKDOWN_NAMES | _HTML_NAMES | {".pdf"}
_CAPTION_NAMES: Final = frozenset(files.FORMATS) - {".txt"}
_EXPORT: Final = "Save or print it as PDF, and add that."
_RECOGNISE: Final = "Recognise its words (OCR), and save them as PDF or text."
_FOREIGN: Final = (
    (b"PK\x03\x04", "a ZIP archive, as Word, PowerPoint and e-books are", _EXPORT),
    (b"PK\x05\x06", "an empty ZIP archive", _EXPORT),
    (b"\xd0\xcf\x11\xe0", "an old Office file", _EXPORT),
    (b"{\\rtf", "a file in Rich Text Format", _EXPORT),
    (b"%!PS", "a PostScript file", _EXPORT),
    (b"AT&TFORM", "a DjVu file", _EXPORT),
    (b"\x1f\x8b", "packed (gzip)", "Unpack it first."),
    (b"BZh", "packed (bzip2)", "Unpack it first."),
    (b"\xfd7zXZ", "packed (xz)", "Unpack it first."),
    (b"7z\xbc\xaf", "packed (7-Zip)", "Unpack it first."),
    (b"Rar!", "packed (RAR)", "Unpack it first."),
    (b"\x28\xb5\x2f\xfd", "packed (Zstandard)", "Unpack it first."),
    (b"\x89PNG", "an image", _RECOGNISE),
    (b"\xff\xd8\xff", "an image", _RECOGNISE),
    (b"GIF8", "an image", _RECOGNISE),
)
_BYTE_ORDER_MARKS: Final = (
    codecs.BOM_UTF8,
    codecs.BOM_UTF16_LE,
    codecs.BOM_UTF16_BE,
    codecs.BOM_UTF32_LE,
    codecs.BOM_UTF32_BE,
)
_CONTROLS: Final = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_MOST_CONTROLS: Final = 0.02  # of a text's bytes
# Possessive and atomic: a file of nothing but comments would else take exponential time.
_HTML: Final = re.compile(
    rb"(?:\s|<\?xml[^>]{0,200}\?>|(?><!--.{0,4000}?-->))*+"
    rb"<(?:!doctype\s+html|html|head|body|meta|title)\b",
    re.IGNORECASE | re.DOTALL,
)
_MARKDOWN: Final = re.compile(
    rb"(?:---[ \t]*\r?\n(?=[\w-]+:)|.{0,20000}?(?:\A|\n)(?:#{1,6} \S|```|~~~))", re.DOTALL
)


def sniff(head: bytes, name: str) -> str:
    """Return the media type of a file from its first ``HEAD`` bytes and its name.

    Raises ``DocumentUnknown`` if there is no reader for it.
    """
    if b"%PDF-" in head[:_PDF_HEAD]:
        return PDF
    _refuse_foreign(head)
    suffix = PurePath(name).suffix.casefold()
    if suffix == ".pdf":
        raise DocumentUnknown(
            "Its name ends in .pdf, but it is no PDF." if head else "It is empty."
        )
    if _HTML.match(_unmarked(head)):
        return HTML
    if (
        suffix in _MARKDOWN_NAMES
        or suffix not in (_HTML_NAMES | {".txt", ".text"})
        and _MARKDOWN.match(_unmarked(head))
    ):
        return MARKDOWN
    return HTML if suffix in _HTML_NAMES else TEXT


def is_document(head: bytes, name: str) -> bool:
    """Whether a file is a document by content or name, rather than captions."""
    suffix = PurePath(name).suffix.casefold()
    if b"%PDF-" in head[:_PDF_HEAD] or suffix in _NAMES:
        return True
    return suffix not in _CAPTION_NAMES and not captions.is_timed(head)


def may_be_document(name: str) -> bool:
    """Whether a file in a folder may be a document, by its name."""
    path = PurePath(name)
    return path.suffix.casefold() in _NAMES | {".txt"} and not path.name.startswith(".")


def _refuse_foreign(head: bytes) -> None:
    for signature, kind, hint in _FOREIGN:
        if head.startswith(signature):
            raise DocumentUnknown(f"It is {kind}, which cannot be read.", hint=hint)
    if (
        not head.startswith(_BYTE_ORDER_MARKS)
        and not captions.unmarked_utf16(head)
        and len(_CONTROLS.findall(head)) > _MOST_CONTROLS * len(head)
    ):
        raise DocumentUnknown("It is neither a PDF nor text.")


def _unmarked(head: bytes) -> bytes:
    """Return the head without byte order mark and NULs, so that UTF-16 reads like ASCII."""
    return (
        head.replace(b"\0", b"")
        .removeprefix(codecs.BOM_UTF8)
        .removeprefix(codecs.BOM_UTF16_LE)
        .removeprefix(codecs.BOM_UTF16_BE)
    )

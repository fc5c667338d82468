"""What format a file has, by its first bytes, the names in an archive, and its own name."""

import codecs
import re
from pathlib import PurePath
from typing import IO, Final

from citations.errors import DocumentEncrypted, DocumentUnknown
from citations.formats import BY_SUFFIX, FORMATS, HTML, TEXT, DocumentFormat
from transcripts import captions
from transcripts.adding import files

_ANY_TEXT: Final = (*TEXT.suffixes, ".tsv", ".sub")  # names of captions and of other texts
HEAD: Final = 65_536  # bytes that are examined
DIRECTORY: Final = 1_000_000  # bytes at the end of an archive, where the names in it stand
ARCHIVE: Final = b"PK\x03\x04"
_OLD_OFFICE: Final = b"\xd0\xcf\x11\xe0"

_EXPORT_HINT: Final = "Save or print it as PDF, and add that."
_PICTURE_HINT: Final = "Save it as PNG or JPEG, and add that."
_CONVERT_HINT: Final = "Convert it to MP4 or WebM, and add that with its captions."
_UNPACK_HINT: Final = "Unpack it first."
_WORD_HINT: Final = "Save it as .docx, and add that."
_PAGE_HINT: Final = (
    "Open it in your browser, save it as a web page or PDF there, and add that file."
)
_SLIDES_HINT: Final = "Save it as .pptx, and add that."
_PACKAGE_NOTES: Final = (  # of archives, and of files of old office programs
    (rb"PK\x01\x02.{42}xl/workbook", "It is a spreadsheet, which cannot be read.", _EXPORT_HINT),
    (
        rb"mimetype.{0,64}?application/vnd\.oasis\.opendocument\.spreadsheet",
        "It is a spreadsheet, which cannot be read.",
        _EXPORT_HINT,
    ),
    (
        rb"mimetype.{0,64}?application/vnd\.oasis\.opendocument\.presentation",
        "It is an OpenDocument presentation, which cannot be read.",
        _SLIDES_HINT,
    ),
    (
        rb"PK\x01\x02.{42}Index/Document\.iwa",
        "It is a file of Pages, Numbers or Keynote, which cannot be read.",
        _EXPORT_HINT,
    ),
    (
        rb"W\0o\0r\0d\0D\0o\0c\0u\0m\0e\0n\0t\0",
        "It is an old Word file (.doc), which cannot be read.",
        _WORD_HINT,
    ),
    (
        rb"P\0o\0w\0e\0r\0P\0o\0i\0n\0t\0 \0D\0",
        "It is an old PowerPoint file (.ppt), which cannot be read.",
        _SLIDES_HINT,
    ),
    (rb"W\0o\0r\0k\0b\0o\0o\0k\0", "It is a spreadsheet, which cannot be read.", _EXPORT_HINT),
)
_PROTECTED: Final = "EncryptedPackage".encode("utf-16-le")  # in a file of the old kind
_FOREIGN_NOTES: Final = (  # whole sentences, to be translated
    (ARCHIVE, "It is a ZIP archive, which cannot be read.", _UNPACK_HINT),
    (b"PK\x05\x06", "It is an empty ZIP archive, which cannot be read.", _EXPORT_HINT),
    (_OLD_OFFICE, "It is an old Office file, which cannot be read.", _EXPORT_HINT),
    (b"From: <Saved by", "It is a web archive (MHTML), which cannot be read.", _PAGE_HINT),
    (b"MIME-Version:", "It is a web archive (MHTML), which cannot be read.", _PAGE_HINT),
    (b"{\\rtf", "It is a file in Rich Text Format, which cannot be read.", _EXPORT_HINT),
    (b"%!PS", "It is a PostScript file, which cannot be read.", _EXPORT_HINT),
    (b"AT&TFORM", "It is a DjVu file, which cannot be read.", _EXPORT_HINT),
    (b"\x1f\x8b", "It is packed (gzip), which cannot be read.", _UNPACK_HINT),
    (b"BZh", "It is packed (bzip2), which cannot be read.", _UNPACK_HINT),
    (b"\xfd7zXZ", "It is packed (xz), which cannot be read.", _UNPACK_HINT),
    (b"7z\xbc\xaf", "It is packed (7-Zip), which cannot be read.", _UNPACK_HINT),
    (b"Rar!", "It is packed (RAR), which cannot be read.", _UNPACK_HINT),
    (b"\x28\xb5\x2f\xfd", "It is packed (Zstandard), which cannot be read.", _UNPACK_HINT),
    (b"\x1aE\xdf\xa3", "It is a Matroska video, which cannot be read.", _CONVERT_HINT),
    (b"GIF8", "It is an image in a format that cannot be read.", _PICTURE_HINT),
)
_CONTROLS: Final = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_MOST_CONTROLS: Final = 0.02  # of a text's bytes


def read_head(file: IO[bytes]) -> bytes:
    """Return the bytes that tell a file's format: its first ``HEAD``; of an archive, also its end,
    with the names of what is in it. Rewinds the file.
    """
    file.seek(0)
    head = file.read(HEAD)
    if head.startswith((ARCHIVE, _OLD_OFFICE)) and len(head) == HEAD:
        size = file.seek(0, 2)
        file.seek(max(HEAD, size - DIRECTORY))
        head += file.read(DIRECTORY)
    file.seek(0)
    return head


def recognise(head: bytes, name: str) -> DocumentFormat:
    """Return the format by what ``read_head`` returns of a file, or by its name.

    Raises ``DocumentUnknown`` and ``DocumentEncrypted``.
    """
    if format := _matching(head, is_binary=True):
        return format
    by_name = BY_SUFFIX.get(_suffix(name))
    is_by_name = by_name is not None and by_name.is_binary
    _refuse_package(head)
    if not (is_by_name and head.startswith(ARCHIVE)):
        _refuse_foreign(head)
    if by_name and is_by_name:
        cause = f"Its name ends in {_suffix(name)}, but it is no {by_name.name}."
        hint = _EXPORT_HINT if head.startswith(ARCHIVE) else None
        raise DocumentUnknown(cause if head else "It is empty.", hint=hint)
    text = head.replace(b"\0", b"")  # so that UTF-16 reads like ASCII
    for mark in (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        text = text.removeprefix(mark)
    by_content = _matching(text, is_binary=False)
    return HTML if by_content is HTML else by_name or by_content or TEXT


def is_document(head: bytes, name: str) -> bool:
    """Whether a file is a document by content or name, rather than captions."""
    suffix = _suffix(name)
    if _matching(head, is_binary=True) or BY_SUFFIX.get(suffix, TEXT) is not TEXT:
        return True
    is_captions = suffix in files.FORMATS and suffix not in _ANY_TEXT
    return not is_captions and not captions.is_timed(head)


def may_be_document(name: str) -> bool:
    """Whether a file in a folder may be a document, by its name; pictures there rarely are.

    Word marks a file that is open by another, which begins with ``~$``.
    """
    format = BY_SUFFIX.get(_suffix(name))
    is_hidden = PurePath(name).name.startswith((".", "~$"))
    return format is not None and not format.is_picture and not is_hidden


def _matching(head: bytes, *, is_binary: bool) -> DocumentFormat | None:
    for format in FORMATS.values():
        if format.is_binary == is_binary and format.pattern and format.pattern.match(head):
            return format
    return None


def _suffix(name: str) -> str:
    return PurePath(name).suffix.casefold()


def _refuse_package(head: bytes) -> None:
    if not head.startswith((ARCHIVE, _OLD_OFFICE)):
        return
    if _PROTECTED in head:
        raise DocumentEncrypted("The file opens only with a password.")
    for pattern, cause, hint in _PACKAGE_NOTES:
        if re.search(pattern, head, re.DOTALL):
            raise DocumentUnknown(cause, hint=hint)


def _refuse_foreign(head: bytes) -> None:
    for signature, cause, hint in _FOREIGN_NOTES:
        if head.startswith(signature):
            raise DocumentUnknown(cause, hint=hint)
    if not captions.is_marked_or_utf16(head) and len(
        _CONTROLS.findall(head)
    ) > _MOST_CONTROLS * len(head):
        raise DocumentUnknown("It is neither text nor a known format.")

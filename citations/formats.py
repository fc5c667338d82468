"""The formats of documents, one entry each: everything that is to be known of a format but how its
reader works. Choices, filters, schemas and texts are made from these entries.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Final

from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from pydantic import GetPydanticSchema
from pydantic_core import core_schema

VIDEO: Final = "video"  # the kind of sources that are recordings


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentFormat:
    """A format of documents.

    ``pattern`` matches the beginning of what ``recognition.read_head`` returns of its files: their
    first bytes, in text without byte order mark, and the names in an archive. Files yield
    the same pages until ``version`` changes: then they are read again. ``reader`` is the path of a
    function such as ``plain_text.read``; ``pagination.open_document`` calls it.
    """

    kind: str  # of its sources, in the database and in all interfaces; at most 10 characters
    name: str  # in lists of formats
    label: str | Promise  # what people call such a source
    media_type: str
    suffixes: tuple[str, ...]  # the usual one first
    csl_type: str = "document"  # https://docs.citationstyles.org/en/stable/specification.html
    is_binary: bool = False
    is_laid_out: bool = False  # its pages are drawn as ``pdf.reader`` does, its headings guessed
    is_picture: bool = False  # all its words are read by OCR, in a PDF that is made of it
    bytes_a_character: int = 1  # roughly
    pattern: re.Pattern[bytes] | None = None
    version: str
    reader: str


def _holds(name: bytes) -> re.Pattern[bytes]:
    """Return the pattern of ZIP archives whose directory has a file of this name, a pattern."""
    return re.compile(rb"PK\x03\x04.*?PK\x01\x02.{42}" + name, re.DOTALL)


def _is_called(media_type: bytes) -> re.Pattern[bytes]:
    """Return the pattern of ZIP archives whose first file is called ``mimetype`` and has this."""
    return re.compile(rb"PK\x03\x04.{26}mimetype.{0,64}?" + media_type, re.DOTALL)


def _picture(
    name: str, media_type: str, suffixes: tuple[str, ...], pattern: bytes
) -> DocumentFormat:
    return DocumentFormat(
        kind="picture",
        name=name,
        label=_("picture"),
        media_type=media_type,
        suffixes=suffixes,
        csl_type="graphic",
        is_binary=True,
        is_laid_out=True,
        is_picture=True,
        bytes_a_character=500,
        pattern=re.compile(pattern, re.DOTALL),
        version="picture 1",
        reader="citations.readers.pdf.reader.open_pdf",
    )


PDF: Final = DocumentFormat(
    kind="pdf",
    name="PDF",
    label=_("PDF"),
    media_type="application/pdf",
    suffixes=(".pdf",),
    is_binary=True,
    is_laid_out=True,
    bytes_a_character=10,  # fonts and pictures included
    pattern=re.compile(rb".{0,1019}%PDF-", re.DOTALL),
    version="pdf 4",
    reader="citations.readers.pdf.reader.open_pdf",
)
DOCX: Final = DocumentFormat(
    kind="docx",
    name="DOCX",
    label=_("Word"),
    media_type="application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    suffixes=(".docx", ".docm", ".dotx"),
    is_binary=True,
    bytes_a_character=2,
    pattern=_holds(rb"word/document\d{0,3}\.xml"),
    version="docx 2",
    reader="citations.readers.office.reader.read_docx",
)
PPTX: Final = DocumentFormat(
    kind="pptx",
    name="PPTX",
    label=_("PowerPoint"),
    media_type="application/vnd.openxmlformats-officedocument.presentationml.presentation",
    suffixes=(".pptx", ".pptm", ".ppsx", ".potx"),
    csl_type="speech",
    is_binary=True,
    bytes_a_character=100,  # mostly pictures
    pattern=_holds(rb"ppt/presentation\d{0,3}\.xml"),
    version="pptx 2",
    reader="citations.readers.office.reader.read_pptx",
)
ODT: Final = DocumentFormat(
    kind="odt",
    name="ODT",
    label=_("OpenDocument"),
    media_type="application/vnd.oasis.opendocument.text",
    suffixes=(".odt", ".ott"),
    is_binary=True,
    bytes_a_character=2,
    pattern=_is_called(rb"application/vnd\.oasis\.opendocument\.text(?!-master|-web)"),
    version="odt 2",
    reader="citations.readers.office.reader.read_odt",
)
EPUB: Final = DocumentFormat(
    kind="epub",
    name="EPUB",
    label=_("EPUB"),
    media_type="application/epub+zip",
    suffixes=(".epub",),
    csl_type="book",
    is_binary=True,
    bytes_a_character=2,
    pattern=re.compile(
        _is_called(rb"application/epub\+zip").pattern
        + rb"|"
        + _holds(rb"META-INF/container\.xml").pattern
        + rb".*\.opf",
        re.DOTALL,
    ),
    version="epub 2",
    reader="citations.readers.office.reader.read_epub",
)
HTML: Final = DocumentFormat(
    kind="html",
    name="HTML",
    label=_("web page"),
    media_type="text/html",
    suffixes=(".html", ".htm", ".xhtml"),
    csl_type="webpage",
    # Atomic groups: a file of nothing but comments would else take exponential time.
    pattern=re.compile(
        rb"(?>(?:\s|<\?xml[^>]{0,200}\?>|(?><!--.{0,4000}?-->))*)"
        rb"<(?:!doctype\s+html|html|head|body|meta|title)\b",
        re.IGNORECASE | re.DOTALL,
    ),
    version="html 6",
    reader="citations.readers.markup.reader.read_html",
)
MARKDOWN: Final = DocumentFormat(
    kind="markdown",
    name="Markdown",
    label=_("Markdown"),
    media_type="text/markdown",
    suffixes=(".md", ".markdown", ".mdown", ".mkd"),
    pattern=re.compile(
        rb"(?:---[ \t]*\r?\n(?=[\w-]+:)|.{0,20000}?(?:\A|\n)(?:#{1,6} \S|```|~~~))", re.DOTALL
    ),
    version="markdown 7",
    reader="citations.readers.markup.reader.read_markdown",
)
TEXT: Final = DocumentFormat(
    kind="text",
    name="text",
    label=_("text"),
    media_type="text/plain",
    suffixes=(".txt", ".text"),
    version="text 3",
    reader="citations.readers.plain_text.read",
)
PICTURES: Final = (
    _picture("PNG", "image/png", (".png",), rb"\x89PNG\r\n\x1a\n"),
    _picture("JPEG", "image/jpeg", (".jpg", ".jpeg", ".jfif"), rb"\xff\xd8\xff"),
    _picture("TIFF", "image/tiff", (".tif", ".tiff"), rb"II[*+]\0|MM\0[*+]"),
    _picture("WebP", "image/webp", (".webp",), rb"RIFF.{4}WEBP"),
)
_ALL: Final = (PDF, DOCX, PPTX, ODT, EPUB, HTML, MARKDOWN, TEXT, *PICTURES)
FORMATS: Final = {format.media_type: format for format in _ALL}
BY_SUFFIX: Final = {suffix: format for format in FORMATS.values() for suffix in format.suffixes}
NAMES: Final = ", ".join(format.name for format in FORMATS.values())  # in English

_BY_KIND: Final = {format.kind: format for format in FORMATS.values()}
KINDS: Final = (VIDEO, *_BY_KIND)  # of sources


def one_of(*texts: str) -> GetPydanticSchema:
    """Return the annotation of a field that takes one of these texts, as ``Literal`` would be."""
    return GetPydanticSchema(lambda *_: core_schema.literal_schema([*texts]))


KindName = Annotated[str, one_of(*KINDS)]


def kind_choices() -> Iterator[tuple[str, str | Promise]]:
    """Yield the kinds of sources with what people call them."""
    yield VIDEO, _("recording")
    for format in _BY_KIND.values():
        yield format.kind, format.label


def csl_type(kind: str) -> str:
    """Return the type that bibliographies in CSL give to sources of a kind."""
    return "motion_picture" if kind == VIDEO else _BY_KIND[kind].csl_type


def names() -> str:
    """Return the list of formats in the active language."""
    return ", ".join(gettext(format.name) for format in FORMATS.values())

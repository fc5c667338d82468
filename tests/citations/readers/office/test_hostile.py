"""What is broken, protected, foreign or made to harm is refused, and told what to do."""

import struct
from functools import partial
from io import BytesIO
from pathlib import Path

import pytest

from citations.documents import storage
from citations.errors import (
    DocumentBroken,
    DocumentEncrypted,
    DocumentTooLarge,
    DocumentUnknown,
    DocumentWithoutText,
)
from citations.models import Page, Source, State
from citations.readers.office import reader
from tests.citations.readers.office.archives import (
    OPEN_DOCUMENT,
    docx,
    epub,
    format_of,
    odt,
    paragraph,
    pptx,
    read,
    relationships,
    slide,
    text_of,
    zipped,
)
from transcripts.core.errors import KnowledgeBaseError
from transcripts.models import Collection

OLE = b"\xd0\xcf\x11\xe0" + bytes(60)
LAUGHS = (
    '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]>'
    "<w:document xmlns:w='w'><w:body><w:p><w:r><w:t>&b;</w:t></w:r></w:p></w:body></w:document>"
)
FETCHING = LAUGHS.replace('"ha"', 'SYSTEM "file:///etc/passwd"')


def wide(text: str) -> bytes:
    return text.encode("utf-16-le")


def open_package(media_type: str) -> bytes:
    return zipped({"mimetype": f"application/vnd.oasis.opendocument.{media_type}"})


@pytest.mark.parametrize(
    ("data", "name", "error", "hint"),
    [
        (OLE + wide("WordDocument"), "a.doc", DocumentUnknown, ".docx"),
        (OLE + wide("PowerPoint Document"), "a.ppt", DocumentUnknown, ".pptx"),
        (OLE + wide("Workbook"), "a.xls", DocumentUnknown, "PDF"),
        (OLE + bytes(70_000) + wide("EncryptedPackage"), "a.docx", DocumentEncrypted, "password"),
        (zipped({"xl/workbook.xml": "x"}), "a.xlsx", DocumentUnknown, "PDF"),
        (open_package("presentation"), "a.odp", DocumentUnknown, ".pptx"),
        (open_package("spreadsheet"), "a.ods", DocumentUnknown, "PDF"),
        (open_package("text-master"), "a.odm", DocumentUnknown, "Unpack"),
        (zipped({"Index/Document.iwa": "x"}), "a.pages", DocumentUnknown, "PDF"),
        (zipped({"notes.txt": "x"}), "a.zip", DocumentUnknown, "Unpack"),
        (zipped({"notes.txt": "x"}), "a.docx", DocumentUnknown, "PDF"),
        (docx(paragraph("Words."))[:300], "a.docx", DocumentUnknown, "PDF"),
    ],
)
def test_a_file_of_another_kind_says_as_what_to_save_it(
    data: bytes, name: str, error: type[KnowledgeBaseError], hint: str
) -> None:
    with pytest.raises(error) as refused:
        format_of(data, name)
    assert hint in refused.value.hint


@pytest.mark.parametrize("name", ["report", "report.txt", "report.zip"])
def test_office_files_are_recognised_whatever_they_are_called(name: str) -> None:
    long = {"word/media/a.png": bytes(range(256)) * 500, "word/document.xml": "x"}
    made = {
        "docx": (docx(paragraph("x")), zipped(long, first=[*long])),
        "pptx": (pptx([slide()]),),
        "odt": (odt(""), zipped({"mimetype": "application/vnd.oasis.opendocument.text-template"})),
        "epub": (epub({"a.xhtml": ""}), zipped({"META-INF/container.xml": "", "book.opf": ""})),
    }
    for kind, files in made.items():
        assert {format_of(data, name).kind for data in files} == {kind}


@pytest.mark.parametrize(
    "data",
    [
        docx("", parts={"word/document.xml": "<w:document"}),
        docx("", parts={"word/document.xml": LAUGHS}),
        docx("", parts={"word/document.xml": FETCHING}),
        docx("", parts={"_rels/.rels": relationships(d=("officeDocument", "../../etc/passwd"))}),
        docx("", parts={"_rels/.rels": "<x/>"}),
        epub({}),
        epub({"a.xhtml": ""}, parts={"META-INF/container.xml": "<x/>"}),
        zipped({"mimetype": "application/vnd.oasis.opendocument.text"}),
        docx("<w:ins>" * 30_000 + "</w:ins>" * 30_000),
        odt("<text:section>" * 30_000 + "</text:section>" * 30_000),
    ],
    ids=[
        *("cut", "laughs", "fetching", "path", "no relations", "no spine", "no container"),
        *("no text", "nested", "nested sections"),
    ],
)
def test_a_broken_or_hostile_archive_fails_with_what_to_do(data: bytes, tmp_path: Path) -> None:
    with pytest.raises(DocumentBroken) as refused:
        read(data, tmp_path)
    assert refused.value.hint


def forged(data: bytes, name: str, *, size: int | None = None, flags: int = 0) -> bytes:
    """Change what the directory of an archive says of a file."""
    at = data.rindex(name.encode()) - 46  # where its entry begins
    assert data[at : at + 4] == b"PK\x01\x02"
    entry = bytearray(data)
    struct.pack_into("<H", entry, at + 8, flags)
    if size is not None:
        struct.pack_into("<I", entry, at + 24, size)
    return bytes(entry)


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"size": 1_000_000_000}, DocumentTooLarge),
        ({"size": 10}, DocumentBroken),
        ({"flags": 1}, DocumentEncrypted),
    ],
    ids=["a bomb", "a lie", "a password"],
)
def test_what_the_directory_says_is_held_against_the_limits(
    change: dict[str, int], error: type[KnowledgeBaseError], tmp_path: Path
) -> None:
    data = docx(paragraph("Words."))
    with pytest.raises(error):
        read(forged(data, "word/document.xml", **change), tmp_path)


def test_protected_books_and_documents_are_told_from_those_that_only_hide_a_font(
    tmp_path: Path,
) -> None:
    protection = (
        '<encryption xmlns:e="e"><e:EncryptedData><e:EncryptionMethod Algorithm="{}"/>'
        '<e:CipherData><e:CipherReference URI="OEBPS/{}"/></e:CipherData></e:EncryptedData>'
        "</encryption>"
    )
    book = partial(epub, {"a.xhtml": "<p>Words.</p>"})
    drm = {"META-INF/encryption.xml": protection.format("aes128-cbc", "a.xhtml")}
    with pytest.raises(DocumentEncrypted, match="DRM"):
        read(book(parts=drm), tmp_path)
    fonts = {
        "META-INF/encryption.xml": protection.format("http://www.idpf.org/2008/embedding", "a.ttf")
    }
    assert text_of(read(book(parts=fonts), tmp_path)) == "Words."
    manifest = (
        f"<manifest:manifest {OPEN_DOCUMENT}><manifest:file-entry><manifest:encryption-data/>"
        "</manifest:file-entry></manifest:manifest>"
    )
    with pytest.raises(DocumentEncrypted, match="password"):
        read(odt("", parts={"META-INF/manifest.xml": manifest}), tmp_path)


def test_a_file_that_would_take_too_long_is_given_up(tmp_path: Path) -> None:
    path = tmp_path / "long.docx"
    path.write_bytes(docx(paragraph("Words.") * 100_000))
    with pytest.raises(reader.ArchiveTooComplex) as refused:
        reader.read("docx", path, most_pages=5_000, seconds=1)
    assert "PDF" in refused.value.hint


def test_more_slides_or_pages_than_allowed_are_too_many(tmp_path: Path) -> None:
    for data in (pptx([slide()] * 4), docx(paragraph("Words again. " * 200) * 5)):
        with pytest.raises(DocumentTooLarge):
            read(data, tmp_path, most_pages=3)


def test_of_a_refused_file_nothing_is_stored(collection: Collection) -> None:
    with pytest.raises(DocumentUnknown):
        storage.add(collection, BytesIO(zipped({"x": "x"})), name="report.docx")
    assert not Source.objects.exists()


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (docx("", parts={"word/document.xml": LAUGHS}), DocumentBroken),
        (docx(paragraph("")), DocumentWithoutText),
        (pptx([slide()]), DocumentWithoutText),
    ],
    ids=["broken", "empty", "empty slides"],
)
def test_a_document_that_cannot_be_read_fails_for_good_and_has_no_pages(
    collection: Collection, data: bytes, error: type[KnowledgeBaseError]
) -> None:
    source = storage.add(collection, BytesIO(data), name="report.docx").source
    with pytest.raises(error):
        storage.extract(source)
    assert not Page.objects.exists()
    assert source.state == State.PENDING

"""The write side of documents: a file's bytes are checked, stored and read into pages."""

import hashlib
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path, PurePath
from typing import IO, Final

from django.conf import settings
from django.db import transaction

from citations.errors import DocumentBroken, DocumentTooLarge, DocumentWithoutText
from citations.models import Document, DocumentPart, Page, Source, SourceKind, State
from citations.readers import dispatch as reader_dispatch
from citations.readers import file_types
from citations.readers.page import Facts, ReadPage, Survey
from transcripts import locks
from transcripts.errors import InvalidInput
from transcripts.locks import Lock
from transcripts.models import Collection
from transcripts.sanitize import clean
from transcripts.storage import clean_tags

PART: Final = 1024 * 1024  # bytes
PAGES_AT_ONCE: Final = 20  # stored in one transaction
CHARACTERS_A_PAGE: Final = 10_000  # on average over as many pages as a document may have: a small file may unpack to any length
NAME_LENGTH, TITLE_LENGTH, AUTHOR_LENGTH, LANGUAGE_LENGTH = 300, 300, 200, 35
KEPT_BYTES: Final = 2_000_000_000  # of files in the cache
KEPT_SECONDS: Final = 3_600  # that a file stays there after it was used, however full the cache is

_KINDS: Final = {
    file_types.PDF: SourceKind.PDF,
    file_types.MARKDOWN: SourceKind.MARKDOWN,
    file_types.TEXT: SourceKind.TEXT,
    file_types.HTML: SourceKind.HTML,
}

sniff = file_types.sniff
may_be_document = file_types.may_be_document


@dataclass(frozen=True, slots=True)
class AddedDocument:
    """A document in the library, and whether it was added just now, or was there."""

    source: Source
    is_new: bool


# Adding


def add(
    collection: Collection,
    file: IO[bytes],
    *,
    name: str,
    title: str = "",
    tags: Sequence[str] = (),
    language: str = "",
) -> AddedDocument:
    """Store a file (that can be read twice) as a source that waits to be read; the same bytes in the same collection are the same source.

    One that could not be read before is tried again. Raises ``DocumentTooLarge``, ``DocumentUnknown``, ``InvalidInput`` for an empty one.
    """
    name = clean_name(name)
    file.seek(0)
    media_type = file_types.sniff(file.read(file_types.HEAD), name)
    digest, size = _measure(file)
    with transaction.atomic():
        _wait_for_twins(collection, digest)
        known = (
            Source.objects.select_for_update()
            .filter(collection=collection, document__digest=digest)
            .first()
        )
        if known is not None:
            if known.state == State.FAILED:
                known.start_anew()
            return AddedDocument(known, is_new=False)
        about = {
            "title": clean(title, TITLE_LENGTH) or _title_of(name),
            "language": clean(language, LANGUAGE_LENGTH),
            "tags": clean_tags(tags),
        }
        source = Source.objects.create(collection=collection, kind=_KINDS[media_type], **about)
        document = Document.objects.create(
            source=source, name=name, media_type=media_type, size=size, digest=digest
        )
        file.seek(0)
        for ordinal, data in enumerate(_parts(file)):
            DocumentPart.objects.create(document=document, ordinal=ordinal, data=data)
    return AddedDocument(source, is_new=True)


def is_document(file: IO[bytes], name: str) -> bool:
    """Say whether a file is a document, and not captions, by what it begins with; it stands at its beginning afterwards."""
    file.seek(0)
    head = file.read(file_types.HEAD)
    file.seek(0)
    return file_types.is_document(head, name)


def clean_name(name: str) -> str:
    """Return a file's name as it is stored: without folders, of printable characters."""
    last = name.replace("\\", "/").rstrip("/").rpartition("/")[2]
    printable = "".join(mark for mark in last if mark.isprintable())
    return clean(printable, NAME_LENGTH) or "document"


def _measure(file: IO[bytes]) -> tuple[str, int]:
    """Return the SHA-256 (hex) and the size. Raises ``DocumentTooLarge`` before all of a larger file is read, ``InvalidInput`` for an empty one."""
    digest, size = hashlib.sha256(), 0
    file.seek(0)
    for data in _parts(file):
        size += len(data)
        if size > settings.MAX_DOCUMENT_BYTES:
            raise DocumentTooLarge(f"It has more than {settings.MAX_DOCUMENT_BYTES:,} bytes.")
        digest.update(data)
    if not size:
        raise InvalidInput("There is nothing in it.", hint="Check that the file is the right one.")
    return digest.hexdigest(), size


def _parts(file: IO[bytes]) -> Iterator[bytes]:
    while data := file.read(PART):
        yield data


def _wait_for_twins(collection: Collection, digest: str) -> None:
    """Let two who add the same bytes at once come one after the other."""
    key = hashlib.sha256(f"{collection.pk} {digest}".encode()).digest()[:4]
    locks.hold_for_transaction(Lock.DOCUMENT, int.from_bytes(key, "big", signed=True))


def _title_of(name: str) -> str:
    return PurePath(name).stem.replace("_", " ").strip() or name


# The file itself


def path_of(document: Document) -> Path:
    """Return a copy of the file on this machine's disk, which nobody may change; it stays for an hour at least."""
    path = _folder() / document.digest
    with suppress(FileNotFoundError):
        if path.stat().st_size == document.size:
            os.utime(path)
            return path
    prune()
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".new-", delete=False) as fresh:
        try:
            _write(document, fresh)
            Path(fresh.name).replace(path)
        except BaseException:
            Path(fresh.name).unlink(missing_ok=True)
            raise
    return path


def prune() -> None:
    """Delete the copies of documents that are no more, and those used longest ago where all of them take too much room."""
    with suppress(FileNotFoundError):
        found = sorted(
            ((one.stat().st_mtime, one.stat().st_size, one) for one in _folder().iterdir()),
            reverse=True,
        )
        wanted = set(
            Document.objects.filter(digest__in=[path.name for *_, path in found]).values_list(
                "digest", flat=True
            )
        )
        total, now = 0, time.time()
        for used_at, size, path in found:
            total += size
            is_old = now - used_at > KEPT_SECONDS
            if (path.name not in wanted and (is_old or not path.name.startswith("."))) or (
                is_old and total > KEPT_BYTES
            ):
                path.unlink(missing_ok=True)


def _folder() -> Path:
    return Path(settings.DATA_DIR) / "cache" / "documents"


def _write(document: Document, file: IO[bytes]) -> None:
    digest = hashlib.sha256()
    for data in (
        DocumentPart.objects.filter(document=document)
        .order_by("ordinal")
        .values_list("data", flat=True)
        .iterator(chunk_size=4)
    ):
        digest.update(data)
        file.write(data)
    file.flush()
    if digest.hexdigest() != document.digest:
        raise DocumentBroken(
            f"The bytes of “{document.name}” are not all there.",
            hint="Delete it and add the file again.",
        )


# Reading it

Progress = Callable[[int, int], object]
"""Is told how many pages are read, of how many."""


def extract(source: Source, on_progress: Progress | None = None) -> None:
    """Read a document's pages, if today's reader has not done so yet; a killed try goes on after the last page that is stored.

    Memory is bounded: a few pages at a time. Raises ``DocumentEncrypted``, ``DocumentBroken``, ``DocumentTooLarge``, ``DocumentWithoutText``.
    """
    document = Document.objects.filter(source=source).first()
    if document is None or document.read_by == reader_dispatch.version_of(document.media_type):
        return
    _Extraction(source, document, on_progress).perform()


@dataclass(slots=True)
class _Extraction:
    source: Source
    document: Document
    on_progress: Progress | None
    survey: Survey = field(default_factory=Survey)
    end: int = 0  # of the text so far, in characters
    tail: str = ""  # the last character of it
    heading: str = ""  # that holds at the end of the pages that are stored

    def perform(self) -> None:
        first = self._resume()
        most = settings.MAX_DOCUMENT_PAGES
        opened = reader_dispatch.open_file(
            path_of(self.document), self.document.media_type, most_pages=most, first=first
        )
        pages = iter(opened.pages)
        while batch := list(islice(pages, PAGES_AT_ONCE)):
            self._store(batch)
            if self.on_progress:
                self.on_progress(batch[-1].number, opened.facts.page_count)
        if not self.end:
            Page.objects.filter(
                document=self.document
            ).delete()  # so that another try says again which pages are pictures
            raise DocumentWithoutText(
                f"“{self.document.name}” has no text. {self.survey.note()}".rstrip()
            )
        self._finish(opened.facts)

    def _resume(self) -> int:
        """Return the number of the page to go on with; pages that another reader made are read again."""
        if self.document.read_by:
            Page.objects.filter(document=self.document).delete()
            Document.objects.filter(pk=self.document.pk).update(read_by="")
        stored = Page.objects.filter(document=self.document).order_by("-number").first()
        if stored is None:
            return 1
        self.survey.pages = stored.number
        written = (
            Page.objects.filter(document=self.document).exclude(text="").order_by("-number").first()
        )
        if written is not None:
            self.end, self.tail, self.heading = (
                written.start + len(written.text),
                written.text[-1:],
                written.blocks[-1][2],
            )
        return stored.number + 1

    def _store(self, batch: Sequence[ReadPage]) -> None:
        rows = [self._row(page) for page in batch]
        most = settings.MAX_DOCUMENT_PAGES * CHARACTERS_A_PAGE
        if self.end > most:
            raise DocumentTooLarge(f"It has more than {most:,} characters.")
        Page.objects.bulk_create(rows)

    def _row(self, page: ReadPage) -> Page:
        self.survey.add(page)
        start = self.end + self._gap(page) if page.text else self.end
        if page.text:
            self.end, self.tail = start + len(page.text), page.text[-1:]
        blocks = [
            [first, last, heading or self.heading, begins]
            for first, last, heading, begins in page.blocks
        ]
        return Page(
            document=self.document,
            number=page.number,
            label=page.label[:40],
            start=start,
            text=page.text,
            blocks=blocks,
        )

    def _gap(self, page: ReadPage) -> int:
        """Say how many characters lie between the text so far and this page: one where a sentence goes on, else an empty line."""
        if not self.end:
            return 0
        begins = bool(page.blocks) and page.blocks[0].boundary
        return 1 if not begins and self.tail.isalnum() or self.tail == "," else 2

    def _finish(self, facts: Facts) -> None:
        version = reader_dispatch.version_of(self.document.media_type)
        outline = [list(entry) for entry in facts.outline]
        about = {
            "read_by": version,
            "page_count": facts.page_count,
            "outline": outline,
            "note": self.survey.note(),
        }
        with transaction.atomic():
            Document.objects.filter(pk=self.document.pk).update(**about)
            self.source.change(**self._told_by(facts))

    def _told_by(self, facts: Facts) -> dict[str, str]:
        """Return what the file says of itself, where nobody said otherwise."""
        told = {}
        if facts.title and self.source.title == _title_of(self.document.name):
            told["title"] = clean(facts.title, TITLE_LENGTH)
        if facts.author and not self.source.author:
            told["author"] = clean(facts.author, AUTHOR_LENGTH)
        if facts.language and not self.source.language and len(facts.language) <= LANGUAGE_LENGTH:
            told["language"] = clean(facts.language, LANGUAGE_LENGTH)
        return {name: value for name, value in told.items() if value}

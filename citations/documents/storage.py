"""Stores documents: checks a file, stores its bytes, and reads its pages."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from pathlib import PurePath
from typing import IO, Any, Final

from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone

from citations.documents import guessed_sections, local_copies, ocr
from citations.errors import DocumentTooLarge, DocumentWithoutText, SourceNotFound
from citations.formats import FORMATS
from citations.models import Document, DocumentPart, Page, Source, SourceQuerySet, State
from citations.providers import languages
from citations.readers import recognition
from citations.readers.ocr import engine
from citations.readers.page import Facts, ReadPage, Survey
from citations.readers.pagination import open_document
from citations.readers.pdf.sections import has_bookmarks
from transcripts.adding.files import readable
from transcripts.adding.storage import clean_tags
from transcripts.core import audit, locks
from transcripts.core.audit import Action
from transcripts.core.errors import InvalidInput, InvalidUrl
from transcripts.core.languages import parse as parse_language
from transcripts.core.locks import Lock
from transcripts.core.sanitize import clean
from transcripts.models import Collection
from transcripts.text.timecodes import parse_web_page

STEP: Final = "reading pages"
BLANK_HINT: Final = "Open it where it shows its text, print it as PDF, and add that."
PART: Final = 1024 * 1024  # bytes
PAGES_AT_ONCE: Final = 20  # stored in one transaction
SAMPLE_PAGES: Final = 8  # whose language is that of a document which names none
CHARACTERS_A_PAGE: Final = 10_000  # on average: a small file may unpack to any length
NAME_LENGTH, TITLE_LENGTH, AUTHOR_LENGTH, LANGUAGE_LENGTH = 300, 300, 200, 35
NO_LANGUAGE: Final = ("und", "mul", "mis", "zxx")  # tags of ISO 639 that name none


@dataclass(frozen=True, slots=True)
class AddedDocument:
    """A document in the library, and whether it is new there."""

    source: Source
    is_new: bool


def add(
    collection: Collection,
    file: IO[bytes],
    *,
    name: str,
    title: str = "",
    tags: Sequence[str] = (),
    language: str = "",
    url: str = "",
    by: User | None = None,
    by_ocr: bool = False,
) -> AddedDocument:
    """Store a seekable file, which the user ``by`` adds, as a source whose pages are read later;
    ``by_ocr`` those without a text layer, too, if it is a PDF, and always if it is a picture.
    ``url`` is where it was fetched.

    The same bytes in the same collection are the same source, which is read again if that failed.
    Raises ``DocumentTooLarge``, ``DocumentUnknown``, ``DocumentEncrypted`` for a file of an office
    program with a password, ``InvalidInput`` for an empty file, and ``OcrMissing``.
    """
    name = clean_name(name)
    format = recognition.recognise(recognition.read_head(file), name)
    if by_ocr := format.is_picture or (by_ocr and format.is_laid_out):
        engine.require_installed()
    digest, size = _measure(file)
    with transaction.atomic():
        key = hashlib.sha256(f"{collection.pk} {digest}".encode()).digest()[:4]
        locks.hold_for_transaction(Lock.DOCUMENT, int.from_bytes(key, "big", signed=True))
        same = Source.objects.filter(collection=collection, document__digest=digest)
        # Not the document's row, too: its reader holds that while it waits for the source's.
        if existing := same.select_for_update(of=("self",)).first():
            if by_ocr and existing.document.unread_pages:
                ocr.request(existing)
            elif existing.state == State.FAILED:
                existing.start_anew()
            return AddedDocument(existing, is_new=False)
        about = {
            "title": clean(title, TITLE_LENGTH) or _title_of(name),
            "language": clean(language, LANGUAGE_LENGTH),
            "tags": clean_tags(tags),
            "size": size // format.bytes_a_character,
            "added_by": by,
            "url": url,
        }
        source = Source.objects.create(collection=collection, kind=format.kind, **about)
        audit.record(Action.ADD, "document", source.uuid, collection=collection)
        document = Document.objects.create(
            source=source,
            name=name,
            media_type=format.media_type,
            size=size,
            digest=digest,
            awaits_ocr=by_ocr,
        )
        file.seek(0)
        for ordinal, data in enumerate(_parts(file)):
            DocumentPart.objects.create(document=document, ordinal=ordinal, data=data)
    return AddedDocument(source, is_new=True)


def is_document(file: IO[bytes], name: str) -> bool:
    """Whether a file is a document rather than captions; rewinds it."""
    return recognition.is_document(recognition.read_head(file), name)


def clean_name(name: str) -> str:
    """Return a file's name to store, without folders and unprintable characters."""
    last = name.replace("\\", "/").rstrip("/").rpartition("/")[2]
    printable = "".join(letter for letter in last if letter.isprintable())
    return clean(printable, NAME_LENGTH) or "document"


def _measure(file: IO[bytes]) -> tuple[str, int]:
    """Return the SHA-256 (hex) and the size. Raises ``DocumentTooLarge`` and ``InvalidInput``."""
    digest, size = hashlib.sha256(), 0
    file.seek(0)
    for data in _parts(file):
        size += len(data)
        if size > settings.MAX_DOCUMENT_BYTES:
            raise DocumentTooLarge(f"It has more than {settings.MAX_DOCUMENT_BYTES:,} bytes.")
        digest.update(data)
    if not size:
        raise InvalidInput("It is empty.", hint="Check that it is the right file.")
    return digest.hexdigest(), size


def _parts(file: IO[bytes]) -> Iterator[bytes]:
    while data := file.read(PART):
        yield data


def _title_of(name: str) -> str:
    return readable(PurePath(name).stem)


def _named_language(facts: Facts) -> str:
    """Return the tag of the language that a document names; "" for what is no language."""
    try:
        tag = parse_language(facts.language)
    except InvalidInput:
        return ""
    return "" if tag in NO_LANGUAGE else tag


def _published(facts: Facts) -> datetime | None:
    """Return the moment that a document names as ISO 8601, at its day's beginning in this zone."""
    try:
        moment = datetime.fromisoformat(facts.published)
        return moment if timezone.is_aware(moment) else timezone.make_aware(moment)
    except (ValueError, OverflowError):
        return None


def is_read(source: Source) -> bool:
    """Whether all words of a source are there: those of a document, once it was read to its end."""
    return not Document.objects.filter(source=source, read_by="").exists()


def document_note(source: Source) -> str:
    """Return what is wrong with a document's text, "" if nothing is known to be."""
    return Document.objects.filter(source=source).values_list("note", flat=True).first() or ""


def read_otherwise(among: SourceQuerySet) -> SourceQuerySet:
    """Keep the documents that another version of their reader has read, and that do not wait to be
    read again.
    """
    today = Q()
    for media_type, format in FORMATS.items():
        today |= Q(document__media_type=media_type, document__read_by=format.version)
    read = among.exclude(state=State.PENDING).exclude(document=None).exclude(document__read_by="")
    return read.exclude(today)


Progress = Callable[[int, int, str], object]  # gets the pages read, those to read, and the step


def extract(source: Source, on_progress: Progress | None = None) -> None:
    """Read a document's pages unless the reader's current version has done so.

    Continues after the last stored page. Keeps a few pages in memory. Raises ``DocumentEncrypted``,
    ``DocumentBroken``, ``DocumentTooLarge``, ``DocumentWithoutText``, and what
    ``ocr.read_pages`` raises.
    """
    document = None if source.video_id else Document.objects.filter(source=source).first()
    if document and (document.awaits_ocr or document.read_by != document.format.version):
        _Extraction(source, document, on_progress).perform()


@dataclass(slots=True)
class _Extraction:
    source: Source
    document: Document
    on_progress: Progress | None
    survey: Survey = field(default_factory=Survey)
    end: int = 0  # of the stored text, in characters
    tail: str = ""  # its last character
    heading: str = ""  # its last heading
    unread: list[int] = field(default_factory=list)  # numbers of pages that need OCR
    tried: set[int] = field(default_factory=set)  # those that OCR has read

    def perform(self) -> None:
        path = local_copies.path_of(self.document)
        if self.document.awaits_ocr:
            ocr.read_pages(self.document, path, self.on_progress)
        first = self._resume()
        stored, self.tried = ocr.results_of(self.document), ocr.pages_read(self.document)
        opened = open_document(
            path,
            self.document.format,
            most_pages=settings.MAX_DOCUMENT_PAGES,
            first=first,
            **({"ocr": stored} if stored else {}),
        )
        pages = iter(opened.pages)
        while batch := list(islice(pages, PAGES_AT_ONCE)):
            self._store(batch)
            if self.on_progress:
                self.on_progress(batch[-1].number, opened.facts.page_count, STEP)
        if not self.end:
            # So that another try reports again which pages are images.
            Page.objects.filter(document=self.document).delete()
            note = self._note(opened.facts)
            is_told = opened.facts.note or self.tried
            hint = "" if is_told else None if self.survey.pictures else BLANK_HINT
            raise DocumentWithoutText(
                f"“{self.document.name}” has no text. {note}".rstrip(), hint=hint
            )
        self._finish(opened.facts)

    def _resume(self) -> int:
        """Return the number of the first page to read; deletes pages of another reader."""
        pages = Page.objects.filter(document=self.document).order_by("-number")
        if self.document.read_by:
            with transaction.atomic():  # ``is_read`` is never true of pages that are gone
                pages.delete()
                Document.objects.filter(pk=self.document.pk).update(read_by="")
        last = pages.first()
        if last is None:
            return 1
        self.survey.pages = last.number
        self.unread = list(self.document.unread_pages)
        if with_text := pages.exclude(text="").first():
            self.end, self.tail = with_text.end, with_text.text[: with_text.length][-1:]
            self.heading = with_text.blocks[-1][2]
        return last.number + 1

    def _store(self, batch: Sequence[ReadPage]) -> None:
        rows: list[Page] = []
        for page in batch:
            self.survey.add(page)
            if page.needs_ocr and page.number not in self.tried:
                self.unread.append(page.number)
            start = self.end + self._gap(page) if page.text else self.end
            if page.blocks and page.blocks[0].boundary:
                self.heading = ""  # it begins a section of its own
            if page.text:
                length = page.blocks[-1].last if page.blocks else 0
                self.end, self.tail = start + length, page.text[:length][-1:]
            blocks = [
                [*block[:2], block.heading or self.heading, block[3]] for block in page.blocks
            ]
            columns = {"number": page.number, "label": page.label[:40], "start": start}
            texts = {"text": page.text, "html": page.html, "is_slide": page.is_slide}
            rows.append(Page(document=self.document, blocks=blocks, **texts, **columns))
        most = settings.MAX_DOCUMENT_PAGES * CHARACTERS_A_PAGE
        if self.end > most:
            raise DocumentTooLarge(f"It has more than {most:,} characters.")
        own = Document.objects.filter(pk=self.document.pk)
        try:
            Page.objects.bulk_create(rows)
            own.update(unread_pages=self.unread)
        except IntegrityError:
            raise SourceNotFound("The document was removed while it was read.") from None

    def _note(self, facts: Facts) -> str:
        read = ocr.note(self.document, facts.page_count)
        return " ".join(filter(None, (facts.note, self.survey.note(), read)))

    def _language(self, facts: Facts) -> str:
        """Return the language that it names, or else seems to be in; "" if neither is known."""
        named = _named_language(facts)
        return named if languages.is_known(named) else self._guess(facts) or named

    def _guess(self, facts: Facts) -> str:
        """Return the language that some of the pages, from all parts, are surely in, or ""."""
        numbers = range(1, facts.page_count + 1, max(1, facts.page_count // SAMPLE_PAGES))
        pages = Page.objects.filter(document=self.document, number__in=numbers)
        return languages.guess(" ".join(pages.order_by("number").values_list("text", flat=True)))

    def _gap(self, page: ReadPage) -> int:
        """Return the characters before this page: 1 within a sentence, or else an empty line."""
        if not self.end:
            return 0
        boundary = bool(page.blocks) and page.blocks[0].boundary
        return 1 if not boundary and self.tail.isalnum() or self.tail == "," else 2

    def _finish(self, facts: Facts) -> None:
        """Store the document's facts, and those of the source that the user did not enter."""
        metadata: dict[str, Any] = {}
        edited = self.source.edited
        if "title" not in edited and self.source.title == _title_of(self.document.name):
            metadata["title"] = clean(facts.title, TITLE_LENGTH)
        if not self.source.author:
            metadata["author"] = clean(facts.author, AUTHOR_LENGTH)
        if not self.source.language and "language" not in edited:
            metadata["language"] = self._language(facts)
        if not self.source.url:
            with suppress(InvalidUrl):
                metadata["url"] = parse_web_page(facts.url)
        if self.source.published_at is None:
            metadata["published_at"] = _published(facts)
        with transaction.atomic():
            guesses = self.document.format.is_laid_out and not has_bookmarks(facts.outline)
            outline = guessed_sections.settle(self.document) if guesses else facts.outline
            Document.objects.filter(pk=self.document.pk).update(
                read_by=self.document.format.version,
                page_count=facts.page_count,
                outline=[list(entry) for entry in outline],
                note=self._note(facts),
            )
            self.source.change(
                has_slides=guessed_sections.has_slides(self.document),
                **{name: value for name, value in metadata.items() if value},
            )

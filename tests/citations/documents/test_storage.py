"""Documents on the write side: bytes, pages, what survives a kill, and what is refused."""

from collections.abc import Callable, Iterator
from datetime import UTC
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from citations.documents import local_copies
from citations.documents import storage as document_storage
from citations.errors import DocumentBroken, DocumentTooLarge, DocumentUnknown, DocumentWithoutText
from citations.formats import TEXT
from citations.ingest import pipeline as ingest_pipeline
from citations.models import Document, DocumentPart, Page, Source, State
from citations.readers import plain_text, source_blocks
from citations.readers.pagination import MAX_PAGE, OpenDocument
from citations.text import chunking
from tests.citations.readers.pdf.papers import LOSS, paper, scanned, write
from tests.connections import another_connection
from transcripts.core.errors import InvalidInput
from transcripts.models import Collection

SAMPLE = Path(document_storage.__file__).parents[1] / "sample" / "counting-waiting-keeping-time.pdf"
PROSE = "\n\n".join(
    f"Paragraph {n} is about walruses on the ice, and about little else." for n in range(1_500)
).encode()

pytestmark = pytest.mark.usefixtures("fake_models")


def add(collection: Collection, data: bytes, name: str = "prose.txt", **more: Any) -> Source:
    return document_storage.add(collection, BytesIO(data), name=name, **more).source


def read(collection: Collection, data: bytes, name: str = "prose.txt", **more: Any) -> Source:
    """Add a document and read its pages."""
    source = add(collection, data, name, **more)
    document_storage.extract(source)
    source.refresh_from_db()
    return source


def ingested(source: Source) -> Source:
    ingest_pipeline.ingest(source.pk)
    source.refresh_from_db()
    return source


def texts(source: Source) -> list[str]:
    pages = Page.objects.filter(document=source.pk).order_by("number")
    return list(pages.values_list("text", flat=True))


def test_the_same_bytes_are_one_source_in_a_collection_and_another_elsewhere(
    collection: Collection,
) -> None:
    first = document_storage.add(collection, BytesIO(PROSE), name="a.txt")
    again = document_storage.add(collection, BytesIO(PROSE), name="b.txt")
    other = document_storage.add(
        Collection.objects.create(name="Other", slug="other"), BytesIO(PROSE), name="a.txt"
    )
    assert (first.is_new, again.is_new, other.is_new) == (True, False, True)
    assert first.source == again.source != other.source


@pytest.mark.django_db(transaction=True)
def test_one_that_is_read_just_now_can_be_added_again(collection: Collection) -> None:
    source = add(collection, PROSE, "a.txt")
    with another_connection() as reading, connection.cursor() as cursor:
        reading.execute("UPDATE citations_document SET note = '' WHERE source_id = %s", [source.pk])
        cursor.execute("SET lock_timeout = '5s'")
        try:
            assert add(collection, PROSE, "a.txt") == source
        finally:
            cursor.execute("RESET lock_timeout")


def test_one_that_failed_is_tried_again_when_it_is_added_again(collection: Collection) -> None:
    source = ingested(add(collection, b"%PDF-1.7\nnothing of it is there\n", "x.pdf"))
    assert (source.state, source.error_code) == (State.FAILED, "document_broken")
    assert source.hint
    add(collection, b"%PDF-1.7\nnothing of it is there\n", "x.pdf")
    source.refresh_from_db()
    assert source.state == State.PENDING


@pytest.mark.parametrize(
    ("name", "stored", "title"),
    [
        ("../../etc/passwd.txt", "passwd.txt", "passwd"),
        ("C:\\papers\\my_notes.txt", "my_notes.txt", "my notes"),
        ("openstax-calculus-1.md", "openstax-calculus-1.md", "openstax calculus 1"),
        ("a\0b\nc.txt", "abc.txt", "abc"),
        ("", "document", "document"),
        ("x" * 400 + ".txt", "x" * 300, "x" * 300),
    ],
)
def test_a_name_is_no_path_and_nothing_that_a_terminal_obeys(
    collection: Collection, name: str, stored: str, title: str
) -> None:
    source = add(collection, PROSE, name)
    assert (source.document.name, source.title) == (stored, title)


def test_what_is_too_large_empty_or_unknown_leaves_nothing_behind(
    collection: Collection, settings: Any
) -> None:
    settings.MAX_DOCUMENT_BYTES = 1_000
    for data, error in (
        (b"x" * 1_001, DocumentTooLarge),
        (b"", InvalidInput),
        (b"PK\x03\x04", DocumentUnknown),
    ):
        with pytest.raises(error):
            add(collection, data)
    assert not Source.objects.exists()


def test_a_document_becomes_pages_whose_texts_are_the_sources_text(collection: Collection) -> None:
    source = add(collection, PROSE)
    steps: list[tuple[str, int, int]] = []
    ingest_pipeline.ingest(
        source.pk, on_progress=lambda row: steps.append((row.step, row.done, row.total))
    )
    source.refresh_from_db()
    pages = list(Page.objects.filter(document=source.pk))
    assert (source.state, source.document.page_count) == (State.READY, len(pages))
    assert ("reading pages", 20, len(pages)) in steps
    text = chunking.text_of(source_blocks.read(source))
    assert text.split() == PROSE.decode().split()
    for page in pages:
        assert text[page.start : page.start + len(page.text)] == page.text
    chunk = source.chunks.order_by("ordinal").last()
    assert chunk is not None
    assert chunk.last_page == len(pages)


def test_a_pdf_tells_its_title_unless_somebody_gave_one(collection: Collection) -> None:
    untold = read(collection, SAMPLE.read_bytes(), "x.pdf")
    titled = read(collection, SAMPLE.read_bytes() + b"\n", "y.pdf", title="Mine")
    assert (untold.title, titled.title) == ("Counting, Waiting, Keeping Time", "Mine")
    assert untold.author
    assert untold.document.outline


def test_a_document_that_names_no_language_is_in_the_one_that_it_is_surely_in(
    collection: Collection,
) -> None:
    assert read(collection, PROSE).language == "en"
    assert read(collection, PROSE + b"\n", language="de").language == "de"
    assert read(collection, b"ice " * 300).language == ""


GERMAN = (
    "Der Fluss entspringt in den Bergen und fließt an alten Mühlen vorbei bis in die Ebene. Im"
    " Frühjahr steigt das Wasser, weil der Schnee schmilzt, und die Wiesen stehen wochenlang unter"
    " Wasser. Die Bauern kennen das seit Jahrhunderten und bauen ihre Höfe weiter oben am Hang."
)


@pytest.mark.parametrize(
    ("page", "language"),
    [
        (f'<html lang="de-AT"><p>{PROSE[:900].decode()}', "de-AT"),
        (f'<html lang="en_US"><p>{GERMAN}', "en-US"),
        (f'<html xml:lang="fr"><p>{GERMAN}', "fr"),
        ('<html><body lang="German"><p>Kurz.', "de"),
        ('<html lang="mi"><p>Kia ora.', "mi"),
        (f"<!doctype html><html><p>{GERMAN}", "de"),
        (f'<html lang="und"><p>{GERMAN}', "de"),
        (f'<html lang="xx"><p>{GERMAN}', "de"),
        (f'<html lang="{"no language at all " * 9}"><p>{GERMAN}', "de"),
        ('<html lang="?"><p>Kurz.', ""),
    ],
)
def test_a_web_page_is_in_the_language_that_it_names_or_else_seems_to_be_in(
    collection: Collection, page: str, language: str
) -> None:
    assert read(collection, page.encode(), "page.html").language == language


def test_a_pdf_without_bookmarks_has_the_contents_that_its_numbers_tell_and_no_labels(
    collection: Collection, tmp_path: Path
) -> None:
    def section(number: str) -> Callable[[Any], None]:
        def draw(canvas: Any) -> None:
            y = 760.0
            for heading in (number, "Hint", "Key Concepts", "Hint"):
                canvas.setFont("Helvetica-Bold", 10)
                canvas.drawString(72, y, heading)
                canvas.setFont("Helvetica", 10)
                y = write(canvas, LOSS, y=y - 14) - 10

        return draw

    titles = ["1 Limits", "1.1 Slopes", "1.2 Areas", "2 Sums", "2.1 Rules"]
    data = paper(tmp_path / "x.pdf", [section(title) for title in titles]).read_bytes()
    source = read(collection, data, "x.pdf")
    expected = [[title.count(".") + 1, title, page] for page, title in enumerate(titles, 1)]
    assert source.document.outline == expected
    [first, *_] = Page.objects.filter(document=source.pk).order_by("number")
    assert "Hint" in first.text
    assert [(heading, boundary) for _, _, heading, boundary in first.blocks] == [
        ("1 Limits", True),
        *[("1 Limits", False)] * 3,
        ("Key Concepts", True),
        *[("Key Concepts", False)] * 3,
    ]


def test_reading_that_was_killed_goes_on_after_the_last_stored_page(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = read(collection, PROSE)
    whole = texts(source)
    starts = list(Page.objects.filter(document=source.pk).values_list("start", flat=True))
    Page.objects.filter(document=source.pk).delete()
    Document.objects.filter(pk=source.pk).update(read_by="")
    first_pages: list[int] = []
    real = plain_text.read

    def dying(path: Path, *, most_pages: int, first: int = 1) -> OpenDocument:
        first_pages.append(first)
        opened = real(path, most_pages=most_pages, first=first)
        return OpenDocument(
            facts=opened.facts,
            pages=_until_killed(opened) if len(first_pages) == 1 else opened.pages,
        )

    def _until_killed(opened: OpenDocument) -> Iterator[Any]:
        for page in opened.pages:
            if page.number == 30:
                raise KeyboardInterrupt
            yield page

    monkeypatch.setattr(plain_text, "read", dying)
    with pytest.raises(KeyboardInterrupt):
        document_storage.extract(source)
    document_storage.extract(source)
    assert first_pages == [1, 1 + document_storage.PAGES_AT_ONCE]
    assert texts(source) == whole
    assert list(Page.objects.filter(document=source.pk).values_list("start", flat=True)) == starts
    document_storage.extract(source)
    assert len(first_pages) == 2  # nothing is left to be read


def test_what_is_read_after_a_kill_stands_under_the_heading_before_it(
    collection: Collection, tmp_path: Path
) -> None:
    def heading(canvas: Any) -> None:
        canvas.setFont("Helvetica-Bold", 18)
        canvas.drawString(72, 760, "On the ways of walruses")

    def prose(canvas: Any) -> None:
        write(canvas, f"Page {canvas.getPageNumber()} goes on, {LOSS}".rstrip(". "))

    pages = [heading, *[prose] * 18, lambda canvas: None, prose, prose]
    source = read(collection, paper(tmp_path / "x.pdf", pages).read_bytes(), "x.pdf")
    stored = Page.objects.filter(document=source.pk)
    whole = list(stored.values_list("number", "start", "text", "blocks"))
    stored.filter(number__gt=20).delete()
    Document.objects.filter(pk=source.pk).update(read_by="")
    document_storage.extract(source)
    assert list(stored.values_list("number", "start", "text", "blocks")) == whole
    assert whole[-1][3][0][2] == "On the ways of walruses"
    assert whole[19][2] == ""


def test_a_small_file_that_unpacks_to_too_much_text_is_refused(
    collection: Collection, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    settings.MAX_DOCUMENT_PAGES = 30
    monkeypatch.setattr(document_storage, "CHARACTERS_A_PAGE", 100)
    source = add(collection, SAMPLE.read_bytes(), "x.pdf")
    for _ in range(2):
        with pytest.raises(DocumentTooLarge, match="3,000 characters"):
            document_storage.extract(source)
    assert not Page.objects.exists()


def test_more_pages_than_the_limit_are_refused_with_what_to_do(
    collection: Collection, settings: Any
) -> None:
    settings.MAX_DOCUMENT_PAGES = 3
    source = ingested(add(collection, b"x " * 2 * MAX_PAGE))
    assert (source.state, source.error_code) == (State.FAILED, "document_too_large")
    assert "MAX_DOCUMENT_PAGES" in source.hint


def test_a_document_without_words_says_so(collection: Collection) -> None:
    source = ingested(add(collection, b"<html><p></p></html>", "x.html"))
    assert source.error_code == "document_without_text"
    assert "print it as PDF" in source.hint  # no picture whose words could be recognised


def test_a_page_that_only_scripts_write_is_not_sent_to_text_recognition(
    collection: Collection,
) -> None:
    source = add(collection, b"<html><div id=root></div><script>fill()</script></html>", "x.html")
    with pytest.raises(DocumentWithoutText, match="scripts that may write more") as raised:
        document_storage.extract(source)
    assert "OCR" not in raised.value.text


@pytest.mark.parametrize(
    ("written", "day"),
    [("2026-05-03", "2026-05-03"), ("2026-05-03T23:00:00Z", "2026-05-03"), ("yesterday", None)],
)
def test_a_page_tells_its_date_unless_it_is_none(
    collection: Collection, written: str, day: str | None
) -> None:
    head = f'<meta property="article:published_time" content="{written}">'
    page = f"<html><head>{head}<body><p>Words."
    moment = read(collection, page.encode(), "x.html").published_at
    assert (moment.astimezone(UTC).date().isoformat() if moment else None) == day


def test_another_try_says_again_which_pages_are_pictures(
    collection: Collection, tmp_path: Path
) -> None:
    source = add(collection, scanned(tmp_path / "a.pdf").read_bytes(), "a.pdf")
    for _ in range(2):
        with pytest.raises(DocumentWithoutText, match=r"No text on pages 1–2 of 2") as raised:
            document_storage.extract(source)
        assert "OCR" in raised.value.hint


def test_words_of_others_are_not_kept_waiting_by_a_document(collection: Collection) -> None:
    source = add(collection, PROSE)
    assert ingest_pipeline.index_words() == 0
    ingest_pipeline.read_document(source.pk)
    source.refresh_from_db()
    assert (source.state, source.document.read_by) == (State.WORDS, TEXT.version)


def test_what_another_version_of_the_reader_read_is_known_until_it_is_read_again(
    collection: Collection,
) -> None:
    source, unread = add(collection, PROSE), add(collection, b"# Not read yet\n", "x.md")
    ingest_pipeline.read_document(source.pk)
    everything = Source.objects.all()
    assert [*document_storage.read_otherwise(everything)] == []
    Document.objects.filter(pk=source.pk).update(read_by="text 1")
    assert [*document_storage.read_otherwise(everything)] == [source]
    Source.objects.filter(pk=unread.pk).update(state=State.FAILED)
    assert [*document_storage.read_otherwise(everything)] == [source], "this one was never read"
    source.start_anew()
    assert [*document_storage.read_otherwise(everything)] == [], "it waits for that already"
    ingest_pipeline.read_document(source.pk)
    assert Document.objects.get(pk=source.pk).read_by == TEXT.version
    assert [*document_storage.read_otherwise(everything)] == []


# The copy on the disk


def test_the_copy_on_the_disk_is_the_file_and_goes_with_the_document(
    collection: Collection, settings: Any, tmp_path: Path
) -> None:
    settings.DATA_DIR = tmp_path
    data = bytes(range(32, 127)) * 30_000  # several parts
    source = add(collection, data)
    assert DocumentPart.objects.filter(document=source.pk).count() == 3
    path = local_copies.path_of(source.document)
    assert path.read_bytes() == data
    assert local_copies.path_of(source.document) == path
    local_copies.prune()
    assert path.exists()
    ingest_pipeline.remove(source)
    assert not path.exists()


def test_a_document_whose_bytes_are_not_all_there_is_not_shown_as_if_they_were(
    collection: Collection, settings: Any, tmp_path: Path
) -> None:
    settings.DATA_DIR = tmp_path
    source = add(collection, b"a" * 3 * document_storage.PART)
    DocumentPart.objects.filter(document=source.pk, ordinal=1).delete()
    with pytest.raises(DocumentBroken):
        local_copies.path_of(source.document)
    assert not list((tmp_path / "cache" / "documents").iterdir())


def test_copies_used_longest_ago_make_room(
    collection: Collection, settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.DATA_DIR = tmp_path
    monkeypatch.setattr(local_copies, "KEPT_BYTES", 2 * len(PROSE))
    old, new = (
        local_copies.path_of(add(collection, PROSE + bytes([65 + n])).document) for n in range(2)
    )
    monkeypatch.setattr(local_copies, "KEPT_SECONDS", -1)
    local_copies.prune()
    assert [path.exists() for path in (old, new)] == [False, True]

"""`kb add` with documents: a file's content decides what it is."""

import zlib
from pathlib import Path

import pytest

from citations.models import Page, Source, State
from citations.readers.ocr import engine
from citations.readers.pdf.ocr_page import OcrPage
from tests.citations.readers.pdf.bombs import page
from tests.citations.readers.pdf.papers import scanned
from tests.kbsite.cli.conftest import Kb
from transcripts.models import Video

PROSE = "Walruses rest on the ice. Zebras graze on the plain.\n\n" * 3
CAPTIONS = (
    "WEBVTT\n\n00:00.000 --> 00:05.000\nHello there\n\n00:05.000 --> 00:10.000\nand welcome\n"
)


def test_words_without_times_become_a_document_and_words_with_times_a_transcript(
    kb: Kb, tmp_path: Path
) -> None:
    (tmp_path / "prose.txt").write_text(PROSE)
    (tmp_path / "talk.txt").write_text(CAPTIONS)
    (tmp_path / "notes.md").write_text("# Walruses\n\nThey rest on the ice.\n")
    (tmp_path / "page.html").write_text("<!doctype html><title>Zebras</title><p>They graze.</p>")
    (tmp_path / "photo.jpg").write_bytes(b"\xff\xd8\xff")
    report = kb("add", tmp_path, "--json").json
    assert {
        (row["source"]["title"], row["source"]["kind"], row["is_new"])
        for row in report["documents"]
    } == {("prose", "text", True), ("Walruses", "markdown", True), ("Zebras", "html", True)}
    assert (report["added"], report["skipped"], report["problems"]) == (1, 1, [])
    assert Video.objects.get().key == "talk"


def test_a_document_is_found_by_its_words_at_once_and_told_as_such(kb: Kb, tmp_path: Path) -> None:
    (tmp_path / "prose.txt").write_text(PROSE)
    assert "“prose” added as a document (text)" in kb("add", tmp_path / "prose.txt").out
    assert "“prose” is already in the library (text)" in kb("add", tmp_path / "prose.txt").out
    hits = kb("search", "walruses", "--mode", "words", "--json").json["passages"]
    assert [(row["title"], row["page"]) for row in hits] == [("prose", 1)]


def test_a_scan_is_read_by_ocr_when_asked_and_says_what_is_missing(
    kb: Kb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scan = scanned(tmp_path / "scan.pdf", pages=1)
    assert "add --ocr FILE`" in kb("add", scan).err
    monkeypatch.setattr(engine, "is_installed", lambda: False)
    assert "pip install 'cuebase[ocr]'" in kb("add", "--ocr", scan, code=8).err
    monkeypatch.setattr(engine, "is_installed", lambda: True)
    said = [("words", 0.99, 100.0, 50.0, 20.0, [(10 * n, 10 * n + 9) for n in range(5)])]
    read = OcrPage(width=600, height=800, engine="Stand-in 1", lines=said)
    monkeypatch.setattr(engine, "read", lambda picture: read)
    kb("add", "--ocr", scan)
    assert Page.objects.get().text == "words"
    source = Source.objects.get()
    assert "Read by OCR (Stand-in 1), 99 % sure" in kb("show", source.uuid, code=3).err


def test_a_file_that_is_nothing_readable_is_refused_by_name_with_what_to_try(
    kb: Kb, tmp_path: Path
) -> None:
    (tmp_path / "slides.pptx").write_bytes(b"PK\x03\x04" + b"\0" * 100)
    result = kb("add", tmp_path / "slides.pptx", "--json", code=2)
    [problem] = result.json["problems"]
    assert (problem["code"], "PDF" in problem["hint"]) == ("document_unknown", True)


def test_a_document_that_cannot_be_read_says_so_and_is_listed_as_failed(
    kb: Kb, tmp_path: Path
) -> None:
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.7\nnothing of it is there\n" * 50)
    report = kb("add", tmp_path / "broken.pdf", "--json").json
    assert (report["failed"], report["documents"][0]["source"]["state"]) == (1, "failed")
    output = kb("add", tmp_path / "broken.pdf").out
    assert "cannot be read" in output
    assert "added" not in output
    assert Source.objects.get().state == State.FAILED
    assert [row["state"] for row in kb("sources", "--json").json["sources"]] == ["failed"]


def test_a_document_of_letters_without_height_is_added(kb: Kb, tmp_path: Path) -> None:
    said = b"".join(b"1 0 0 1 72 %d Tm (ab) Tj " % y for y in (700, 690, 680))
    (tmp_path / "tiny.pdf").write_bytes(page(zlib.compress(b"BT /F 0.1 Tf " + said + b"ET")))
    kb("add", tmp_path / "tiny.pdf")
    assert Source.objects.get().state != State.FAILED
    assert Page.objects.get().text.split() == ["ab"] * 3


def test_a_document_is_deleted_after_a_question(kb: Kb, tmp_path: Path) -> None:
    (tmp_path / "prose.txt").write_text(PROSE)
    [added] = kb("add", tmp_path / "prose.txt", "--json").json["documents"]
    kb("delete", added["source"]["id"], code=1)
    assert Source.objects.count() == 1
    kb("delete", added["source"]["id"], "--yes")
    assert (Source.objects.count(), Page.objects.count()) == (0, 0)

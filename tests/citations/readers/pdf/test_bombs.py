"""PDF bombs are read or refused by a typed error, within limits of time and memory."""

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import psutil
import pytest

from citations.errors import PageImageBusy
from citations.readers.pdf import reader
from citations.readers.pdf.worker import MEMORY
from tests.citations.readers.pdf.bombs import BOMBS
from tests.citations.readers.pdf.papers import book
from tests.footprint import footprint
from transcripts.core.errors import KnowledgeBaseError

MEGABYTE = 1 << 20
OWN = 300 * MEGABYTE  # that this process may take more, with the pages that it keeps
SECONDS = 3.0  # for a page

T = TypeVar("T")


def outcome(work: Callable[[], T]) -> T | KnowledgeBaseError:
    try:
        return work()
    except KnowledgeBaseError as error:
        return error


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_read_or_refused_within_its_limits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(reader, "PAGE_TIME", SECONDS)
    path = tmp_path / "bomb.pdf"
    path.write_bytes(BOMBS[name]())
    before, began = psutil.Process().memory_info().rss, time.monotonic()
    with footprint() as measured:
        read = outcome(lambda: list(reader.read(path, most_pages=5_000)))
        drawn = outcome(lambda: reader.render(path, 1, width=800))
    assert isinstance(read, list) or read.hint
    assert isinstance(drawn, bytes) or drawn.hint
    assert measured.child <= MEMORY
    assert measured.own - before <= OWN
    assert time.monotonic() - began < reader.OPENING_TIME + 10 * SECONDS


def test_many_pages_are_read_in_the_memory_of_a_few(tmp_path: Path) -> None:
    path = book(tmp_path / "long.pdf", 300)
    before = psutil.Process().memory_info().rss
    numbers = []
    with footprint() as measured:
        for page in reader.read(path, most_pages=5_000):
            assert f"Page {page.number} speaks for itself." in " ".join(page.text.split())
            numbers.append(page.number)
    assert numbers == list(range(1, 301))
    assert measured.own - before <= OWN / 2
    assert measured.child <= OWN


def test_a_page_that_takes_long_to_draw_does_not_hold_up_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "DRAWING_TURN", 0.2)
    hostile, harmless = tmp_path / "hostile.pdf", book(tmp_path / "harmless.pdf", 1)
    hostile.write_bytes(BOMBS["forms in forms in forms"]())
    reader.render(harmless, 1, width=100)
    said: list[KnowledgeBaseError] = []

    def draw() -> None:
        try:
            reader.render(hostile, 1, width=800)
        except KnowledgeBaseError as error:
            said.append(error)

    monkeypatch.setattr(reader, "PAGE_TIME", 6.0)
    thread = threading.Thread(target=draw)
    thread.start()
    while not reader._RENDERER._lock.locked():
        time.sleep(0.01)
    with pytest.raises(PageImageBusy):
        reader.render(harmless, 1, width=100)
    thread.join()
    assert [error.code for error in said] == ["document_broken"]
    assert reader.render(harmless, 1, width=100)

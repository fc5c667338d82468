"""A worker that embeds books finds a note first."""

from pathlib import Path

import pytest

from tests.instance import Instance, wait_until

ADD = """
from io import BytesIO
from citations.documents import storage
from transcripts.models import Collection
def add(title, sentences):
    file = BytesIO(" ".join(sentences).encode())
    storage.add(Collection.objects.default(), file, name=f"{title}.txt")
"""
BOOKS = """
for title in ("upstream", "downstream"):
    add(title, [
        f"In chapter {n // 100} of {title}, the keeper of lock {n} raises the gate by a hand's"
        " breadth and waits for the water."
        for n in range(6_000)  # about 200 pages
    ])
"""
# By the process that adds the note: another would start for seconds, in which a book may be done.
IN_WORK = """
from time import sleep
from citations.models import Source
for _ in range(2_400):
    if Source.objects.exclude(step="").exists():
        break
    sleep(0.05)
"""
NOTE = 'add("note", ["The weir by the mill is closed for repairs."])'
READY = "SELECT title FROM citations_source WHERE state = 'ready' ORDER BY updated_at"
# On a busy machine a book may be done before the note is there.
READY_SINCE = """
    SELECT title FROM citations_source WHERE state = 'ready' AND updated_at >
        (SELECT created_at FROM citations_source WHERE title = 'note') ORDER BY updated_at
"""


@pytest.mark.parametrize("concurrency", ["1", "2"])
def test_a_note_is_found_by_meaning_before_the_books_that_were_added_first(
    tmp_path: Path, concurrency: str
) -> None:
    settings = {"RERANKER": "none", "WORKER_CONCURRENCY": concurrency}
    with Instance(tmp_path / "home", **settings) as instance:
        instance.python(ADD + BOOKS)
        with instance.worker():
            instance.python(ADD + IN_WORK + NOTE)
            wait_until(lambda: len(instance.rows(READY)) == 3, what="all of them", patience=240)
        assert instance.rows(READY_SINCE)[0] == ("note",)

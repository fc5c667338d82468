"""The sample library's textbook and lecture."""

import subprocess
import sys
from pathlib import Path

import pytest
from django.test import Client

from citations import samples
from citations.documents import storage as document_storage
from citations.library import items
from citations.models import LectureSession, Source, State
from tests.citations.documents.test_page_images import textbook
from tests.html import text_of
from tests.makers import make_user
from transcripts import samples as talks
from transcripts.core.scope import Scope
from transcripts.models import Collection, Membership
from transcripts.models.collections import SAMPLES_NAME

pytestmark = pytest.mark.django_db


def test_the_samples_are_stored_once_however_often_they_are_loaded() -> None:
    first, second = samples.load(), samples.load()
    assert (first.textbook.pk, first.lecture.pk) == (second.textbook.pk, second.lecture.pk)
    assert Source.objects.filter(kind="pdf").count() == LectureSession.objects.count() == 1


def test_the_library_begins_with_what_can_be_read_not_with_the_lecture_to_replay(
    collection: Collection, scope: Scope
) -> None:
    samples.load(collection)
    listed = items.list_items(scope, items.LibraryQuery(), reader=None, offset=0, limit=9).items
    assert listed[-1].kind == items.LECTURE


def test_the_lecture_is_a_talk_that_cites_the_textbook_and_nothing_else(
    collection: Collection,
) -> None:
    ada = make_user("ada")
    loaded = samples.load(collection, owner=ada)
    assert loaded.lecture.collection == loaded.textbook.collection == collection
    assert list(loaded.lecture.sources.all()) == [loaded.textbook]
    assert loaded.lecture.transcript is not None
    assert loaded.lecture.transcript.video.key == talks.LONG
    assert loaded.lecture.owner == ada
    assert (loaded.textbook.title, loaded.textbook.language, loaded.textbook.tags) == (
        samples.TITLE,
        "en",
        ["sample"],
    )


def test_the_textbook_is_read_with_its_outline_and_printed_numbers() -> None:
    source = samples.load().textbook
    document_storage.extract(source)
    source.document.refresh_from_db()
    assert source.document.page_count == 20
    assert source.document.note == ""
    assert [title for level, title, _ in source.document.outline if level == 1] == [
        "1 Putting texts in order",
        "2 Programs that are refused",
        "3 Time beside text",
    ]
    assert [page.label for page in textbook()] == [
        "i",
        "ii",
        *(str(number) for number in range(1, 19)),
    ]
    assert not any(
        "Counting, Waiting, Keeping Time" in page.text[: page.blocks[-1].last]
        for page in textbook()[2:]
    )  # the running head


def test_the_textbook_is_what_its_script_makes(tmp_path: Path) -> None:
    script = Path(__file__).resolve().parents[2] / "bench" / "make_textbook.py"
    subprocess.run([sys.executable, script, tmp_path / "book.pdf"], check=True)
    assert (tmp_path / "book.pdf").read_bytes() == samples.TEXTBOOK.read_bytes()


def test_whoever_tries_the_sample_owns_its_collection_and_deletes_all_of_it_with_it() -> None:
    client = Client()
    ada = make_user("ada")
    client.force_login(ada)
    answer = client.post("/library/sample/", follow=True)
    collection = Collection.objects.get(name=SAMPLES_NAME)
    assert answer.request["PATH_INFO"] == f"/collections/{collection.pk}/"
    assert "three talks, a textbook and a lecture" in text_of(answer)
    assert Source.objects.filter(collection=collection, state=State.PENDING).count() == 5
    client.post("/library/sample/")
    assert collection.videos.count() == 3
    client.post(f"/collections/{collection.pk}/delete/")
    assert not Source.objects.exists()
    assert not LectureSession.objects.exists()


def test_two_people_who_try_the_sample_have_a_collection_each() -> None:
    for name in ("ada", "bob"):
        client = Client()
        client.force_login(make_user(name))
        client.post("/library/sample/")
    names = Membership.objects.values_list("user__username", "collection__name")
    assert set(names) == {("ada", SAMPLES_NAME), ("bob", f"{SAMPLES_NAME} of bob")}


def test_the_sample_of_a_terminal_goes_where_one_is() -> None:
    samples.collection_of(make_user("ada"))
    samples.load()
    assert Collection.objects.get(videos__key=talks.LONG).name == SAMPLES_NAME

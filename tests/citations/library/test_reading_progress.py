"""How far a user has read: kept, shown in the library, theirs alone."""

from typing import Any

import pytest
from django.contrib.auth.models import User

from citations.errors import InvalidFilter
from citations.library import reading_progress
from citations.library.items import LibraryQuery, list_items
from citations.models import ReadingProgress, Source
from tests.makers import make_document, make_user, make_video
from transcripts.core.scope import Scope
from transcripts.models import Collection, Video

HOUR = 3_600_000


@pytest.fixture
def talk(collection: Collection) -> Video:
    return make_video(collection, key="a", title="A talk")


@pytest.fixture
def notes(collection: Collection) -> Source:
    return make_document(collection, ["Ice."], title="Notes")


def titles(scope: Scope, reader: User | None, **listing: Any) -> list[str]:
    page = list_items(scope, LibraryQuery(**listing), reader=reader)
    return [item.title for item in page.items]


def test_a_place_is_kept_and_replaced(owner: User, talk: Video) -> None:
    assert reading_progress.find(owner, talk) is None
    for position in (60_000, 30_000):
        reading_progress.keep(owner, talk, position=position, length=HOUR)
    assert ReadingProgress.objects.get().position == 30_000
    reading_progress.keep(owner, talk, position=None, length=HOUR)
    assert ReadingProgress.objects.get().position == 30_000


def test_a_position_beyond_the_end_is_the_end(owner: User, talk: Video) -> None:
    reading_progress.keep(owner, talk, position=99_999_999, length=HOUR, reads_on=True)
    progress = ReadingProgress.objects.get()
    assert (progress.position, progress.is_finished) == (HOUR, True)


def test_who_jumps_to_the_end_has_not_read_it(owner: User, talk: Video) -> None:
    def keep(minute: int, *, reads_on: bool) -> bool:
        at = minute * 60_000
        reading_progress.keep(owner, talk, position=at, length=HOUR, reads_on=reads_on)
        return ReadingProgress.objects.get().is_finished

    assert not keep(58, reads_on=False)
    assert not keep(59, reads_on=True), "the rest alone is not the recording"
    assert not keep(56, reads_on=False)
    assert keep(57, reads_on=True)


@pytest.mark.parametrize(
    ("before", "after", "is_read"),
    [(93, 96, True), (95, 100, False), (93, 100, False), (50, 96, False), (93, 94, False)],
)
def test_a_small_gap_before_the_end_is_read_over(
    owner: User, talk: Video, before: int, after: int, *, is_read: bool
) -> None:
    for percent in (before, after):
        position = HOUR * percent // 100
        reading_progress.keep(owner, talk, position=position, length=HOUR)
    assert ReadingProgress.objects.get().is_finished == is_read


@pytest.mark.parametrize(("before", "is_read"), [(195, True), (180, False)])
def test_a_few_pages_before_the_last_may_be_left_out(
    owner: User, notes: Source, before: int, *, is_read: bool
) -> None:
    for page in (before, 200):
        reading_progress.keep(owner, notes, position=page, length=200)
    assert ReadingProgress.objects.get().is_finished == is_read


def test_what_was_read_to_its_end_stays_read(owner: User, talk: Video, notes: Source) -> None:
    for item, end, length in ((talk, HOUR - 60_000, HOUR), (notes, 3, 3)):
        reading_progress.keep(owner, item, position=end, length=length, reads_on=True)
        reading_progress.keep(owner, item, position=1, length=length)
        kept = reading_progress.find(owner, item)
        assert kept
        assert (kept.position, kept.is_finished) == (1, True)


def test_the_page_before_the_last_is_not_the_end(owner: User, notes: Source) -> None:
    reading_progress.keep(owner, notes, position=199, length=200, reads_on=True)
    assert not ReadingProgress.objects.get().is_finished


def test_the_same_place_is_not_written_twice_within_a_moment(owner: User, talk: Video) -> None:
    reading_progress.keep(owner, talk, position=1_000, length=HOUR)
    before = ReadingProgress.objects.get().read_at
    reading_progress.keep(owner, talk, position=1_000, length=HOUR)
    assert ReadingProgress.objects.get().read_at == before


def test_what_is_marked_as_unread_is_forgotten(owner: User, talk: Video) -> None:
    reading_progress.finish(owner, talk)
    assert ReadingProgress.objects.get().is_finished
    reading_progress.forget(owner, talk)
    assert reading_progress.find(owner, talk) is None


def test_a_deleted_user_takes_their_progress_along(collection: Collection, talk: Video) -> None:
    reader = make_user("reader", collection=collection)
    reading_progress.keep(reader, talk, position=1_000, length=HOUR)
    reader.delete()
    assert not ReadingProgress.objects.exists()


def test_the_library_is_sorted_by_what_its_reader_read_last(
    scope: Scope, owner: User, talk: Video, notes: Source
) -> None:
    make_video(notes.collection, key="b", title="Unread")
    for item in (notes, talk):
        reading_progress.keep(owner, item, position=1, length=10)
    assert titles(scope, owner, sort="read") == ["A talk", "Notes", "Unread"]
    assert titles(scope, owner, sort="-read") == ["Notes", "A talk", "Unread"]
    assert len(titles(scope, None, sort="read")) == 3


def test_the_library_is_filtered_by_what_is_read(
    scope: Scope, owner: User, talk: Video, notes: Source
) -> None:
    make_video(notes.collection, key="b", title="Unread")
    reading_progress.keep(owner, talk, position=1, length=10)
    reading_progress.finish(owner, notes)
    assert titles(scope, owner, reading="unread") == ["Unread"]
    assert titles(scope, owner, reading="begun") == ["A talk"]
    assert titles(scope, owner, reading="read") == ["Notes"]
    assert len(titles(scope, None, reading="unread")) == 3
    with pytest.raises(InvalidFilter):
        titles(scope, owner, reading="half")


def test_an_item_says_how_far_its_reader_is(scope: Scope, owner: User, talk: Video) -> None:
    reading_progress.keep(owner, talk, position=talk.duration // 4, length=talk.duration)
    assert list_items(scope, reader=owner).items[0].percent_read == 25
    assert list_items(scope).items[0].progress is None

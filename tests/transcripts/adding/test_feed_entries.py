"""What is known of the videos of a playlist, in its order, and what became of each."""

import pytest

from tests.makers import make_video
from transcripts.adding import feed_entries
from transcripts.adding.feed_entries import EntryState
from transcripts.core.errors import NoCaptions, NotFound, PrivateVideo
from transcripts.core.scope import NOTHING, Scope
from transcripts.models import Collection, Feed, Job, Video
from transcripts.youtube import Listing

pytestmark = pytest.mark.django_db


@pytest.fixture
def feed(collection: Collection) -> Feed:
    return Feed.objects.create(collection=collection, kind="playlist", youtube_id="PLcourse")


def listing(*ids: str, hidden: str = "") -> Listing:
    skipped = {hidden: PrivateVideo("This video of the list is private.")} if hidden else {}
    titles = {id: "" if id == hidden else f"Talk {id}" for id in ids}
    return Listing("PLcourse", "A course", tuple(id for id in ids if id != hidden), skipped, titles)


def ids(scope: Scope, feed: Feed) -> list[str]:
    return [item.entry.youtube_id for item in feed_entries.list_items(scope, feed).items]


def test_a_list_that_was_read_whole_replaces_the_one_before(scope: Scope, feed: Feed) -> None:
    feed_entries.store(feed, listing("one", "two", "three"))
    feed_entries.store(feed, listing("three", "four", "one"))
    assert ids(scope, feed) == ["three", "four", "one"]


def test_where_only_the_newest_are_read_older_ones_follow_them(scope: Scope, feed: Feed) -> None:
    feed.newest = 2
    feed_entries.store(feed, listing("two", "one"))
    feed_entries.store(feed, listing("three", "two"))
    assert ids(scope, feed) == ["three", "two", "one"]


def test_when_an_entry_was_first_seen_stays(feed: Feed) -> None:
    feed_entries.store(feed, listing("one"))
    first = feed.entries.get()
    feed_entries.store(feed, listing("new", "one"))
    again = feed.entries.get(youtube_id="one")
    assert (again.seen_at, again.position) == (first.seen_at, 1)


def test_each_entry_tells_what_became_of_it(
    scope: Scope, collection: Collection, feed: Feed
) -> None:
    feed_entries.store(
        feed, listing("stored", "waits", "failed", "hidden", "deleted", hidden="hidden")
    )
    make_video(collection, key="stored")
    Video.objects.update(youtube_id="stored")
    for id in ("waits", "failed", "deleted"):
        Job.objects.create(collection=collection, kind="video", target=id, feed=feed)
    Job.objects.get(target="failed").fail(NoCaptions("It has no captions."))
    Job.objects.get(target="deleted").finish()
    page = feed_entries.list_items(scope, feed)
    assert [item.state for item in page.items] == [
        EntryState.STORED,
        EntryState.WAITING,
        EntryState.FAILED,
        EntryState.HIDDEN,
        EntryState.ABSENT,
    ]
    assert (page.total, page.stored, page.waiting) == (5, 1, 1)
    assert [item.title for item in page.items][:2] == ["Lecture 1", "Talk waits"]
    assert page.items[3].entry.refusal == "This video of the list is private."


def test_a_list_comes_in_pages(scope: Scope, feed: Feed) -> None:
    feed_entries.store(feed, listing("one", "two", "three"))
    first = feed_entries.list_items(scope, feed, limit=2)
    rest = feed_entries.list_items(scope, feed, limit=2, offset=first.next or 0)
    assert [item.entry.youtube_id for item in (*first.items, *rest.items)] == [
        "one",
        "two",
        "three",
    ]
    assert (first.total, rest.next) == (3, None)


def test_videos_outside_the_scope_are_not_shown(collection: Collection, feed: Feed) -> None:
    feed_entries.store(feed, listing("stored"))
    make_video(collection, key="stored")
    Video.objects.update(youtube_id="stored")
    page = feed_entries.list_items(NOTHING, feed)
    assert (page.stored, page.items[0].video) == (0, None)


def test_an_entry_is_found_in_its_own_list_alone(feed: Feed, collection: Collection) -> None:
    feed_entries.store(feed, listing("one"))
    other = Feed.objects.create(collection=collection, kind="playlist", youtube_id="PLother")
    assert feed_entries.find(feed, "one").title == "Talk one"
    with pytest.raises(NotFound):
        feed_entries.find(other, "one")

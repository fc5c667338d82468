"""Channels and playlists by their names, and who follows them."""

import pytest
from django.contrib.auth.models import User

from tests.makers import make_video
from transcripts.core.scope import Scope
from transcripts.library import activity, collections
from transcripts.models import Collection, Feed, Video

ID = "UC" + "a" * 22


@pytest.fixture
def scope(collection: Collection) -> Scope:
    return Scope(readable=frozenset({collection.pk}))


def follow(collection: Collection, **values: str) -> Feed:
    values = {"kind": "channel", "youtube_id": ID, **values}
    return Feed.objects.create(collection=collection, **values)


def record(collection: Collection, channel_id: str = ID, *, key: str = "talk") -> None:
    """Store a recording of the channel “Hall”."""
    video = make_video(collection, key=key)
    Video.objects.filter(pk=video.pk).update(channel="Hall", channel_id=channel_id)


def test_a_channel_is_followed_by_a_feed_of_its_id_or_of_its_name(
    collection: Collection, scope: Scope
) -> None:
    record(collection)
    assert activity.of_channel(scope, "hall").feeds == ()
    by_id = follow(collection)
    by_name = follow(collection, youtube_id="@hall", title="Hall")
    follow(collection, youtube_id="PLhall", kind="playlist", title="Hall")
    assert set(activity.of_channel(scope, "hall").feeds) == {by_id, by_name}


def test_a_channel_that_nobody_follows_has_an_address(collection: Collection, scope: Scope) -> None:
    record(collection)
    address = f"https://www.youtube.com/channel/{ID}"
    assert activity.of_channel(scope, "Hall").address == address
    assert activity.of_channel(scope, "Other").address == ""
    follow(collection)
    assert activity.of_channel(scope, "Hall").address == ""


@pytest.mark.parametrize(
    "claimed", ["javascript:alert(1)", "dQw4w9WgXcQ", "UC/../x", "PLcourse123"]
)
def test_what_a_file_claims_to_be_a_channel_has_no_address(
    collection: Collection, scope: Scope, claimed: str
) -> None:
    record(collection, claimed)
    assert activity.of_channel(scope, "Hall").address == ""


def test_of_two_channels_of_a_name_none_is_meant(collection: Collection, scope: Scope) -> None:
    record(collection)
    record(collection, "UC" + "b" * 22, key="other")
    assert activity.of_channel(scope, "Hall").address == ""


def test_a_playlist_is_named_by_title_or_id_in_one_collection_or_in_all_that_are_seen(
    collection: Collection, scope: Scope, owner: User
) -> None:
    other = collections.create("Other", owner=owner)
    mine = follow(collection, kind="playlist", youtube_id="PLcourse", title="A course")
    theirs = follow(other, kind="playlist", youtube_id="PLcourse", title="A course")
    assert activity.of_playlist(scope, "a course").feeds == (mine,)
    both = Scope(readable=frozenset({collection.pk, other.pk}))
    assert set(activity.of_playlist(both, "PLcourse").feeds) == {mine, theirs}
    assert activity.of_playlist(both, "A course", collection=other.slug).feeds == (theirs,)

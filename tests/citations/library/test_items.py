"""One list of recordings, documents and lectures."""

from datetime import UTC, datetime
from typing import Any

import pytest

from citations.errors import InvalidFilter
from citations.lectures import sessions
from citations.library import filters
from citations.library.items import LibraryQuery, list_items
from citations.models import LectureSession, Source, State
from tests.makers import make_cues, make_document, make_source, make_video
from transcripts.core.alphabet import alphabet_key
from transcripts.core.errors import CollectionNotFound
from transcripts.core.scope import NOTHING, Scope
from transcripts.models import Collection, Feed, Transcript, Video


@pytest.fixture
def shelf(collection: Collection, scope: Scope) -> Collection:
    """Two talks, a document and a lecture, added in this order."""
    talk = make_video(collection, key="nets", title="Neural nets")
    make_source(talk)
    Video.objects.filter(pk=talk.pk).update(
        channel="Lecture Hall",
        youtube_id="dQw4w9WgXcQ",
        published_at=datetime(2020, 5, 1, tzinfo=UTC),
        tags=["ai", "week 1"],
    )
    make_video(collection, key="moss", title="all about moss", cues=make_cues(2))
    notes = make_document(collection, ["Ice and snow."], title="Notes on ice", language="de")
    Source.objects.filter(pk=notes.pk).update(
        author="M. Weber", characters=9_000, published_at=datetime(2021, 1, 1, tzinfo=UTC)
    )
    sessions.start(scope, None, title="A lecture", collection=collection.slug)
    return collection


def titles(scope: Scope, offset: int = 0, limit: int = 60, **listing: Any) -> list[str]:
    page = list_items(scope, LibraryQuery(**listing), offset=offset, limit=limit)
    return [item.title for item in page.items]


@pytest.mark.parametrize(
    ("sort", "expected"),
    [
        ("added", ["A lecture", "Notes on ice", "all about moss", "Neural nets"]),
        ("-added", ["Neural nets", "all about moss", "Notes on ice", "A lecture"]),
        ("title", ["A lecture", "all about moss", "Neural nets", "Notes on ice"]),
        ("-title", ["Notes on ice", "Neural nets", "all about moss", "A lecture"]),
        ("length", ["Notes on ice", "Neural nets", "all about moss", "A lecture"]),
    ],
)
def test_all_that_is_in_the_library_is_sorted_together(
    scope: Scope, shelf: Collection, sort: str, expected: list[str]
) -> None:
    assert titles(scope, sort=sort) == expected


def test_a_replay_stands_behind_its_recording_until_it_has_ended(
    scope: Scope, shelf: Collection
) -> None:
    spoken = Transcript.objects.get(video__title="Neural nets")
    begun = sessions.start(scope, None, title="Begun", collection=shelf.slug, transcript=spoken)
    before = ["A lecture", "Notes on ice", "all about moss", "Neural nets"]
    assert titles(scope, sort="added") == [*before, "Begun"]
    LectureSession.objects.filter(pk=begun.pk).update(ended_at=begun.created_at)
    assert titles(scope, sort="added") == ["Begun", *before]


def test_what_has_no_date_of_publication_comes_last_in_either_direction(
    scope: Scope, shelf: Collection
) -> None:
    assert titles(scope, sort="published")[:2] == ["Notes on ice", "Neural nets"]
    assert titles(scope, sort="-published")[:2] == ["Neural nets", "Notes on ice"]


@pytest.mark.parametrize(
    ("listing", "expected"),
    [
        ({"words": "MOSS all"}, {"all about moss"}),
        ({"words": "weber"}, {"Notes on ice"}),
        ({"words": "nets"}, {"Neural nets"}),
        ({"channel": "lecture hall"}, {"Neural nets"}),
        ({"tag": "week 1"}, {"Neural nets"}),
        ({"kind": "lecture"}, {"A lecture"}),
        ({"kind": "video"}, {"Neural nets"}),
        ({"kind": "transcript"}, {"all about moss"}),
        ({"kind": "text"}, {"Notes on ice"}),
        ({"language": "en"}, {"Neural nets", "all about moss"}),
        ({"state": "ready"}, {"Neural nets"}),
        ({"state": "words"}, {"Notes on ice"}),
        ({"tag": "week 1", "kind": "lecture"}, set()),
        ({"words": "zebra"}, set()),
    ],
)
def test_each_part_narrows_the_list(
    scope: Scope, shelf: Collection, listing: dict[str, str], expected: set[str]
) -> None:
    page = list_items(scope, LibraryQuery(**listing))
    assert {item.title for item in page.items} == expected
    assert page.total == len(expected)


def test_groups_have_headings_and_sizes(scope: Scope, shelf: Collection) -> None:
    page = list_items(scope, LibraryQuery(group="tag", sort="title"))
    assert [(item.group, item.title) for item in page.items] == [
        ("ai", "Neural nets"),
        ("week 1", "Neural nets"),
        ("", "A lecture"),
        (None, "all about moss"),
        (None, "Notes on ice"),
    ]
    assert page.groups == {"ai": 1, "week 1": 1, "": 3}
    assert page.total == 4


@pytest.fixture
def playlists(shelf: Collection) -> None:
    """Both talks are in one playlist, one of them in another, too; elsewhere are others."""
    Video.objects.filter(key="nets").update(youtube_id="nets-000000")
    Video.objects.filter(key="moss").update(youtube_id="moss-000000")
    elsewhere = Collection.objects.create(name="Elsewhere", slug="elsewhere")
    for target, id, title, videos in (
        (shelf, "PLspring", "Spring", ("moss-000000", "nets-000000", "gone-000000")),
        (shelf, "PLuntitled", "", ("nets-000000",)),
        (elsewhere, "PLfar", "Far away", ("nets-000000",)),
    ):
        feed = Feed.objects.create(collection=target, kind="playlist", youtube_id=id, title=title)
        for place, video in enumerate(videos):
            feed.entries.create(youtube_id=video, position=place)


def test_a_recording_stands_under_each_of_its_playlists(
    scope: Scope, shelf: Collection, playlists: None
) -> None:
    page = list_items(scope, LibraryQuery(group="playlist", sort="title"))
    assert [(item.group, item.title) for item in page.items] == [
        ("PLuntitled", "Neural nets"),
        ("Spring", "all about moss"),
        (None, "Neural nets"),
        ("", "A lecture"),
        (None, "Notes on ice"),
    ]
    assert page.groups == {"PLuntitled": 1, "Spring": 2, "": 2}
    assert page.total == 4


@pytest.mark.parametrize(
    ("playlist", "expected"),
    [
        ("spring", {"Neural nets", "all about moss"}),
        ("PLuntitled", {"Neural nets"}),
        ("Far away", set()),
        ("Autumn", set()),
    ],
)
def test_a_playlist_narrows_the_list(
    scope: Scope, shelf: Collection, playlists: None, playlist: str, expected: set[str]
) -> None:
    page = list_items(scope, LibraryQuery(playlist=playlist))
    assert {item.title for item in page.items} == expected
    assert page.total == len(expected)


@pytest.mark.parametrize("group", ["collection", "channel", "playlist", "kind", "tag"])
def test_a_heading_stands_once_wherever_the_pages_are_cut(
    scope: Scope, shelf: Collection, group: str
) -> None:
    listing = LibraryQuery(group=group)
    whole = [(item.group, item.title) for item in list_items(scope, listing).items]
    parts = []
    for offset in range(len(whole)):
        page = list_items(scope, listing, offset=offset, limit=1)
        parts += [(item.group, item.title) for item in page.items]
        assert page.next == (offset + 1 if offset + 1 < len(whole) else None)
    assert parts == whole


@pytest.mark.parametrize("part", ["state", "kind", "sort", "group"])
def test_what_there_is_none_of_is_refused(scope: Scope, part: str) -> None:
    with pytest.raises(InvalidFilter, match="magic"):
        list_items(scope, LibraryQuery(**{part: "magic\0"}))


def test_nothing_outside_the_scope_is_listed(scope: Scope, shelf: Collection) -> None:
    assert list_items(NOTHING).items == ()
    assert list_items(NOTHING, LibraryQuery(group="tag")).groups == {}
    with pytest.raises(CollectionNotFound):
        list_items(NOTHING, LibraryQuery(collection=shelf.slug))


def test_the_worst_state_of_a_recording_is_its_problem(scope: Scope, shelf: Collection) -> None:
    source = Source.objects.get(title="Neural nets")
    assert list_items(scope, LibraryQuery(words="neural")).items[0].problem is None
    Source.objects.filter(pk=source.pk).update(state=State.FAILED)
    assert list_items(scope, LibraryQuery(words="neural")).items[0].problem == source


def test_numbers_in_titles_are_sorted_by_their_value(scope: Scope, collection: Collection) -> None:
    names = ["Lecture 9", "Lecture 13", "lecture 13.10", "Lecture 13.2", "Lecture 1", "2 talks"]
    for name in (*names, "Number 12345678901234567890"):
        make_document(collection, ["Text."], title=name)
    assert titles(scope, sort="title") == [
        "2 talks",
        "Lecture 1",
        "Lecture 9",
        "Lecture 13",
        "Lecture 13.2",
        "lecture 13.10",
        "Number 12345678901234567890",
    ]


@pytest.mark.parametrize("group", ["channel", "tag"])
def test_titles_and_groups_are_sorted_without_accents_and_each_group_stays_whole(
    scope: Scope, collection: Collection, group: str
) -> None:
    in_order = ["arzt", "Arzte", "Ärzte", "Teil 9", "Teil 10", "Zelle"]
    for number, name in enumerate([*reversed(in_order), *in_order]):
        talk = make_video(collection, key=str(number), title=name)
        Video.objects.filter(pk=talk.pk).update(channel=name, tags=[name])
        Source.objects.filter(pk=make_source(talk).pk).update(tags=[name])
    page = list_items(scope, LibraryQuery(group=group))
    assert [item.group for item in page.items if item.group is not None] == in_order
    second = list_items(scope, LibraryQuery(group=group), offset=1, limit=1)
    assert second.items[0].group is None, "its heading is on the page before"
    folded = [alphabet_key(title) for title in titles(scope, sort="title")]
    assert folded == sorted(folded)
    assert [alphabet_key(tag) for tag in filters.tags(scope)] == [*map(alphabet_key, in_order)]

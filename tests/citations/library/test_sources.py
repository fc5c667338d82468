"""The read side of sources."""

import pytest

from citations.errors import InvalidFilter, SourceNotFound
from citations.library.filters import Filter
from citations.library.sources import Counts, list_sources, of_videos
from citations.models import Source, State
from tests.makers import make_cues, make_source, make_video
from transcripts.core.errors import CollectionNotFound
from transcripts.core.scope import NOTHING, Scope
from transcripts.models import Collection


def make_sources(collection: Collection, *states: str) -> list[Source]:
    return [
        make_source(
            make_video(collection, key=f"talk-{n}", title=f"Talk {n}", cues=make_cues(2)),
            state=state,
        )
        for n, state in enumerate(states)
    ]


def test_the_newest_come_first_and_the_page_says_where_the_next_begins(
    collection: Collection, scope: Scope
) -> None:
    make_sources(collection, *[State.READY] * 5)
    first = list_sources(scope, limit=3)
    assert [source.title for source in first.sources] == ["Talk 4", "Talk 3", "Talk 2"]
    assert (first.total, first.next) == (5, 3)
    rest = list_sources(scope, limit=3, offset=3)
    assert [source.title for source in rest.sources] == ["Talk 1", "Talk 0"]
    assert rest.next is None


def test_the_counts_tell_of_every_state_whichever_is_asked_for(
    collection: Collection, scope: Scope
) -> None:
    make_sources(collection, State.READY, State.READY, State.WORDS, State.PENDING, State.FAILED)
    page = list_sources(scope, state=State.FAILED)
    assert [source.title for source in page.sources] == ["Talk 4"]
    assert page.total == 1
    assert page.counts == Counts(pending=1, words=1, ready=2, failed=1)
    assert (page.counts.total, page.counts.unfinished) == (5, 2)


def test_words_narrow_the_list_by_title_author_and_id(collection: Collection, scope: Scope) -> None:
    make_source(make_video(collection, key="net-1", title="Deep learning"), author="Ada")
    make_source(make_video(collection, key="sea-1", title="Deep sea"), author="Grace")
    for words in ("deep ADA", "learning", "net-1"):
        expected = ["Deep learning"]
        assert [source.title for source in list_sources(scope, words=words).sources] == expected
    assert list_sources(scope, words="deep\0 nothing").counts.total == 0


def test_the_filter_of_a_search_narrows_a_list_too(collection: Collection, scope: Scope) -> None:
    first, _ = make_sources(collection, State.READY, State.READY)
    assert list_sources(scope, Filter(sources=("talk-0",))).sources == (first,)
    assert list_sources(scope, Filter(kinds=("pdf",))).total == 0


@pytest.mark.parametrize(
    "named",
    [
        "dQw4w9WgXcQ",
        "https://youtu.be/dQw4w9WgXcQ?t=5",
        "https://www.youtube.com/watch?v=dQw4w9WgXcQ&list=PLx",
    ],
)
def test_a_video_is_named_by_its_id_or_its_address(
    collection: Collection, scope: Scope, named: str
) -> None:
    source = make_source(make_video(collection, key="dQw4w9WgXcQ"))
    make_sources(collection, State.READY)
    assert list_sources(scope, Filter(sources=(named,))).sources == (source,)


def test_what_names_nothing_is_refused(collection: Collection, scope: Scope) -> None:
    with pytest.raises(InvalidFilter, match="no state"):
        list_sources(scope, state="half\0")
    with pytest.raises(SourceNotFound):
        list_sources(scope, Filter(sources=("nowhere",)))
    with pytest.raises(CollectionNotFound):
        list_sources(scope, Filter(collections=("nowhere",)))


def test_nothing_is_listed_or_counted_outside_the_scope(
    collection: Collection, scope: Scope
) -> None:
    (hidden,) = make_sources(collection, State.READY)
    assert list_sources(NOTHING).counts.total == 0
    with pytest.raises(SourceNotFound):
        list_sources(NOTHING, Filter(sources=(str(hidden.uuid),)))
    assert of_videos(NOTHING, [hidden.video_id or 0]) == {}


def test_a_video_has_a_source_for_each_language(collection: Collection, scope: Scope) -> None:
    video = make_video(collection, lang="en")
    make_video(collection, lang="de")
    sources = {make_source(video, language=language) for language in ("en", "de")}
    other = make_video(collection, key="other")
    by_video = of_videos(scope, [video.pk, other.pk])
    assert list(by_video) == [video.pk]
    assert [source.language for source in by_video[video.pk]] == ["de", "en"]
    assert set(by_video[video.pk]) == sources


def test_a_page_asks_the_database_a_fixed_number_of_times(
    collection: Collection, scope: Scope, django_assert_max_num_queries
) -> None:
    make_sources(collection, *[State.READY] * 6)
    with django_assert_max_num_queries(2):
        for source in list_sources(scope).sources:
            assert source.collection.slug
            assert source.video.key

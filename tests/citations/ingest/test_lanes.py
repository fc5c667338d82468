"""Whose source is next: short ones before long ones, and collections and people by turns."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from citations.ingest import discovery, lanes
from citations.ingest import pipeline as ingest_pipeline
from citations.models import Source, State
from citations.providers import registry
from tests.fake_llm import FakeLlm
from tests.makers import make_cues, make_user, make_video
from transcripts.core import locks
from transcripts.models import Collection

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("fake_models")]

NOTE, LECTURE, BOOK = 1_000, 90_000, 1_500_000


def add(collection: Collection, *titles: str, size: int = NOTE, **about: Any) -> list[Source]:
    """Add sources whose words are indexed."""
    about = {"kind": "text", "state": State.WORDS, "size": size} | about
    return [Source.objects.create(collection=collection, title=title, **about) for title in titles]


def in_order() -> list[str]:
    return [source.title for source in lanes.waiting()]


def served(count: int) -> list[str]:
    """Work on the next short sources, and return their titles."""
    titles: list[str] = []
    while len(titles) < count and (source := lanes.next_short()):
        source.start()
        source.reach(State.READY)
        titles.append(source.title)
    return titles


@pytest.fixture
def other(db: None) -> Collection:
    return Collection.objects.create(name="Other", slug="other")


@pytest.fixture
def people(db: None) -> Sequence[User]:
    return [make_user(name) for name in ("ada", "bob")]


# Turns


def test_collections_take_turns(collection: Collection, other: Collection) -> None:
    add(collection, "a1", "a2", "a3")
    add(other, "b1", "b2")
    assert in_order() == ["a1", "b1", "a2", "b2", "a3"]


def test_people_take_turns_within_a_collection(
    collection: Collection, people: Sequence[User]
) -> None:
    ada, bob = people
    add(collection, "a1", "a2", added_by=ada)
    add(collection, "b1", added_by=bob)
    add(collection, "nobody's")
    assert in_order() == ["a1", "b1", "nobody's", "a2"]


def test_who_was_served_longest_ago_is_next(collection: Collection, other: Collection) -> None:
    add(collection, *(f"a{n}" for n in range(1, 7)))
    assert served(2) == ["a1", "a2"]
    add(other, "b1", "b2")
    assert served(5) == ["b1", "a3", "b2", "a4", "a5"]


def test_nobodys_hundred_documents_stand_before_everybodys(
    collection: Collection, people: Sequence[User]
) -> None:
    ada, bob = people
    add(collection, *(f"a{n}" for n in range(130)), added_by=ada)
    served(10)
    add(collection, "b", added_by=bob)
    assert served(1) == ["b"]


def test_words_are_indexed_by_turns(collection: Collection, other: Collection) -> None:
    for key in ("a1", "a2", "a3"):
        make_video(collection, key=key, title=key, cues=make_cues(3))
    make_video(other, key="b1", title="b1", cues=make_cues(3))
    assert ingest_pipeline.index_words(most=2) == 2
    indexed = Source.objects.filter(state=State.WORDS).values_list("title", flat=True)
    assert set(indexed) == {"a1", "b1"}


def test_a_video_is_in_the_lane_of_who_added_it(
    collection: Collection, people: Sequence[User]
) -> None:
    video = make_video(collection, cues=make_cues(10))
    type(video).objects.update(added_by=people[0])
    (source,) = discovery.adopt()
    assert source.added_by == people[0]
    assert source.size == video.transcripts.get().characters


# Within a lane


def test_what_was_added_first_is_embedded_first(collection: Collection) -> None:
    """Words that were indexed later, by another way, do not let a source overtake."""
    add(collection, *"abc")
    add(collection, "new", state=State.PENDING)
    assert in_order() == ["new", "a", "b", "c"]
    source = lanes.next_short()
    assert source
    source.reach(State.WORDS)
    assert in_order() == ["a", "b", "c", "new"]


def test_a_step_of_a_new_source_makes_it_found_by_words_only(collection: Collection) -> None:
    make_video(collection, cues=make_cues(10))
    (source,) = discovery.adopt()
    ingest_pipeline.advance(source)
    assert Source.objects.get().state == State.WORDS
    assert Source.objects.get().begun_at
    ingest_pipeline.advance(Source.objects.get())
    assert Source.objects.get().state == State.READY


# Short and long


def test_short_sources_come_before_long_ones(collection: Collection) -> None:
    add(collection, "book", size=BOOK)
    add(collection, "note")
    assert in_order() == ["note", "book"]


def test_the_threads_for_long_work_take_long_sources_first(collection: Collection) -> None:
    """So that a stream of short sources, which are done elsewhere, does not starve a long one."""
    add(collection, "note")
    add(collection, "book", size=BOOK)
    assert str(lanes.next_source()) == "book"
    assert str(lanes.next_short()) == "note"


def test_the_threads_for_long_work_take_short_sources_if_there_is_no_long_one(
    collection: Collection,
) -> None:
    add(collection, "note")
    assert str(lanes.next_source()) == "note"


def test_what_another_thread_works_on_is_not_next(collection: Collection) -> None:
    first, second = add(collection, "first", "second")
    with first.hold():
        assert lanes.next_short() == second
        with second.hold():
            assert lanes.next_short() is None
            assert sorted(locks.held_keys(Source.LOCK)) == [first.pk, second.pk]


@pytest.mark.parametrize(
    ("size", "next_titles"), [(BOOK, "lecture note"), (LECTURE, "note"), (NOTE, "")]
)
def test_a_source_gives_way_to_much_shorter_ones(
    collection: Collection, other: Collection, size: int, next_titles: str
) -> None:
    (source,) = add(collection, "in work", size=size)
    with source.hold():
        for title, length in (("note", NOTE), ("lecture", LECTURE), ("book", BOOK)):
            (waiting,) = add(other, title, size=length)
            next_source = lanes.next_beside(source)
            assert (next_source == waiting) == (title in next_titles), title
            waiting.reach(State.READY)


# What was opened


def opened(*sources: Source) -> None:
    """Open sources one after another."""
    for minute, source in enumerate(sources):
        assert lanes.put_first(Source.objects.filter(pk=source.pk)) == 1
        at = timezone.now() - timedelta(hours=1, minutes=-minute)
        Source.objects.filter(pk=source.pk).update(wanted_at=at)


def test_what_was_opened_comes_before_everything_else(collection: Collection) -> None:
    _, first, last = add(collection, "note", "opened note", "note that was opened last")
    book, _ = add(collection, "opened book", "book", size=BOOK)
    opened(first, book, last)
    others = ["note", "book"]
    assert in_order() == ["note that was opened last", "opened note", "opened book", *others]


def test_people_take_turns_with_what_was_opened(
    collection: Collection, people: Sequence[User]
) -> None:
    ada, bob = people
    first, second = add(collection, "a1", "a2", added_by=ada)
    (his,) = add(collection, "b1", added_by=bob)
    opened(his, first, second)
    assert in_order() == ["a2", "b1", "a1"]


def test_a_thread_for_long_work_takes_what_was_opened_first(collection: Collection) -> None:
    add(collection, "book", size=BOOK)
    (note,) = add(collection, "note")
    assert str(lanes.next_source()) == "book"
    opened(note)
    assert lanes.next_source() == note


def test_a_long_source_gives_way_to_what_is_opened_however_long_it_is(
    collection: Collection,
) -> None:
    talk, book = add(collection, "talk", size=LECTURE)[0], add(collection, "book", size=BOOK)[0]
    with talk.hold():
        assert lanes.next_beside(talk) is None
        opened(book)
        assert lanes.next_beside(talk) == book
    assert lanes.next_beside(None) == book, "a migration gives way, too"


def test_what_was_opened_gives_way_only_to_what_is_half_as_long_and_was_opened_too(
    collection: Collection,
) -> None:
    (talk,) = add(collection, "talk", size=LECTURE)
    opened(talk)
    (note,) = add(collection, "note")
    (longer,) = add(collection, "longer", size=LECTURE // 2 + 1)
    (shorter,) = add(collection, "shorter", size=LECTURE // 2)
    with talk.hold():
        assert lanes.next_beside(talk) is None
        opened(longer)
        assert lanes.next_beside(talk) is None
        opened(shorter)
        assert lanes.next_beside(talk) == shorter
        opened(note)
        assert lanes.next_beside(talk) == note


def test_only_what_waits_is_put_first(collection: Collection) -> None:
    add(collection, "ready", "failed")
    Source.objects.filter(title="ready").update(state=State.READY)
    Source.objects.filter(title="failed").update(state=State.FAILED)
    add(collection, "words")
    add(collection, "pending", state=State.PENDING)
    assert lanes.put_first(Source.objects.all()) == 2


def test_a_source_that_is_indexed_again_is_not_first_any_more(collection: Collection) -> None:
    (source,) = add(collection, "note")
    opened(source)
    source.start_anew()
    source.refresh_from_db()
    assert source.wanted_at is None


def test_contexts_give_way_to_all_that_is_not_found_yet(
    collection: Collection, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    settings.LLM_PROVIDER = "ollama"
    monkeypatch.setattr(registry, "llm", lambda: FakeLlm())
    about: dict[str, Any] = {"state": State.READY, "chunk_count": 1, "digest": "x"}
    (source,) = add(collection, "without contexts", **about)
    (book,) = add(collection, "book", size=BOOK)
    assert in_order() == ["book", "without contexts"]
    assert lanes.next_beside(source) == book
    assert lanes.next_source() == book
    book.reach(State.READY)
    assert lanes.next_source() == source
    assert lanes.next_short() is None

"""Several items of the library at once: what is changed, refused, deleted and taken back."""

import sys
from typing import Any

import pytest
from django.contrib.auth.models import User

from citations import tasks
from citations.ingest import discovery, selection
from citations.ingest.selection import ChosenItems
from citations.lectures import sessions
from citations.library.items import list_items
from citations.models import Citation, Deletion, LectureSession, Source, State, Window
from tests.makers import caption_json, make_cues, make_paper, make_source, make_user, make_video
from transcripts.adding import storage
from transcripts.core.errors import Forbidden, InvalidInput, NotFound
from transcripts.core.scope import Scope
from transcripts.models import AuditEntry, Collection, Job, Transcript, Video


@pytest.fixture
def other(db: None) -> Collection:
    return Collection.objects.create(name="Other", slug="other")


@pytest.fixture
def both(collection: Collection, other: Collection) -> Scope:
    """The right to change two collections."""
    keys = frozenset({collection.pk, other.pk})
    return Scope(readable=keys, writable=keys)


@pytest.fixture
def chosen(collection: Collection, both: Scope) -> ChosenItems:
    """A talk, a document and a lecture."""
    talk = make_video(collection, title="Talk", cues=make_cues(2))
    make_source(talk)
    paper = make_paper(collection, ["Ice."], title="Paper")
    lecture = sessions.start(both, None, title="Lecture", collection=collection.slug)
    references = [f"video-{talk.pk}", f"document-{paper.pk}", f"lecture-{lecture.pk}"]
    return selection.select(both, references)


@pytest.mark.parametrize(
    "reference", ["", "video", "video-", "video-x", "video-9", "book-1", f"video-{'9' * 40}"]
)
def test_what_there_is_none_of_cannot_be_selected(both: Scope, reference: str) -> None:
    with pytest.raises(NotFound):
        selection.select(both, [reference])


def test_what_is_still_there_is_selected_and_the_rest_is_counted(
    chosen: ChosenItems, both: Scope
) -> None:
    talk = chosen.videos[0]
    again = selection.select(both, [f"video-{talk.pk}", "video-987654", "document-987654"])
    assert (again.videos, again.count, again.missing) == ((talk,), 1, 2)
    assert chosen.missing == 0
    with pytest.raises(NotFound, match="None of these is there any more"):
        selection.select(both, ["video-987654", "document-987654"])
    with pytest.raises(NotFound, match="It is not there any more"):
        selection.select(both, ["video-987654"])


def test_none_and_too_many_are_refused(both: Scope) -> None:
    with pytest.raises(InvalidInput, match="Nothing is selected"):
        selection.select(both, [])
    with pytest.raises(InvalidInput, match="At most"):
        selection.select(both, [f"video-{key}" for key in range(selection.MAX_ITEMS + 1)])


def test_what_may_only_be_read_cannot_be_changed_and_what_is_hidden_is_absent(
    chosen: ChosenItems, collection: Collection
) -> None:
    reference = [f"video-{chosen.videos[0].pk}"]
    with pytest.raises(Forbidden):
        selection.select(Scope(readable=frozenset({collection.pk})), reference)
    with pytest.raises(NotFound):
        selection.select(Scope(), reference)


def test_tags_are_added_and_removed_and_reach_the_sources(chosen: ChosenItems) -> None:
    assert selection.tag(chosen, add=["ice", " ice ", "week 1"]) == 2
    assert selection.tag(chosen, remove=["ice"]) == 2
    discovery.adopt()
    assert {tuple(source.tags) for source in Source.objects.all()} == {("week 1",)}
    with pytest.raises(InvalidInput):
        selection.tag(chosen, add=[" "])


def test_items_move_with_their_sources(
    chosen: ChosenItems, both: Scope, other: Collection, collection: Collection
) -> None:
    assert selection.move(both, chosen, other) == (2, [])
    discovery.adopt()
    assert set(Source.objects.values_list("collection__slug", flat=True)) == {"other"}
    assert LectureSession.objects.get().collection == collection


def test_a_move_is_undone_but_for_what_was_changed_meanwhile(
    chosen: ChosenItems, both: Scope, scope: Scope, other: Collection, collection: Collection
) -> None:
    talk, paper = chosen.videos[0], chosen.documents[0]
    origins = {f"video-{talk.pk}": collection.slug, f"document-{paper.pk}": collection.slug}
    selection.move(both, chosen, other)
    with pytest.raises(Forbidden):
        selection.move_back(scope, origins, other)
    only_there = Scope(readable=both.readable, writable=frozenset({other.pk}))
    assert selection.move_back(only_there, origins, other) == 0
    make_paper(collection, ["Ice."], title="A copy, added meanwhile")
    assert selection.move_back(both, origins, other) == 1
    assert Video.objects.get().collection == collection
    assert Source.objects.get(pk=paper.pk).collection == other
    assert selection.move_back(both, origins, other) == 0, "the talk is back already"


@pytest.mark.parametrize("reference", ["video-0{0}", "video-0", "video-x", "lecture", "video-{0}9"])
def test_a_move_of_what_is_not_there_is_not_undone(
    chosen: ChosenItems, both: Scope, other: Collection, collection: Collection, reference: str
) -> None:
    selection.move(both, chosen, other)
    origins = {reference.format(chosen.videos[0].pk): collection.slug}
    if reference.endswith("9"):
        assert selection.move_back(both, origins, other) == 0
    else:
        with pytest.raises(NotFound):
            selection.move_back(both, origins, other)
    many = {f"video-{number}": collection.slug for number in range(1, selection.MAX_ITEMS + 2)}
    with pytest.raises(InvalidInput):
        selection.move_back(both, many, other)


def test_what_was_deleted_after_a_move_stays_so(
    chosen: ChosenItems, both: Scope, other: Collection, collection: Collection, owner: User
) -> None:
    origins = {f"document-{chosen.documents[0].pk}": collection.slug}
    selection.move(both, chosen, other)
    selection.delete(selection.select(both, [*origins]), by=owner)
    assert selection.move_back(both, origins, other) == 0


def test_what_a_collection_has_a_copy_of_stays_and_the_rest_moves(
    chosen: ChosenItems, both: Scope, other: Collection
) -> None:
    make_video(other, title="Talk", cues=make_cues(2))
    count, stayed = selection.move(both, chosen, other)
    assert (count, [str(row) for row in stayed]) == (1, ["Talk"])
    assert selection.move(both, chosen, other)[0] == 0  # the paper is there by now


def test_a_document_stays_where_the_collection_has_its_file(
    chosen: ChosenItems, both: Scope, other: Collection
) -> None:
    make_paper(other, ["Ice."], title="Its copy")
    count, stayed = selection.move(both, chosen, other)
    assert (count, [str(row) for row in stayed]) == (1, ["Paper"])


def test_lectures_alone_are_neither_moved_nor_tagged_nor_indexed(
    chosen: ChosenItems, both: Scope, other: Collection
) -> None:
    lectures = ChosenItems(lectures=chosen.lectures)
    with pytest.raises(InvalidInput, match="stay with what they cite"):
        selection.move(both, lectures, other)
    with pytest.raises(InvalidInput, match="no tags"):
        selection.tag(lectures, add=["ice"])
    with pytest.raises(InvalidInput, match="has a text"):
        selection.index_again(lectures)


def test_nothing_moves_to_where_one_may_only_read(
    chosen: ChosenItems, scope: Scope, other: Collection
) -> None:
    with pytest.raises(Forbidden):
        selection.move(scope, chosen, other)


def test_items_are_indexed_and_fetched_again(chosen: ChosenItems, owner: User) -> None:
    assert len(selection.index_again(chosen)) == 2
    assert set(Source.objects.values_list("state", flat=True)) == {State.PENDING}
    with pytest.raises(InvalidInput, match="None of these came from YouTube"):
        selection.fetch_again(chosen, by=owner)
    chosen.videos[0].youtube_id = "dQw4w9WgXcQ"
    (job,) = selection.fetch_again(chosen, by=owner)
    assert Job.objects.get() == job


def test_deleted_items_are_hidden_at_once_and_come_back(
    chosen: ChosenItems, both: Scope, owner: User
) -> None:
    deletion = selection.delete(chosen, by=owner)
    assert list_items(both).total == 0
    with pytest.raises(NotFound):
        selection.take_back(deletion.uuid, by=make_user("bob"))
    tasks.carry_out_deletion(deletion.pk)  # too early
    assert len(selection.take_back(deletion.uuid, by=owner)) == 3
    tasks.carry_out_deletion(deletion.pk)
    assert list_items(both).total == 3


def test_what_is_being_deleted_is_seen_by_nobody(
    chosen: ChosenItems, both: Scope, owner: User, collection: Collection
) -> None:
    (talk,), (lecture,) = chosen.videos, chosen.lectures
    source = talk.sources.get()
    Citation.objects.create(
        session=lecture,
        window=Window.objects.create(session=lecture, index=0, text="x"),
        **{"window_index": 0, "rank": 1, "relevance_score": 0.5},
        **{"source": source, "quote": "x", "span_start": 0, "span_end": 1, "digest": ""},
    )
    tables = (Video, Transcript, Source, LectureSession, Citation)
    before = [table.objects.visible(both).count() for table in tables]
    assert 0 not in before
    deletion = selection.delete(chosen, by=owner)
    assert [table.objects.visible(both).count() for table in tables] == [0] * len(tables)
    selection.take_back(deletion.uuid, by=owner)
    assert [table.objects.visible(both).count() for table in tables] == before


def test_a_transcript_that_arrives_for_a_recording_that_is_being_deleted_is_hidden_too(
    chosen: ChosenItems, both: Scope, owner: User, collection: Collection
) -> None:
    selection.delete(chosen, by=owner)
    german = caption_json(make_cues(2), id=chosen.videos[0].key)
    storage.add_captions(collection, german, name="talk.de.json", language="de")
    assert discovery.adopt()
    assert not Source.objects.visible(both).exists()


def test_what_is_deleted_stays_hidden_though_its_deleter_is_gone(
    chosen: ChosenItems, both: Scope, owner: User
) -> None:
    deletion = selection.delete(chosen, by=owner)
    Deletion.objects.update(run_after=deletion.created_at)
    owner.delete()
    assert list_items(both).total == 0
    tasks.carry_out_deletion(deletion.pk)
    assert not Video.objects.exists()


def test_after_half_a_minute_they_are_gone_and_the_trail_says_who_deleted_them(
    chosen: ChosenItems, both: Scope, owner: User, django_capture_on_commit_callbacks: Any
) -> None:
    deletion = selection.delete(chosen, by=owner)
    Deletion.objects.update(run_after=deletion.created_at)
    with pytest.raises(NotFound, match="half a minute"):
        selection.take_back(deletion.uuid, by=owner)
    tasks.carry_out_deletion(deletion.pk)
    assert not Deletion.objects.exists()
    hits = (Video.objects.count(), Source.objects.count(), LectureSession.objects.count())
    assert hits == (0, 0, 0)
    deleted = AuditEntry.objects.filter(action="delete")
    expected = {("ada", "video"), ("ada", "document"), ("ada", "lecture")}
    assert set(deleted.values_list("actor", "kind")) == expected


def test_a_worker_that_dies_half_way_leaves_the_rest_to_the_next(
    chosen: ChosenItems, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    deletion = selection.delete(chosen, by=owner)
    Deletion.objects.update(run_after=deletion.created_at)
    with monkeypatch.context() as patch:
        patch.setattr(sessions, "delete", lambda _: sys.exit())
        with pytest.raises(SystemExit):
            tasks.carry_out_deletion(deletion.pk)
    assert Deletion.objects.due().unsent().exists()
    tasks.carry_out_deletion(deletion.pk)
    assert not LectureSession.objects.exists()

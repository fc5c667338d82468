"""Notes: all readers of a collection see them, and none reveals a hidden source."""

from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth.models import User

from citations.errors import NoteNotFound
from citations.models import Answer, Note, Source
from citations.notebook import answers, conversations, highlights, notes
from citations.notebook.highlights import HighlightNotes, SelectedText
from citations.notebook.notes import EntryPage
from citations.schemas.requests import MAX_NOTE
from tests.citations.talks import QUESTION, again, finished_answer, talk_in
from tests.makers import make_paper, make_user
from transcripts.core.errors import Conflict, Forbidden, InvalidInput
from transcripts.core.scope import Scope
from transcripts.library import collections
from transcripts.models import Collection


@pytest.fixture
def answer(scope: Scope, owner: User, collection: Collection, fake_models: None) -> Answer:
    talk_in(collection)
    return finished_answer(
        scope, owner, conversations.begin(scope, owner, collection=collection.slug)
    )


def test_a_note_is_kept_listed_changed_and_deleted(
    scope: Scope, owner: User, collection: Collection
) -> None:
    first = notes.pin(scope, owner, text="# On networks\r\n\r\nThey learn.")
    assert (first.title, first.text) == ("On networks", "# On networks\n\nThey learn.")
    assert (first.author, first.collection) == (owner, collection)
    second = notes.pin(scope, owner, collection="lectures", title="Bread")
    page = notes.list_notes(scope, limit=1)
    assert (page.notes, page.total, page.next) == ((second,), 2, 1)
    assert notes.list_notes(scope, words="networks LEARN").notes == (first,)
    notes.change(notes.find_note(scope, first.uuid, write=True), title="Networks", text="")
    listed = notes.list_notes(scope, collection="lectures").notes
    assert [note.title for note in listed] == ["Networks", "Bread"]
    notes.delete(first)
    assert notes.list_notes(scope).total == 1


def test_an_answer_is_kept_with_links_to_what_it_cites(
    scope: Scope, owner: User, answer: Answer
) -> None:
    note = notes.keep(scope, owner, answer).note
    assert (note.title, note.answer) == (QUESTION, answer)
    for claim in answer.claims:
        assert claim["text"].split()[0] in note.text
    for citation in answer.citations.all():
        assert f"[\\[{citation.number}\\]](/citations/{citation.uuid}/)" in note.text
        assert f"- \\[{citation.number}\\] “{citation.quote}” — **Talk**, 0:" in note.text
    conversations.delete(answer.conversation)
    assert Note.objects.get().text == note.text


def test_an_answer_that_is_kept_already_is_not_kept_twice(
    scope: Scope, owner: User, answer: Answer
) -> None:
    first = notes.keep(scope, owner, answer)
    notes.change(first.note, title="Mine now", text="Shorter.")
    second = notes.keep(scope, owner, answer, title="Another title")
    assert (first.is_new, second.is_new) == (True, False)
    assert second.note == first.note == Note.objects.get()
    assert notes.saved(scope, [answer.uuid]) == {answer.uuid: first.note}
    assert notes.saved(Scope(), [answer.uuid]) == {}


def test_an_answer_that_was_made_anew_is_another_one_to_keep(
    scope: Scope, owner: User, answer: Answer
) -> None:
    Answer.objects.filter(pk=answer.pk).update(
        claims=[{**answer.claims[0], "text": "Older words."}]
    )
    before = notes.keep(scope, owner, answers.find_answer(scope, owner, answer.uuid)).note
    list(again(scope, owner, answer))
    assert "Older words." in Note.objects.get().text
    made = answers.find_answer(scope, owner, answer.uuid)
    assert notes.saved(scope, [answer.uuid]) == {}
    after = notes.keep(scope, owner, made).note
    assert after != before
    assert notes.saved(scope, [answer.uuid]) == {answer.uuid: after}


def test_an_answer_that_could_not_be_made_anew_is_still_kept(
    scope: Scope, owner: User, answer: Answer
) -> None:
    kept = notes.keep(scope, owner, answer).note
    events: Any = again(scope, owner, answer)
    next(events)
    events.close()
    assert notes.keep(scope, owner, answers.find_answer(scope, owner, answer.uuid)).note == kept
    assert notes.saved(scope, [answer.uuid]) == {answer.uuid: kept}


def test_a_deleted_note_can_be_kept_again(scope: Scope, owner: User, answer: Answer) -> None:
    notes.delete(notes.keep(scope, owner, answer).note)
    assert notes.keep(scope, owner, answer).is_new


def test_an_answer_is_not_kept_where_its_sources_may_not_be_read(
    scope: Scope, owner: User, answer: Answer
) -> None:
    elsewhere = Collection.objects.create(name="Else", slug="else")
    both = Scope(readable=scope.readable | {elsewhere.pk}, writable=scope.writable | {elsewhere.pk})
    with pytest.raises(Conflict, match="outside “Else”"):
        notes.keep(both, owner, answer, collection="else")
    Source.objects.all().delete()
    with pytest.raises(Conflict):
        notes.keep(both, owner, answer)
    assert not Note.objects.exists()


def test_a_reader_of_the_collection_reads_notes_and_changes_none(
    scope: Scope, owner: User, collection: Collection
) -> None:
    note = notes.pin(scope, owner, text="Networks learn.")
    reading = Scope(readable=frozenset({collection.pk}))
    assert notes.find_note(reading, str(note.uuid)) == note
    with pytest.raises(Forbidden):
        notes.find_note(reading, note.uuid, write=True)
    with pytest.raises(Forbidden):
        notes.pin(reading, make_user("vera"), text="Mine.")


def test_notes_outside_the_scope_are_absent(scope: Scope, owner: User) -> None:
    note = notes.pin(scope, owner, text="Networks learn.")
    for reference in (note.uuid, UUID(int=1), "x", "\0"):
        with pytest.raises(NoteNotFound):
            notes.find_note(Scope(), reference)
    assert notes.list_notes(Scope()).total == 0


@pytest.mark.parametrize(
    ("title", "text"), [("", ""), (" ", "\n\0"), ("", "#"), ("A", "a" * (MAX_NOTE + 1))]
)
def test_what_is_no_note_is_refused(scope: Scope, owner: User, title: str, text: str) -> None:
    with pytest.raises(InvalidInput):
        notes.pin(scope, owner, title=title, text=text)


@pytest.fixture
def book(collection: Collection) -> Source:
    return make_paper(collection, ["The error runs backwards.", "Each weight follows."])


def noted(scope: Scope, user: User, source: Source, quote: str, note: str) -> None:
    highlights.keep(scope, user, source, SelectedText(exact=quote), HighlightNotes(note=note))


def texts(page: EntryPage) -> list[str]:
    return [entry.title if isinstance(entry, Note) else entry.row.note for entry in page.entries]


def test_notes_and_those_on_highlights_are_one_list_latest_first(
    scope: Scope, owner: User, book: Source
) -> None:
    notes.pin(scope, owner, title="Week 3")
    noted(scope, owner, book, "The error runs", "Ask Grace.")
    noted(scope, owner, book, "Each weight", "")
    notes.pin(scope, owner, title="Week 4")
    page = notes.list_entries(scope, owner)
    assert texts(page) == ["Week 4", "Ask Grace.", "Week 3"]
    assert (page.total, page.next) == (3, None)
    first = notes.list_entries(scope, owner, limit=2)
    assert (texts(first), first.next) == (["Week 4", "Ask Grace."], 2)
    assert texts(notes.list_entries(scope, owner, offset=2)) == ["Week 3"]


def test_a_note_on_a_highlight_is_found_by_its_words_and_those_of_its_quote(
    scope: Scope, owner: User, book: Source, collection: Collection
) -> None:
    noted(scope, owner, book, "The error runs", "Ask Grace.")
    notes.pin(scope, owner, title="Week 3")
    for words in ("grace", "error runs"):
        assert texts(notes.list_entries(scope, owner, words=words)) == ["Ask Grace."]
    elsewhere = collections.create("Elsewhere", owner=owner)
    both = Scope(readable=scope.readable | {elsewhere.pk}, writable=scope.writable | {elsewhere.pk})
    assert not texts(notes.list_entries(both, owner, collection=elsewhere.slug))
    assert "Ask Grace." in texts(notes.list_entries(scope, owner, collection=collection.slug))


def test_what_another_reader_has_written_on_a_highlight_stays_theirs(
    scope: Scope, owner: User, book: Source, collection: Collection
) -> None:
    noted(scope, make_user("vera", collection=collection), book, "The error runs", "Ask Grace.")
    assert not texts(notes.list_entries(scope, owner))

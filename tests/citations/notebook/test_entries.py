"""One list of what readers have written: notes of collections, and notes on highlights."""

import pytest
from django.contrib.auth.models import User

from citations.models import Note, Source
from citations.notebook import entries, highlights, notes
from citations.notebook.entries import EntryPage
from citations.notebook.highlights import HighlightNotes, SelectedText
from tests.makers import make_paper, make_user
from transcripts.core.scope import Scope
from transcripts.library import collections
from transcripts.models import Collection


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
    page = entries.list_entries(scope, owner)
    assert texts(page) == ["Week 4", "Ask Grace.", "Week 3"]
    assert (page.total, page.next) == (3, None)
    first = entries.list_entries(scope, owner, limit=2)
    assert (texts(first), first.next) == (["Week 4", "Ask Grace."], 2)
    assert texts(entries.list_entries(scope, owner, offset=2)) == ["Week 3"]


def test_a_note_on_a_highlight_is_found_by_its_words_and_those_of_its_quote(
    scope: Scope, owner: User, book: Source, collection: Collection
) -> None:
    noted(scope, owner, book, "The error runs", "Ask Grace.")
    notes.pin(scope, owner, title="Week 3")
    for words in ("grace", "error runs"):
        assert texts(entries.list_entries(scope, owner, words=words)) == ["Ask Grace."]
    elsewhere = collections.create("Elsewhere", owner=owner)
    both = Scope(readable=scope.readable | {elsewhere.pk}, writable=scope.writable | {elsewhere.pk})
    assert not texts(entries.list_entries(both, owner, collection=elsewhere.slug))
    assert "Ask Grace." in texts(entries.list_entries(scope, owner, collection=collection.slug))


def test_what_another_reader_has_written_on_a_highlight_stays_theirs(
    scope: Scope, owner: User, book: Source, collection: Collection
) -> None:
    noted(scope, make_user("vera", collection=collection), book, "The error runs", "Ask Grace.")
    assert not texts(entries.list_entries(scope, owner))

"""The list of highlights by source: in the order of its text, sources by their newest one."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from citations.models import Highlight, Source
from citations.notebook import highlight_lists, highlights
from citations.notebook.highlight_lists import GroupedPage
from citations.notebook.highlights import HighlightFilter, HighlightNotes, SelectedText
from tests.makers import make_paper, make_source, make_video
from transcripts.core.scope import Scope
from transcripts.models import Collection

WORDS = ("One", "Two", "Three", "Four")


@pytest.fixture
def book(collection: Collection) -> Source:
    return make_paper(collection, ["One. Two.", "Three. Four."], title="Book")


@pytest.fixture
def talk(collection: Collection) -> Source:
    return make_source(make_video(collection))


def keep(
    scope: Scope, owner: User, source: Source, quote: str, *, days_ago: int, color: str = "yellow"
) -> Highlight:
    kept = highlights.keep(
        scope, owner, source, SelectedText(exact=quote), HighlightNotes(color=color), start=0
    )
    made = timezone.now() - timedelta(days=days_ago)
    Highlight.objects.filter(pk=kept.placed.row.pk).update(created_at=made)
    return kept.placed.row


def shown(page: GroupedPage) -> list[tuple[str, list[str], int, int]]:
    quotes = [[placed.row.quote for placed in group.highlights] for group in page.groups]
    return [
        (group.source.title, own, group.before, group.after)
        for group, own in zip(page.groups, quotes, strict=True)
    ]


def test_sources_follow_their_newest_highlight_and_highlights_the_text(
    scope: Scope, owner: User, book: Source, talk: Source
) -> None:
    said = "Backpropagation carries the error"
    keep(scope, owner, book, "Four", days_ago=3)
    keep(scope, owner, talk, said, days_ago=2, color="blue")
    keep(scope, owner, book, "One", days_ago=1)
    page = highlight_lists.list_groups(scope, owner)
    assert shown(page) == [("Book", ["One", "Four"], 0, 0), (talk.title, [said], 0, 0)]
    assert (page.total, page.next) == (2 + 1, None)
    assert [group.link for group in page.groups] == [
        f"/sources/{book.uuid}/",
        f"/videos/{talk.video_id}/?lang=en",
    ]
    keep(scope, owner, talk, "Point 4", days_ago=0, color="green")
    groups = highlight_lists.list_groups(scope, owner).groups
    assert [group.source for group in groups] == [talk, book]
    blue = HighlightFilter(color="blue")
    assert shown(highlight_lists.list_groups(scope, owner, blue)) == [(talk.title, [said], 0, 0)]


def test_a_source_that_does_not_fit_on_a_page_says_how_many_are_elsewhere(
    scope: Scope, owner: User, book: Source, talk: Source
) -> None:
    keep(scope, owner, talk, "Point 4", days_ago=0)
    rows = [keep(scope, owner, book, word, days_ago=1) for word in WORDS]
    pages = [
        highlight_lists.list_groups(scope, owner, offset=offset, limit=2) for offset in (0, 2, 4)
    ]
    assert [shown(page) for page in pages] == [
        [(talk.title, ["Point 4"], 0, 0), ("Book", ["One"], 0, 3)],
        [("Book", ["Two", "Three"], 1, 1)],
        [("Book", ["Four"], 3, 0)],
    ]
    assert [page.next for page in pages] == [2, 4, None]
    assert [highlight_lists.offset_of(scope, owner, row, limit=2) for row in rows] == [0, 0, 2, 2]


def test_highlights_that_somebody_else_keeps_do_not_count(
    scope: Scope, owner: User, book: Source
) -> None:
    keep(scope, owner, book, "One", days_ago=1)
    row = keep(scope, owner, book, "Four", days_ago=1)
    Highlight.objects.filter(quote="One").update(author=None)
    assert shown(highlight_lists.list_groups(scope, owner)) == [("Book", ["Four"], 0, 0)]
    assert highlight_lists.offset_of(scope, owner, row, limit=1) == 0

"""Highlights: who keeps and sees them, and where they are when a source has changed."""

from datetime import date, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from citations.errors import HighlightNotFound, InvalidFilter, PassageNotFound, SourceNotFound
from citations.ingest import pipeline as ingest_pipeline
from citations.models import Highlight, Source
from citations.notebook import highlight_lists, highlights
from citations.notebook.highlights import (
    HighlightFilter,
    HighlightNotes,
    PlacedHighlight,
    SelectedText,
)
from tests.makers import caption_json, make_cues, make_paper, make_source, make_user, make_video
from transcripts.adding import storage
from transcripts.core.errors import Forbidden, InvalidInput
from transcripts.core.scope import NOTHING, Scope
from transcripts.models import Collection, Role
from transcripts.text.cues import Cue

SAID = "Backpropagation carries the error"


@pytest.fixture
def talk(collection: Collection) -> Source:
    return make_source(make_video(collection))


@pytest.fixture
def book(collection: Collection) -> Source:
    return make_paper(collection, ["The error runs backwards.", "Each weight follows."])


def keep(
    scope: Scope, user: User | None, source: Source, quote: str, **notes: Any
) -> PlacedHighlight:
    selected = SelectedText(exact=quote)
    place = {name: notes.pop(name) for name in ("start", "page") if name in notes}
    kept = highlights.keep(scope, user, source, selected, HighlightNotes(**notes), **place)
    return kept.placed


def recaption(source: Source, cues: list[Cue]) -> None:
    """Store other captions of a recording, and index them."""
    assert source.video is not None
    data = caption_json(cues, id=source.video.key, title=source.title, lang="en")
    storage.add_captions(source.collection, data, name="again.json")
    ingest_pipeline.ingest(source.pk)


def test_a_passage_of_a_recording_has_its_seconds(scope: Scope, owner: User, talk: Source) -> None:
    placed = keep(scope, owner, talk, f"{SAID} from the end to the start. Point 8.", color="green")
    assert placed.locator is not None
    assert (placed.locator.start, placed.locator.end) == (40_000, 45_000)
    assert placed.row.prefix.endswith("Point 7. ")
    assert placed.link == f"/videos/{talk.video_id}/?t=40s&until=45s&lang=en"


def test_a_passage_of_a_document_has_its_page(scope: Scope, owner: User, book: Source) -> None:
    placed = keep(scope, owner, book, "Each  weight\nfollows")
    assert placed.locator is not None
    assert (placed.locator.page, placed.row.quote) == (2, "Each weight follows")
    assert placed.link.startswith(f"/sources/{book.uuid}/pages/2/?from=")


def test_words_that_are_said_often_are_those_at_the_second(
    scope: Scope, owner: User, talk: Source
) -> None:
    placed = keep(scope, owner, talk, SAID, start=130_000)
    assert placed.locator is not None
    assert placed.locator.start == 130_000
    with pytest.raises(PassageNotFound, match="several places"):
        keep(scope, owner, talk, SAID)


def test_the_same_passage_is_changed_and_not_kept_twice(
    scope: Scope, owner: User, book: Source
) -> None:
    first = keep(scope, owner, book, "Each weight follows.", note="Why?")
    kept = highlights.keep(
        scope, owner, book, SelectedText(exact="Each weight follows."), HighlightNotes(color="pink")
    )
    assert not kept.is_new
    assert kept.placed.row.uuid == first.row.uuid
    assert Highlight.objects.get().color == "pink"


@pytest.mark.parametrize(
    ("quote", "notes"),
    [
        (" ", {}),
        ("x" * 5_001, {}),
        ("Each weight", {"color": "red"}),
        ("Each weight", {"note": "x" * 10_001}),
        ("Each weight", {"tags": [str(number) for number in range(21)]}),
    ],
)
def test_what_cannot_be_kept_is_refused(
    scope: Scope, owner: User, book: Source, quote: str, notes: dict[str, Any]
) -> None:
    with pytest.raises(InvalidInput):
        keep(scope, owner, book, quote, **notes)
    assert not Highlight.objects.exists()


def test_tags_are_tidied(scope: Scope, owner: User, book: Source) -> None:
    placed = keep(scope, owner, book, "Each weight", tags=highlights.tags_of(" a  b, c,,c , \0d"))
    assert placed.row.tags == ["a b", "c", "d"]


# Others


def test_a_private_highlight_is_hidden_from_readers_of_the_same_source(
    scope: Scope, owner: User, collection: Collection, book: Source
) -> None:
    private = keep(scope, owner, book, "The error")
    shared = keep(scope, owner, book, "Each weight", is_shared=True)
    other = make_user("grace", collection=collection, role=Role.VIEWER)
    reading = Scope(readable=scope.readable)
    rows = [placed.row for placed in highlights.list_highlights(reading, other).highlights]
    assert rows == [shared.row]
    assert [placed.row for placed in highlights.in_source(reading, other, book)] == [shared.row]
    with pytest.raises(HighlightNotFound):
        highlights.find(reading, other, private.row.uuid)
    with pytest.raises(Forbidden):
        highlights.find(scope, other, shared.row.uuid, write=True)


def test_a_reader_highlights_for_themselves_but_shares_nothing(
    scope: Scope, collection: Collection, book: Source
) -> None:
    viewer = make_user("grace", collection=collection, role=Role.VIEWER)
    reading = Scope(readable=scope.readable)
    keep(reading, viewer, book, "The error")
    with pytest.raises(Forbidden):
        keep(reading, viewer, book, "Each weight", is_shared=True)


def test_nothing_is_highlighted_or_found_outside_the_scope(
    scope: Scope, owner: User, book: Source
) -> None:
    placed = keep(scope, owner, book, "The error", is_shared=True)
    with pytest.raises(SourceNotFound):
        highlights.keep(NOTHING, owner, book.uuid, SelectedText(exact="The error"))
    with pytest.raises(HighlightNotFound):
        highlights.find(NOTHING, owner, placed.row.uuid)
    assert highlights.list_highlights(NOTHING, owner).total == 0
    assert highlight_lists.choices(NOTHING, owner).sources == ()


# Sources that change


@pytest.mark.usefixtures("fake_models")
def test_a_highlight_moves_with_its_words_when_a_recording_is_captioned_anew(
    scope: Scope, owner: User, talk: Source
) -> None:
    placed = keep(scope, owner, talk, f"{SAID} from the end to the start. Point 8.")
    words = [cue.text for cue in make_cues()]
    earlier = Cue(start=0, end=60_000, text="A word of welcome that was not captioned before.")
    later = [
        Cue(start=60_000 + n * 5_000, end=65_000 + n * 5_000, text=text)
        for n, text in enumerate(words)
    ]
    recaption(talk, [earlier, *later])
    placed_now = highlights.find(scope, owner, placed.row.uuid)
    assert placed_now.locator is not None
    assert placed_now.locator.start == 100_000
    assert placed_now.row.quote == placed.row.quote
    assert placed_now.link == f"/videos/{talk.video_id}/?t=100s&until=105s&lang=en"
    source = Source.objects.get(pk=talk.pk)
    [in_reader] = highlights.in_source(scope, owner, source)
    assert in_reader.locator == placed_now.locator
    kept = highlights.keep(scope, owner, source, SelectedText(exact=placed.row.quote))
    assert not kept.is_new


@pytest.mark.usefixtures("fake_models")
def test_a_lost_highlight_gets_its_place_back_where_its_words_are_highlighted_again(
    scope: Scope, owner: User, talk: Source
) -> None:
    placed = keep(scope, owner, talk, "error from the end", start=40_000, note="Why?")
    recaption(talk, make_cues(20, sentences=["Nobody knows the Error, from the end."]))
    assert highlights.find(scope, owner, placed.row.uuid).is_lost
    again = highlights.keep(
        scope, owner, talk, SelectedText(exact="Error, from the end"), start=60_000, only=["color"]
    )
    assert not again.is_new
    assert again.placed.row.uuid == placed.row.uuid
    assert 60_000 < (again.placed.row.start or 0) < 65_000
    assert again.placed.row.note == "Why?"


@pytest.mark.usefixtures("fake_models")
def test_a_highlight_whose_words_are_gone_keeps_its_quote(
    scope: Scope, owner: User, talk: Source
) -> None:
    placed = keep(scope, owner, talk, f"{SAID} from the end to the start. Point 8.", note="Why?")
    recaption(talk, make_cues(20, sentences=["Something else is said now."]))
    placed_now = highlights.find(scope, owner, placed.row.uuid)
    assert placed_now.is_lost
    # Its link opens the time when it was said, and marks nothing there.
    assert placed_now.link == f"/videos/{talk.video_id}/?t=40s&lang=en"
    assert (placed_now.row.quote, placed_now.row.note) == (placed.row.quote, "Why?")
    assert highlights.colored([placed_now]) == ()


def test_a_highlight_is_deleted_with_its_source_alone(
    scope: Scope, owner: User, book: Source, talk: Source
) -> None:
    keep(scope, owner, book, "The error")
    stays = keep(scope, owner, talk, SAID, start=0)
    ingest_pipeline.remove(book)
    assert Highlight.objects.get() == stays.row


# The list


def test_the_list_is_narrowed_by_each_part(
    scope: Scope, owner: User, collection: Collection, book: Source, talk: Source
) -> None:
    first = keep(scope, owner, book, "The error", color="blue", tags=["Exam"], note="Ask Grace")
    second = keep(scope, owner, talk, SAID, start=0, is_card=True)
    today = timezone.localdate()
    for filter, row in (
        (HighlightFilter(color="blue"), first.row),
        (HighlightFilter(tag="Exam"), first.row),
        (HighlightFilter(words="grace ERROR"), first.row),
        (HighlightFilter(source=str(book.uuid)), first.row),
        (HighlightFilter(words="lecture 1"), second.row),
        (HighlightFilter(cards=True, collection=collection.slug), second.row),
    ):
        page = highlights.list_highlights(scope, owner, filter)
        assert [placed.row for placed in page.highlights] == [row], filter
    for since, until, count in (
        (today, today, 2),
        (today + timedelta(days=1), None, 0),
        (None, today - timedelta(days=1), 0),
        (None, date.max, 2),
    ):
        filter = HighlightFilter(since=since, until=until)
        assert highlights.list_highlights(scope, owner, filter).total == count
    with pytest.raises(InvalidFilter):
        HighlightFilter.model_validate({"color": "red"})


def test_the_list_has_pages(scope: Scope, owner: User, talk: Source) -> None:
    for n in range(3):
        keep(scope, owner, talk, SAID, start=n * 30_000)
    page = highlights.list_highlights(scope, owner, limit=2)
    assert (len(page.highlights), page.total, page.next) == (2, 3, 2)
    last = highlights.list_highlights(scope, owner, limit=2, offset=2)
    assert [placed.row.start for placed in last.highlights] == [10_000]
    assert last.next is None


def test_a_reader_with_many_highlights_reads_the_text_once(
    scope: Scope, owner: User, talk: Source
) -> None:
    for n in range(10):
        keep(scope, owner, talk, SAID, start=n * 30_000)
    with CaptureQueriesContext(connection) as queries:
        assert len(highlights.in_source(scope, owner, talk)) == 10
    assert len(queries) <= 3


def test_of_a_long_recording_only_the_highlights_of_the_shown_part_are_listed(
    scope: Scope, owner: User, talk: Source
) -> None:
    kept = [keep(scope, owner, talk, SAID, start=n * 30_000) for n in range(3)]
    places = [placed.locator.span for placed in kept if placed.locator]
    within = (places[1][0], places[1][1])
    [shown] = highlights.in_source(scope, owner, talk, within=within)
    assert shown.row == kept[1].row
    assert highlights.count_in_source(scope, owner, talk) == 3
    Source.objects.filter(pk=talk.pk).update(digest="0" * 32)  # as after new captions
    talk.refresh_from_db()
    [shown] = highlights.in_source(scope, owner, talk, within=within)
    assert shown.row == kept[1].row

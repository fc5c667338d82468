"""What is done with the selected items of the library, and what stays selected."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from selectolax.lexbor import LexborHTMLParser

from citations.models import Chunk, Guide, LectureSession
from citations.views import undo
from tests.html import assert_shows, text_of
from tests.makers import (
    make_cues,
    make_document,
    make_paper,
    make_source,
    make_video,
    replace_chunks,
)
from transcripts.core import clock
from transcripts.library import collections
from transcripts.models import Collection, Role, Video

CHANGE = "/library/change/"


@pytest.fixture
def talk(collection: Collection) -> Video:
    video = make_video(collection, title="Lecture on moss", cues=make_cues(2))
    make_source(video)
    return video


@pytest.fixture
def other(collection: Collection) -> Video:
    return make_video(collection, key="other", title="Lecture on ice")


def selected(response: Any) -> list[str | None]:
    boxes = LexborHTMLParser(text_of(response)).css("[data-choice][checked]")
    return [box.attributes["value"] for box in boxes]


def targets(response: Any) -> list[str | None]:
    options = LexborHTMLParser(text_of(response)).css("#selection-target option")
    return [option.attributes["value"] for option in options]


@pytest.mark.parametrize(
    "sent",
    [
        {"action": "tag", "tags": "ice"},
        {"action": "tag", "tags": ""},
        {"action": "untag", "tags": "ice"},
        {"action": "index"},
        {"action": "fetch"},
        {"action": "move", "collection": ""},
        {"action": "move-to-new", "new": ""},
    ],
    ids=lambda sent: " ".join(sent.values()),
)
def test_what_stays_where_it_is_stays_selected_once(
    page: Client, talk: Video, other: Video, sent: dict[str, str]
) -> None:
    chosen = f"video-{talk.pk}"
    assert selected(page.post(CHANGE, {"item": chosen, **sent}, follow=True)) == [chosen]
    assert selected(page.get("/library/")) == []


def test_what_waits_is_put_first_and_the_others_are_left_out(
    page: Client, collection: Collection, talk: Video
) -> None:
    book = make_document(collection, ["x"], title="A book")
    chosen = [f"video-{talk.pk}", f"document-{book.pk}"]
    shown = page.post(CHANGE, {"item": chosen, "action": "first"}, follow=True)
    assert "1 item is indexed next." in text_of(shown)
    assert "1 item was left out: it does not wait to be indexed." in text_of(shown)
    assert selected(shown) == chosen[::-1]
    book.refresh_from_db()
    assert book.wanted_at
    shown = page.post(CHANGE, {"item": chosen[:1], "action": "first"}, follow=True)
    assert "None of these waits to be indexed." in text_of(shown)


def test_what_was_renamed_is_not_selected_any_more_as_it_may_be_out_of_sight(
    page: Client, talk: Video, other: Video
) -> None:
    chosen = f"video-{talk.pk}"
    sent = {"item": chosen, f"title-{chosen}": "Moss"}
    assert selected(page.post("/library/rename/", sent, follow=True)) == []
    talk.refresh_from_db()
    assert talk.title == "Moss"


def test_what_was_moved_or_deleted_is_not_selected_any_more(
    page: Client, talk: Video, other: Video, owner: User
) -> None:
    shelf = collections.create("Shelf", owner=owner)
    moving = {"item": f"video-{talk.pk}", "action": "move", "collection": shelf.slug}
    assert selected(page.post(CHANGE, moving, follow=True)) == []
    deleting = {"item": f"video-{other.pk}", "action": "delete"}
    assert selected(page.post(CHANGE, deleting, follow=True)) == []


def test_items_move_to_a_collection_that_is_made_in_place(
    page: Client, talk: Video, owner: User
) -> None:
    sent = {"item": [f"video-{talk.pk}"], "action": "move-to-new", "new": "Winter term"}
    assert "1 item moved to “Winter term”." in text_of(page.post(CHANGE, sent, follow=True))
    talk.refresh_from_db()
    assert talk.collection.name == "Winter term"
    assert collections.role_in(talk.collection, owner) == Role.OWNER


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("", "The name is empty."),
        ("x" * 121, "at most 120 characters"),
        ("Lectures", "There is a collection “Lectures” already."),
    ],
)
def test_a_new_collection_that_cannot_be_made_moves_nothing(
    page: Client, talk: Video, owner: User, name: str, said: str
) -> None:
    Collection.objects.filter(name="Lectures").update(name="Others")
    collections.create("Lectures", owner=owner)
    sent = {"item": [f"video-{talk.pk}"], "action": "move-to-new", "new": name}
    assert said in text_of(page.post(CHANGE, sent, follow=True))
    before = talk.collection_id
    talk.refresh_from_db()
    assert talk.collection_id == before


def test_items_are_not_offered_to_move_where_all_of_them_are(
    page: Client, talk: Video, collection: Collection, owner: User
) -> None:
    assert targets(page.get(f"/collections/{collection.pk}/")) == []
    shelf = collections.create("Shelf", owner=owner)
    assert targets(page.get(f"/collections/{collection.pk}/")) == ["", shelf.slug]
    assert targets(page.get("/library/")) == ["", collection.slug, shelf.slug]


def test_a_deletion_is_told_where_its_items_were(
    page: Client, talk: Video, collection: Collection, owner: User
) -> None:
    shelf = collections.create("Shelf", owner=owner)
    page.post(CHANGE, {"item": f"video-{talk.pk}", "action": "delete"})
    notice = "“Lecture on moss” was deleted."
    assert notice in text_of(page.get("/library/"))
    assert notice in text_of(page.get(f"/collections/{collection.pk}/"))
    assert notice not in text_of(page.get(f"/collections/{shelf.pk}/"))


def undo_of(response: Any) -> str:
    """The address that undoes what was done last, or ""."""
    forms = LexborHTMLParser(text_of(response)).css("form[action^=\\/library\\/undo]")
    return str(forms[-1].attributes["action"]) if forms else ""


def test_a_move_is_undone_by_the_list_that_says_so(
    page: Client, talk: Video, other: Video, owner: User
) -> None:
    shelf = collections.create("Shelf", owner=owner)
    home = talk.collection
    chosen = [f"video-{talk.pk}", f"video-{other.pk}"]
    moving = {"item": chosen, "action": "move", "collection": shelf.slug}
    moved = page.post(CHANGE, moving, follow=True)
    assert "2 items moved to “Shelf”." in text_of(moved)
    assert undo_of(page.get("/library/")), "the list is loaded again"
    assert not undo_of(page.get("/library/?tag=moss")), "nothing of it was moved"
    Video.objects.filter(pk=other.pk).update(collection=collections.create("Third", owner=owner))
    undone = page.post(undo_of(moved), follow=True)
    assert "1 item moved back. 1 item was left out" in text_of(undone)
    assert not undo_of(undone)
    talk.refresh_from_db()
    other.refresh_from_db()
    assert (talk.collection, other.collection.name) == (home, "Third")


def test_an_older_form_undoes_what_it_says_though_another_change_is_offered_now(
    page: Client, talk: Video, other: Video, owner: User
) -> None:
    home = talk.collection
    ways = []
    for number, video in enumerate((talk, other)):
        shelf = collections.create(f"Shelf {number}", owner=owner)
        moving = {"item": f"video-{video.pk}", "action": "move", "collection": shelf.slug}
        ways.append(undo_of(page.post(CHANGE, moving, follow=True)))
    assert "1 item moved back." in text_of(page.post(ways[0], follow=True))
    talk.refresh_from_db()
    other.refresh_from_db()
    assert (talk.collection, other.collection.name) == (home, "Shelf 1")


def test_a_move_is_not_offered_to_be_undone_where_nothing_moved_or_too_late(
    page: Client, talk: Video, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    moving = {"item": f"video-{talk.pk}", "action": "move", "collection": talk.collection.slug}
    assert not undo_of(page.post(CHANGE, moving, follow=True))
    monkeypatch.setitem(undo.TIMES, undo.MOVE, timedelta(seconds=-1))
    shelf = collections.create("Shelf", owner=owner)
    assert not undo_of(page.post(CHANGE, moving | {"collection": shelf.slug}, follow=True))


def test_a_thousand_items_are_renamed_at_once(page: Client) -> None:
    chosen = [f"video-{number}" for number in range(1, 1_001)]
    titles = {f"title-{reference}": "Moss" for reference in chosen}
    response = page.post("/library/rename/", {"item": chosen, **titles})
    assert "None of these is there any more." in text_of(response)


def test_titles_are_proposed_from_file_heading_and_guide_and_taken_over_before_they_are_saved(
    page: Client, collection: Collection, talk: Video
) -> None:
    book = make_paper(collection, ["x"], title="scan 7", name="moss_and_ice.txt")
    replace_chunks(book, ["x"])
    Chunk.objects.filter(source=book).update(heading="On mosses")
    items = {"terms": [{"label": "peat bogs"}]}
    Guide.objects.create(
        source=book, digest=book.digest, version=1, made_at=clock.now(), items=items
    )
    chosen = [f"video-{talk.pk}", f"document-{book.pk}"]
    shown = page.post(CHANGE, {"item": chosen, "action": "rename"})
    proposed = LexborHTMLParser(text_of(shown)).css(".rename-proposals button")
    titles = [button.text().replace("Take:", "").strip() for button in proposed]
    assert titles[-3:] == ["moss and ice", "On mosses", "Peat bogs"]

    written = {"item": chosen, f"title-{chosen[0]}": "Mosses, written"}
    shown = page.post("/library/rename/", {**written, "take": f"{chosen[1]} 1"})
    assert_shows(shown, 'value="On mosses"', 'value="Mosses, written"')
    assert 'value="moss and ice"' in text_of(
        page.post("/library/rename/", {**written, "take": "all"})
    )
    assert page.post("/library/rename/", {**written, "take": "document-1 x"}).status_code == 200
    book.refresh_from_db()
    assert book.title == "scan 7"  # nothing is saved before Save


def test_what_is_not_there_any_more_is_told_and_the_rest_is_done(
    page: Client, talk: Video, other: Video
) -> None:
    chosen = [f"video-{video.pk}" for video in (talk, other)]
    page.post(CHANGE, {"item": chosen[1], "action": "delete"})  # in another tab
    shown = page.post(CHANGE, {"item": chosen, "action": "tag", "tags": "ice"}, follow=True)
    assert_shows(shown, "1 item tagged.", "1 item was not there any more.")
    assert selected(shown) == chosen[:1]
    talk.refresh_from_db()
    assert talk.tags == ["ice"]

    titles = page.post(CHANGE, {"item": chosen, "action": "rename"})
    assert_shows(titles, "1 item was not there any more.", without=("Lecture on ice",))
    sent = {"item": chosen, f"title-{chosen[0]}": "Moss", f"title-{chosen[1]}": "Ice"}
    shown = page.post("/library/rename/", sent, follow=True)
    assert "1 item was not there any more." in text_of(shown)
    talk.refresh_from_db()
    assert talk.title == "Moss"


def test_a_fault_of_a_title_is_shown_though_another_item_is_not_there_any_more(
    page: Client, talk: Video
) -> None:
    chosen = [f"video-{talk.pk}", "video-987654"]
    titles = {f"title-{reference}": " " for reference in chosen}
    refused = page.post("/library/rename/", {"item": chosen, **titles})
    assert refused.status_code == 422
    assert "The title is empty." in text_of(refused)


def test_tags_are_taken_back_from_what_is_still_there(
    page: Client, talk: Video, other: Video
) -> None:
    chosen = [f"video-{video.pk}" for video in (talk, other)]
    tagged = page.post(CHANGE, {"item": chosen, "action": "tag", "tags": "ice"}, follow=True)
    page.post(CHANGE, {"item": chosen[1], "action": "delete"})
    shown = page.post(undo_of(tagged), follow=True)
    assert_shows(shown, "1 item has its earlier tags again.", "1 item was not there any more.")
    talk.refresh_from_db()
    assert talk.tags == []


def actions(response: Any) -> dict[str | None, set[str]]:
    """What the list says can be done with each item."""
    boxes = LexborHTMLParser(text_of(response)).css("[data-choice]")
    return {
        box.attributes["value"]: set((box.attributes["data-actions"] or "").split())
        for box in boxes
    }


def test_the_list_offers_for_each_item_what_it_admits(
    page: Client, collection: Collection, talk: Video
) -> None:
    lecture = LectureSession.objects.create(collection=collection, title="Live")
    video = make_video(collection, key="tube", youtube_id="dQw4w9WgXcQ")
    assert actions(page.get("/library/")) == {
        f"video-{talk.pk}": {"change", "export", "index"},
        f"video-{video.pk}": {"change", "fetch"},
        f"lecture-{lecture.pk}": {"change"},
    }


def test_a_viewer_selects_and_exports_and_does_nothing_else(
    viewer: Client, collection: Collection, talk: Video
) -> None:
    LectureSession.objects.create(collection=collection, title="Live")
    for address in ("/library/", "/library/?view=table", f"/collections/{collection.pk}/"):
        response = viewer.get(address)
        assert actions(response) == {f"video-{talk.pk}": {"export"}}
        buttons = LexborHTMLParser(text_of(response)).css("#selection [name=action]")
        assert [button.attributes["value"] for button in buttons] == ["export"]
    chosen = {"item": f"video-{talk.pk}"}
    for action in ("tag", "index", "rename", "delete"):
        assert viewer.post(CHANGE, {"action": action, "tags": "ice", **chosen}).status_code == 403
    exported = viewer.post(CHANGE, {"action": "export", **chosen}, follow=True)
    html = text_of(exported)
    assert "Your selection in one ZIP" in html
    assert "the one source that you chose" in html
    assert "every source that you may read" not in html

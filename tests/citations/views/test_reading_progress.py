"""The readers keep where one is, and offer to go on there."""

import re
from html import unescape

import pytest
from django.contrib.auth.models import User
from django.test import Client

from citations.models import ReadingProgress, Source
from tests.html import assert_shows, text_of
from tests.makers import make_paper, make_source, make_video
from transcripts.models import Collection


@pytest.fixture
def talk(collection: Collection) -> Source:
    return make_source(make_video(collection))


@pytest.fixture
def paper(collection: Collection) -> Source:
    return make_paper(collection, ["One.", "Two.", "Three."])


def place(owner: User) -> int:
    return ReadingProgress.objects.get(user=owner).position


def test_a_recording_goes_on_where_its_reader_was(page: Client, owner: User, talk: Source) -> None:
    address = f"/videos/{talk.video_id}/"
    assert "Continue at" not in text_of(page.get(address))
    response = page.post(f"/sources/{talk.uuid}/progress/", {"position": "151000"})
    assert response.status_code == 204
    assert_shows(page.get(address), 'href="?t=151s" data-seek="151000"', "Continue at 2:31")
    assert place(owner) == 151_000
    assert "Continue at" not in text_of(page.get(f"{address}?t=150s"))


def test_without_scripts_an_address_with_a_time_is_the_place(
    page: Client, owner: User, talk: Source
) -> None:
    page.get(f"/videos/{talk.video_id}/?t=90s")
    assert place(owner) == 90_000
    page.get(f"/videos/{talk.video_id}/?t=20s&until=30s")
    page.get(f"/videos/{talk.video_id}/?q=gradient")
    assert place(owner) == 90_000, "who looks something up stays where they were"


def test_another_view_of_a_recording_leaves_the_place(
    page: Client, owner: User, talk: Source
) -> None:
    page.post(f"/sources/{talk.uuid}/progress/", {"position": "151000"})
    opened = text_of(page.get(f"/videos/{talk.video_id}/"))
    (chapters,) = re.findall(r'href="([^"]*view=chapters[^"]*)"', opened)
    shown = text_of(page.get(f"/videos/{talk.video_id}/{unescape(chapters)}"))
    assert place(owner) == 151_000
    assert "Continue at 2:31" in shown


def test_the_end_is_read_by_reading_on_to_it_and_not_by_opening_it(
    page: Client, owner: User, talk: Source
) -> None:
    address = f"/sources/{talk.uuid}/progress/"
    page.get(f"/videos/{talk.video_id}/?t=295s")
    page.post(address, {"position": "296000", "reads_on": "1"})
    assert place(owner) == 296_000
    assert not ReadingProgress.objects.get().is_finished
    page.post(address, {"position": "280000", "reads_on": "0"})
    page.post(address, {"position": "286000", "reads_on": "1"})
    assert ReadingProgress.objects.get().is_finished


def test_the_last_page_is_read_by_turning_to_it_and_not_by_opening_it(
    page: Client, owner: User, paper: Source
) -> None:
    page.get(f"/sources/{paper.uuid}/pages/3/")
    assert place(owner) == 3
    assert not ReadingProgress.objects.get().is_finished


def test_a_document_goes_on_at_its_page(page: Client, owner: User, paper: Source) -> None:
    page.get(f"/sources/{paper.uuid}/pages/2/")
    assert place(owner) == 2
    opened = text_of(page.get(f"/sources/{paper.uuid}/"))
    assert f'href="/sources/{paper.uuid}/pages/2/"' in opened
    assert "Continue on page 2" in opened
    page.get(f"/sources/{paper.uuid}/pages/3/?from=1&to=3")
    assert place(owner) == 2
    assert not ReadingProgress.objects.get().is_finished
    page.get(f"/sources/{paper.uuid}/pages/3/")
    assert ReadingProgress.objects.get().is_finished


def test_a_page_in_a_dialog_changes_nothing(page: Client, paper: Source) -> None:
    page.get(f"/sources/{paper.uuid}/pages/2/", headers={"HX-Request": "true"})
    assert not ReadingProgress.objects.exists()


def test_a_source_is_marked_as_read_and_as_unread(page: Client, talk: Source) -> None:
    address = f"/sources/{talk.uuid}/progress/"
    page.post(address, {"read": "1"})
    assert ReadingProgress.objects.get().is_finished
    assert "Mark as unread" in text_of(page.get(f"/videos/{talk.video_id}/"))
    assert "“Lecture 1” is unread." in text_of(page.post(address, {"read": "0"}, follow=True))
    assert not ReadingProgress.objects.exists()


def test_a_source_that_one_may_not_read_any_more_is_told_in_words_of_the_page(
    page: Client, owner: User, talk: Source
) -> None:
    owner.memberships.all().delete()
    for headers in ({}, {"HX-Request": "true"}):
        refused = page.post(f"/sources/{talk.uuid}/progress/", {"read": "1"}, headers=headers)
        assert refused.status_code == 404
        html = text_of(refused)
        assert "There is no such source." in html
        assert "you may not read it any more. Ask an owner of its collection." in html
        for foreign in (f"“{talk.uuid}”", "kb sources", "list_sources"):
            assert foreign not in html


@pytest.mark.parametrize("position", ["", "-1", "soon", "9" * 30, "1.5", "١"])
def test_a_position_that_is_no_number_is_refused(page: Client, talk: Source, position: str) -> None:
    refused = page.post(f"/sources/{talk.uuid}/progress/", {"position": position})
    assert refused.status_code == 422
    assert not ReadingProgress.objects.exists()


@pytest.mark.parametrize("view", ["cards", "table"])
def test_the_library_shows_how_far_one_is(page: Client, talk: Source, view: str) -> None:
    page.post(f"/sources/{talk.uuid}/progress/", {"position": "150000"})
    assert 'value="50" aria-label="50 % read"' in text_of(page.get(f"/library/?view={view}"))
    page.post(f"/sources/{talk.uuid}/progress/", {"read": "1"})
    done = text_of(page.get(f"/library/?view={view}"))
    assert "% read" not in done
    assert '<span class="badge badge-plain">read</span>' in done


def test_a_filter_for_what_is_unread_is_a_chip(page: Client, talk: Source) -> None:
    page.post(f"/sources/{talk.uuid}/progress/", {"position": "150000"})
    html = text_of(page.get("/library/?reading=unread"))
    assert "Lecture 1" not in html
    assert re.search(r"Reading:\s*<span class=.wrap.>unread</span>", html)

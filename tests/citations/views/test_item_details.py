"""Items are edited in place, and without scripts on a page of their own."""

import re
from datetime import timedelta
from io import BytesIO
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from PIL import Image
from selectolax.lexbor import LexborHTMLParser

from citations.views import undo
from tests.html import assert_shows, text_of
from tests.makers import make_document, make_source, make_video
from transcripts.models import Collection, Job, Transcript, Video

HTMX = {"HX-Request": "true"}


@pytest.fixture
def talk(collection: Collection) -> Video:
    video = make_video(collection)
    make_source(video)
    return video


def make_picture() -> SimpleUploadedFile:
    written = BytesIO()
    Image.new("RGB", (1000, 1000), "teal").save(written, "PNG")
    return SimpleUploadedFile("me.png", written.getvalue())


@pytest.mark.parametrize(("place", "tag"), [("cards", "<li"), ("table", "<tr")])
def test_an_item_is_edited_where_it_stands(page: Client, talk: Video, place: str, tag: str) -> None:
    address = f"/library/video-{talk.pk}/edit/"
    assert f'hx-get="{address}?next=' in text_of(page.get(f"/library/?view={place}"))
    form = text_of(page.get(f"{address}?place={place}", headers=HTMX))
    assert 'value="Lecture 1"' in form
    assert "<html" not in form
    sent = {"title": "A <b>new</b> title", "tags": "a, b", "place": place, "next": "/library/?q=x"}
    html = text_of(page.post(address, sent, headers=HTMX))
    assert html.startswith(tag)
    assert_shows(html, "A &lt;b&gt;new&lt;/b&gt; title", "next=/library/%3Fq%3Dx")


def test_without_scripts_it_is_edited_on_a_page(page: Client, talk: Video) -> None:
    address = f"/library/video-{talk.pk}/edit/"
    assert "<html" in text_of(page.get(address))
    saved = page.post(address, {"title": "New", "next": f"/videos/{talk.pk}/"}, follow=True)
    assert saved.redirect_chain == [(f"/videos/{talk.pk}/", 302)]
    assert "“New” was saved." in text_of(saved)
    elsewhere = page.post(address, {"title": "New", "next": "https://example.org/"})
    assert elsewhere["Location"] == "/library/"


def test_a_picture_is_chosen_and_taken_back_where_the_title_is(page: Client, talk: Video) -> None:
    address, shown = f"/library/video-{talk.pk}/edit/", f"/videos/{talk.pk}/thumbnail"
    assert 'name="reset"' not in text_of(page.get(address))
    sent = {"title": "New", "place": "cards", "picture": make_picture()}
    assert f"{shown}?v=" in text_of(page.post(address, sent, headers=HTMX))
    assert page.get(shown)["Content-Type"] == "image/webp"
    page.post(address, {"title": "New"})
    assert page.get(shown)["Content-Type"] == "image/webp"
    assert 'name="reset"' in text_of(page.get(address))
    page.post(address, {"title": "New", "reset": "on"})
    assert page.get(shown)["Content-Type"] == "image/svg+xml"
    assert not Job.objects.exists()  # it came from a file


def test_a_refused_picture_changes_nothing(page: Client, talk: Video) -> None:
    sent = {"title": "New", "picture": SimpleUploadedFile("me.svg", b"<svg/>")}
    refused = page.post(f"/library/video-{talk.pk}/edit/", sent)
    assert refused.status_code == 422
    assert "not a picture" in text_of(refused)
    talk.refresh_from_db()
    assert talk.title == "Lecture 1"


def test_the_picture_of_youtube_is_fetched_again(page: Client, talk: Video) -> None:
    Video.objects.update(youtube_id="dQw4w9WgXcQ")
    page.post(f"/library/video-{talk.pk}/edit/", {"title": "New", "reset": "on"})
    assert Job.objects.get().target == "dQw4w9WgXcQ"


def test_only_recordings_take_a_picture(page: Client, collection: Collection) -> None:
    document = make_document(collection, ["It is paper."])
    assert 'name="picture"' not in text_of(page.get(f"/library/document-{document.pk}/edit/"))


def test_a_refused_form_keeps_what_was_written(page: Client, talk: Video) -> None:
    sent = {"title": "New", "language": "klingon"}
    for headers in ({}, HTMX):
        refused = page.post(f"/library/video-{talk.pk}/edit/", sent, headers=headers)
        assert refused.status_code == 422
        html = text_of(refused)
        assert "No language is known as “klingon”." in html
        assert 'value="klingon"' in html
        assert 'value="New"' in html
    assert refused["HX-Retarget"] == f"#form-video-{talk.pk}"


def test_a_language_is_edited_by_its_name_in_that_of_the_page(page: Client, talk: Video) -> None:
    german: Any = {"headers": {"Accept-Language": "de"}}
    address = f"/library/video-{talk.pk}/edit/"
    assert 'name="language" value="Englisch"' in text_of(page.get(address, **german))
    page.post(address, {"title": "New", "language": "Englisch"}, **german)
    assert Video.objects.get().edited == ["title"]
    page.post(address, {"title": "New", "language": "französisch"}, **german)
    assert Transcript.objects.get().language == "fr"
    assert "French" in text_of(page.get(f"/videos/{talk.pk}/"))


def test_who_may_only_read_edits_nothing(viewer: Client, talk: Video) -> None:
    address = f"/library/video-{talk.pk}/edit/"
    assert viewer.get(address).status_code == 403
    assert viewer.post(address, {"title": "New"}).status_code == 403
    assert "item-edit" not in text_of(viewer.get("/library/"))
    assert "item-edit" not in text_of(viewer.get(f"/videos/{talk.pk}/"))


@pytest.mark.parametrize("reference", ["video-0", "video-x", "shelf-1", "video-" + "9" * 40, "-"])
def test_what_is_no_item_is_not_there(page: Client, talk: Video, reference: str) -> None:
    assert page.get(f"/library/{reference}/edit/").status_code == 404


def test_several_titles_are_changed_in_one_list_and_all_or_none_are_saved(
    page: Client, collection: Collection
) -> None:
    talks = [make_video(collection, key=key, title=key) for key in ("b", "a", "c")]
    chosen = [f"video-{talk.pk}" for talk in talks]
    listed = text_of(
        page.post("/library/change/", {"item": chosen, "action": "rename", "next": "/library/?q=x"})
    )
    places = [listed.index(f'name="title-{reference}"') for reference in chosen]
    assert places == sorted(places)
    titles = {f"title-{reference}": f"Week {n}" for n, reference in enumerate(chosen, 1)}
    sent = {"item": chosen, "next": "/library/?q=x", **titles}
    refused = page.post("/library/rename/", sent | {f"title-{chosen[2]}": " "})
    assert refused.status_code == 422
    assert_shows(refused, "The title is empty.", 'value="Week 1"')
    faulty = re.search(
        r'The title is empty\..*?name="(title-\S+)"[^>]*>', text_of(refused), re.DOTALL
    )
    assert faulty
    assert faulty[1] == f"title-{chosen[2]}", "it is said beside the title"
    assert "autofocus" in faulty[0]
    assert set(Video.objects.values_list("title", flat=True)) == {"a", "b", "c"}
    saved = page.post("/library/rename/", sent, follow=True)
    assert saved.redirect_chain == [("/library/?q=x", 302)]
    assert "3 items renamed." in text_of(saved)
    assert [Video.objects.get(pk=talk.pk).title for talk in talks] == ["Week 1", "Week 2", "Week 3"]
    assert Video.objects.get(pk=talks[0].pk).edited == ["title"]


def test_the_list_of_titles_shows_with_which_words_each_item_begins(
    page: Client, collection: Collection
) -> None:
    talk = make_source(make_video(collection), texts=["This is about bread.", "And butter."])
    book = make_document(collection, ["Chapter one " * 40])
    bare = make_video(collection, key="bare")
    chosen = [f"video-{talk.video_id}", f"document-{book.pk}", f"video-{bare.pk}"]
    listed = text_of(page.post("/library/change/", {"item": chosen, "action": "rename"}))
    assert re.findall(r'id="words-\d">(.*?)</p>', listed) == [
        "This is about bread.",
        "Chapter one " * 11 + "Chapter …",
        "",
    ]


def test_a_rename_of_several_items_is_taken_back_for_ten_seconds(
    page: Client, collection: Collection
) -> None:
    talks = [make_video(collection, key=key, title=key) for key in ("a", "b")]
    titles = {f"title-video-{talk.pk}": f"Week {talk.key}" for talk in talks}
    chosen = {"item": [f"video-{talk.pk}" for talk in talks]}
    html = text_of(page.post("/library/rename/", chosen | titles, follow=True))
    assert "2 items renamed." in html
    [way] = LexborHTMLParser(html).css("form[action^=\\/library\\/undo]")
    elsewhere = text_of(page.get("/library/?tag=moss"))
    assert "2 items renamed." not in elsewhere, "nothing of it was renamed"
    assert str(way.attributes["action"]) in text_of(page.get("/library/"))
    assert "/library/undo/" not in text_of(page.post(str(way.attributes["action"]), follow=True))
    assert set(Video.objects.values_list("title", flat=True)) == {"a", "b"}


def test_a_rename_is_not_offered_to_be_taken_back_later(
    page: Client, talk: Video, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(undo.TIMES, undo.RENAME, timedelta(seconds=-1))
    sent = {"item": [f"video-{talk.pk}"], f"title-video-{talk.pk}": "Another"}
    assert "/library/undo/" not in text_of(page.post("/library/rename/", sent, follow=True))

"""How much is in each collection, and what is deleted with one."""

from typing import Any

import pytest
from django.test import Client
from selectolax.lexbor import LexborHTMLParser

from citations.models import Conversation, Highlight, LectureSession, Note
from tests.html import text_of
from tests.makers import make_document, make_video
from transcripts.models import Collection, Feed, Video

pytestmark = pytest.mark.usefixtures("fake_models")


def test_collections_are_listed_with_all_that_is_in_them(
    page: Client, collection: Collection, django_assert_max_num_queries: Any
) -> None:
    for key in ("one", "two", "gone"):
        make_video(collection, key=key)
    Video.objects.filter(key="gone").update(deletion="0c9d1b44-2f6e-4f7c-9d0e-3f6f2d3c9a51")
    Video.objects.filter(key="two").update(youtube_id="dQw4w9WgXcQ")
    make_document(collection, ["Words."])
    LectureSession.objects.create(collection=collection, title="Lecture")
    with django_assert_max_num_queries(14):
        html = " ".join(text_of(page.get("/collections/")).split())
    assert "1 recording ·" in html
    assert "1 transcript ·" in html
    assert "1 document" in html
    assert "1 lecture" in html


def test_what_is_deleted_with_a_collection_is_told_before(
    page: Client, collection: Collection
) -> None:
    address = f"/collections/{collection.pk}/delete/"
    assert "It is empty." in text_of(page.get(address))
    video = make_video(collection, key="one")
    document = make_document(collection, ["Words."])
    make_document(collection, ["More words."], title="more")
    LectureSession.objects.create(collection=collection, title="Lecture")
    Note.objects.create(collection=collection, title="A note")
    Highlight.objects.create(source=document, quote="Words.", span_start=0, span_end=6)
    Conversation.objects.create(collection=collection, title="What is it?")
    Feed.objects.create(collection=collection, kind="channel", youtube_id="UC" + "a" * 22)
    main = LexborHTMLParser(text_of(page.get(address))).css_first("main")
    assert [row.text() for row in main.css("li")] == [
        "1 recording",
        "2 documents",
        "1 lecture",
        "1 highlight",
        "1 note",
        "1 conversation about it",
        "1 playlist or channel",
    ]
    Video.objects.filter(pk=video.pk).update(deletion="0c9d1b44-2f6e-4f7c-9d0e-3f6f2d3c9a51")
    assert "1 recording" not in text_of(page.get(address))

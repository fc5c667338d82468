"""How much is in each collection."""

from typing import Any

import pytest
from django.test import Client

from citations.models import LectureSession
from tests.html import text_of
from tests.makers import make_document, make_video
from transcripts.models import Collection, Video

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

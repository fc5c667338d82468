"""The page that a bookmark opens, and to which a phone shares."""

from urllib.parse import urlencode

import pytest
from django.test import Client

from tests.html import assert_shows, text_of
from tests.makers import make_video
from transcripts.models import Collection, Job

WATCH = "https://www.youtube.com/watch?v=dQw4w9WgXcQ"


@pytest.mark.parametrize(
    "shared",
    [
        {"url": WATCH, "title": "A talk"},
        {"text": WATCH, "title": "A talk"},  # as YouTube's app does
        {"text": f"Look at this:\n{WATCH}", "title": "A talk"},
        {"url": "", "text": f"A talk {WATCH} (2 h)", "title": "A talk"},
    ],
)
def test_the_form_is_filled_with_what_is_shared_and_nothing_is_added(
    page: Client, collection: Collection, shared: dict[str, str]
) -> None:
    assert_shows(page.get(f"/add/?{urlencode(shared)}"), f">{WATCH}</textarea>", "A talk")
    assert not Job.objects.exists()


@pytest.mark.parametrize(
    "shared",
    [
        {},
        {"url": "javascript:alert(1)"},
        {"url": f"https://x.example/{'x' * 3000}"},
        {"text": "no address"},
        {"other": "x"},
    ],
)
def test_what_is_no_address_leaves_the_form_empty(
    page: Client, collection: Collection, shared: dict[str, str]
) -> None:
    assert "data-submit-on-enter></textarea>" in text_of(page.get(f"/add/?{urlencode(shared)}"))


def test_what_is_shared_is_shown_as_text(page: Client, collection: Collection) -> None:
    shared = {"url": "https://x.example/</textarea><script>", "title": "<script>alert(1)</script>"}
    html = text_of(page.get(f"/add/?{urlencode(shared)}"))
    assert "<script>alert" not in html
    assert "&lt;/textarea&gt;" in html


def test_a_video_that_is_there_is_named_to_those_who_may_see_it(
    page: Client, stranger: Client, collection: Collection
) -> None:
    video = make_video(collection, title="Known talk", youtube_id="dQw4w9WgXcQ")
    address = f"/add/?{urlencode({'url': WATCH})}"
    assert f'href="/videos/{video.pk}/"' in text_of(page.get(address))
    assert "Known talk" not in text_of(stranger.get(address))


def test_a_viewer_learns_whom_to_ask(viewer: Client) -> None:
    html = text_of(viewer.get(f"/add/?{urlencode({'url': WATCH})}"))
    assert "ask an owner" in html
    assert 'name="what"' not in html


def test_who_is_not_signed_in_signs_in_and_comes_back(client: Client, db: None) -> None:
    address = f"/add/?{urlencode({'text': WATCH})}"
    answer = client.get(address)
    assert answer.status_code == 302
    assert answer["Location"] == f"/sign-in/?{urlencode({'next': address}, safe='/')}"

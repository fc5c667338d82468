"""Strangers and viewers see and change only what they may."""

import pytest
from django.test import Client

from tests.transcripts.views.pages import HTMX
from transcripts.models import Video

READS = (
    "/videos/{0}/",
    "/videos/{0}/chunks/0/",
    "/videos/{0}/search/?q=x",
    "/videos/{0}/download/vtt/",
    "/videos/{0}/thumbnail",
)
WRITES = ("/videos/{0}/fetch/",)


@pytest.mark.parametrize("path", READS)
def test_a_foreign_video_does_not_exist(stranger: Client, video: Video, path: str) -> None:
    foreign, absent = (stranger.get(path.format(pk), **HTMX) for pk in (video.pk, 10**9))
    assert (foreign.status_code, foreign.content) == (404, absent.content)


@pytest.mark.parametrize("path", WRITES)
def test_a_viewer_changes_nothing(
    viewer: Client, stranger: Client, video: Video, path: str
) -> None:
    assert viewer.post(path.format(video.pk)).status_code == 403
    assert stranger.post(path.format(video.pk)).status_code == 404
    assert Video.objects.exists()


@pytest.mark.parametrize(
    "path",
    [
        "/library/",
        "/activity/",
        "/collections/",
        "/tokens/",
        "/videos/1/",
        "/jobs/1/",
        "/activity/events/",
    ],
)
def test_nobody_sees_a_page_without_signing_in(client: Client, db: None, path: str) -> None:
    assert client.get(path)["Location"].startswith("/sign-in/?next=")

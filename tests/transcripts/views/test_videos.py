"""What is done with a video: downloading, fetching again; its thumbnail."""

import pytest
from django.test import Client

from tests.makers import make_video
from tests.transcripts.views.pages import HTMX, text_of
from transcripts.models import Collection, Job, Thumbnail, Video


@pytest.mark.parametrize(
    ("form", "media_type"),
    [
        ("vtt", "text/vtt"),
        ("srt", "application/x-subrip"),
        ("txt", "text/plain"),
        ("md", "text/markdown"),
    ],
)
def test_a_transcript_can_be_downloaded(
    page: Client, video: Video, form: str, media_type: str
) -> None:
    response = page.get(f"/videos/{video.pk}/download/{form}/")
    assert response["Content-Type"] == f"{media_type}; charset=utf-8"
    assert response["Content-Disposition"] == f'attachment; filename="lecture-1.en.{form}"'
    assert "Point 599." in text_of(response)


@pytest.mark.parametrize("form", ["vtt", "md", "json"])
def test_a_file_says_that_full_stops_were_added(page: Client, video: Video, form: str) -> None:
    def mentions() -> bool:
        text = text_of(page.get(f"/videos/{video.pk}/download/{form}/"))
        return "added the full stops" in text or '"has_added_stops": true' in text

    assert not mentions()
    video.transcripts.update(has_added_stops=True)
    assert mentions()


def test_a_file_name_cannot_inject_a_header(page: Client, collection: Collection) -> None:
    video = make_video(collection, key='a"; x=ü')
    header = page.get(f"/videos/{video.pk}/download/vtt/")["Content-Disposition"]
    assert header.startswith("attachment; filename*=utf-8''a%22%3B")


def test_an_unknown_format_lists_the_known_ones(page: Client, video: Video) -> None:
    response = page.get(f"/videos/{video.pk}/download/docx/")
    assert response.status_code == 404
    assert "vtt" in text_of(response)


def test_a_missing_thumbnail_is_drawn(page: Client, video: Video) -> None:
    drawn = page.get(f"/videos/{video.pk}/thumbnail")
    assert drawn["Content-Type"] == "image/svg+xml"
    Thumbnail.objects.create(video=video, data=b"\xff\xd8jpeg", content_type="image/jpeg")
    response = page.get(f"/videos/{video.pk}/thumbnail")
    assert (response["Content-Type"], response.content) == ("image/jpeg", b"\xff\xd8jpeg")


@pytest.mark.parametrize(
    ("language", "tag"),
    [("Français", "fr"), ("fr.auto", "fr.auto"), ("French.Director", "fr.Director")],
)
def test_a_youtube_video_is_fetched_in_another_language_or_track(
    page: Client, video: Video, language: str, tag: str
) -> None:
    Video.objects.filter(pk=video.pk).update(youtube_id="dQw4w9WgXcQ")
    page.post(f"/videos/{video.pk}/fetch/", {"language": language}, **HTMX)
    assert Job.objects.get().language == tag


def test_a_file_cannot_be_fetched_from_youtube(page: Client, video: Video) -> None:
    response = page.post(f"/videos/{video.pk}/fetch/", **HTMX)
    assert response.status_code == 422
    assert "came from a file" in text_of(response)


def test_a_video_is_found_by_its_address(page: Client, video: Video) -> None:
    assert page.get("/videos/find/", {"id": "lecture-1"})["Location"] == f"/videos/{video.pk}/"

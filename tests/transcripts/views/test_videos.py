"""The page of a video: reading, searching, downloading, changing."""

import pytest
from django.test import Client
from django.utils.html import escape

from tests.makers import caption_json, make_cues, make_video
from tests.transcripts.views.pages import HTMX, text_of
from transcripts import storage
from transcripts.cues import Cue
from transcripts.models import Collection, Job, Thumbnail, Transcript, Video


def test_a_video_opens_at_its_first_chunk_and_links_to_the_next(page: Client, video: Video) -> None:
    found = text_of(page.get(f"/videos/{video.pk}/"))
    assert "Point 0." in found
    assert "Point 60." not in found
    assert "?chunk=1" in found


def test_a_video_opens_at_a_moment_with_its_line_marked(page: Client, video: Video) -> None:
    found = text_of(page.get(f"/videos/{video.pk}/?t=15m7s"))
    assert '<p class="cue at" id="t905000"' in found
    assert "part 4 of 10" in found


def test_a_whole_second_means_the_line_that_begins_within_it(
    page: Client, collection: Collection
) -> None:
    cues = [
        Cue(start=59_000, end=60_900, text="before"),
        Cue(start=60_900, end=63_000, text="meant"),
    ]
    address = f"/videos/{make_video(collection, cues=cues).pk}/"
    assert '<p class="cue at" id="t60900"' in text_of(page.get(f"{address}?t=60s"))
    assert '<p class="cue at" id="t59000"' in text_of(page.get(f"{address}?t=60.5"))
    assert '<p class="cue at" id="t59000"' in text_of(page.get(f"{address}?t=59s"))


def test_a_moment_after_the_end_opens_the_last_line(page: Client, video: Video) -> None:
    assert '<p class="cue at" id="t2995000"' in text_of(page.get(f"/videos/{video.pk}/?t=90000"))


def test_a_broken_moment_still_shows_the_video(page: Client, video: Video) -> None:
    assert page.get(f"/videos/{video.pk}/?t=soon").status_code == 200


@pytest.mark.parametrize(
    ("chunk", "status"),
    [("9", 200), ("10", 404), ("-1", 422), ("x", 422), ("9" * 30, 422), ("²", 422)],
)
def test_a_missing_chunk_is_an_error(page: Client, video: Video, chunk: str, status: int) -> None:
    assert page.get(f"/videos/{video.pk}/", {"chunk": chunk}).status_code == status


def test_scrolling_loads_the_next_chunk(page: Client, video: Video) -> None:
    found = text_of(page.get(f"/videos/{video.pk}/chunks/1/?only=next", **HTMX))
    assert 'rel="next"' in found
    assert 'rel="prev"' not in found
    assert "<html" not in found


def test_the_chunks_together_are_the_transcript(page: Client, video: Video) -> None:
    pages = [
        text_of(page.get(f"/videos/{video.pk}/chunks/{index}/", **HTMX)) for index in range(10)
    ]
    assert all(any(f"Point {number}." in found for found in pages) for number in range(600))


def test_a_plain_browser_gets_the_page_of_a_chunk(page: Client, video: Video) -> None:
    assert page.get(f"/videos/{video.pk}/chunks/2/")["Location"] == f"/videos/{video.pk}/?chunk=2"


def test_hits_mark_the_words_and_lead_to_their_time(page: Client, video: Video) -> None:
    found = text_of(page.get(f"/videos/{video.pk}/search/?q=gradient", **HTMX))
    assert "<mark>gradient</mark>" in found
    assert f"/videos/{video.pk}/?t=0s&amp;q=gradient" in found


def test_hits_escape_the_text_and_the_query(page: Client, collection: Collection) -> None:
    cues = make_cues(2, sentences=("<img src=x onerror=alert(1)> gradient & co.",))
    video = make_video(collection, cues=cues)
    found = text_of(page.get(f"/videos/{video.pk}/?q=gradient%3Cscript%3E"))
    assert "<img src=x" not in found
    assert "gradient<script>" not in found
    assert "<mark>gradient</mark>" in found


def test_a_search_without_hits_has_a_message(page: Client, video: Video) -> None:
    assert "Nothing is said about “zebra”" in text_of(
        page.get(f"/videos/{video.pk}/search/?q=zebra", **HTMX)
    )


def test_an_empty_search_clears_the_hits(page: Client, video: Video) -> None:
    assert text_of(page.get(f"/videos/{video.pk}/search/?q=", **HTMX)).strip() == ""


def test_without_scripts_a_search_shows_its_hits_in_the_page(page: Client, video: Video) -> None:
    assert "<mark>gradient</mark>" in text_of(page.get(f"/videos/{video.pk}/?q=gradient"))


def test_a_video_without_a_transcript_points_to_its_job(
    page: Client, collection: Collection
) -> None:
    bare = Video.objects.create(collection=collection, key="bare", title="Bare")
    assert "has no transcript yet" in text_of(page.get(f"/videos/{bare.pk}/"))


def test_a_missing_language_lists_the_available_ones(page: Client, video: Video) -> None:
    response = page.get(f"/videos/{video.pk}/?lang=fr")
    assert response.status_code == 404
    assert "Available: en" in text_of(response)


def test_the_languages_of_a_video_can_be_switched(
    page: Client, video: Video, collection: Collection
) -> None:
    cues = make_cues(3, sentences=("Das ist ein Satz.",))
    storage.add_captions(
        collection, caption_json(cues, id="lecture-1"), name="lecture-1.de.json", language="de"
    )
    assert "?lang=de" in text_of(page.get(f"/videos/{video.pk}/"))
    assert "Das ist ein Satz" in text_of(page.get(f"/videos/{video.pk}/?lang=de"))


def test_a_player_is_offered_for_youtube_only_and_nothing_of_it_is_loaded(
    page: Client, video: Video
) -> None:
    assert 'id="player"' not in text_of(page.get(f"/videos/{video.pk}/"))
    Video.objects.filter(pk=video.pk).update(youtube_id="dQw4w9WgXcQ")
    found = text_of(page.get(f"/videos/{video.pk}/"))
    assert 'data-youtube="dQw4w9WgXcQ"' in found
    assert "<iframe" not in found


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
    kept = page.get(f"/videos/{video.pk}/thumbnail")
    assert (kept["Content-Type"], kept.content) == ("image/jpeg", b"\xff\xd8jpeg")


def test_a_youtube_video_is_fetched_in_another_language(page: Client, video: Video) -> None:
    Video.objects.filter(pk=video.pk).update(youtube_id="dQw4w9WgXcQ")
    page.post(f"/videos/{video.pk}/fetch/", {"language": "fr"}, **HTMX)
    assert Job.objects.get().language == "fr"


def test_a_file_cannot_be_fetched_from_youtube(page: Client, video: Video) -> None:
    response = page.post(f"/videos/{video.pk}/fetch/", **HTMX)
    assert response.status_code == 422
    assert "came from a file" in text_of(response)


def test_deleting_asks_for_confirmation(page: Client, video: Video) -> None:
    assert "600 lines" in text_of(page.get(f"/videos/{video.pk}/delete/"))
    assert Video.objects.filter(pk=video.pk).exists()
    response = page.post(f"/videos/{video.pk}/delete/", follow=True)
    assert not Video.objects.exists()
    assert not Transcript.objects.exists()
    assert escape("“Lecture 1” was deleted.") in text_of(response)


def test_a_video_is_found_by_its_address(page: Client, video: Video) -> None:
    assert page.get("/library/find/", {"id": "lecture-1"})["Location"] == f"/videos/{video.pk}/"

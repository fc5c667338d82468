"""The audio or video file of a recording: its ranges, who gets it, how it is changed."""

import asyncio
from io import BytesIO
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from tests.transcripts.views.pages import text_of
from transcripts.media import files as media
from transcripts.models import Collection, MediaFile, MediaPart, Video

DATA = b"fLaC" + bytes(range(256)) * 10_000  # a little more than two parts


@pytest.fixture
def address(video: Video) -> str:
    media.replace(video, BytesIO(DATA), name="talk.flac")
    return f"/videos/{video.pk}/media"


@pytest.mark.parametrize(
    ("byte_range", "first", "last"),
    [
        ("bytes=0-99", 0, 99),
        ("bytes=1048570-1048590", 1_048_570, 1_048_590),  # across two parts
        ("bytes=0-", 0, media.MAX_READ - 1),  # players ask again
        ("bytes=2500000-9999999", 2_500_000, len(DATA) - 1),
        ("bytes=-5", len(DATA) - 5, len(DATA) - 1),
    ],
)
def test_a_player_gets_the_range_that_it_asks_for(
    page: Client, address: str, byte_range: str, first: int, last: int
) -> None:
    response = page.get(address, headers={"Range": byte_range})
    assert response.status_code == 206
    assert response["Content-Range"] == f"bytes {first}-{last}/{len(DATA)}"
    assert response.content == DATA[first : last + 1]
    assert response["Content-Type"] == "audio/flac"
    assert response["X-Content-Type-Options"] == "nosniff"


def test_a_range_beyond_the_end_is_refused(page: Client, address: str) -> None:
    response = page.get(address, headers={"Range": f"bytes={len(DATA)}-"})
    assert (response.status_code, response["Content-Range"]) == (416, f"bytes */{len(DATA)}")


def test_a_range_of_another_version_is_the_whole_file(page: Client, address: str) -> None:
    etag = page.head(address)["ETag"]
    ranged = page.get(address, headers={"Range": "bytes=0-9", "If-Range": etag})
    assert ranged.status_code == 206
    assert page.get(address, headers={"If-None-Match": etag}).status_code == 304
    whole = page.get(address, headers={"Range": "bytes=0-9", "If-Range": '"other"'})
    assert (whole.status_code, whole["Content-Length"]) == (200, str(len(DATA)))
    whole.close()


@pytest.mark.django_db(transaction=True)
def test_the_whole_file_is_the_one_that_was_added(page: Client, address: str) -> None:
    response: Any = page.get(address)

    async def read() -> bytes:
        return b"".join([piece async for piece in response])

    assert asyncio.run(read()) == DATA
    assert response["Accept-Ranges"] == "bytes"


def test_a_file_is_added_replaced_and_removed_on_the_page_of_its_recording(
    page: Client, video: Video
) -> None:
    for name, head, player in (
        ("a.webm", b"\x1aE\xdf\xa3webmV_VP9", "<video"),
        ("b", b"ID3", "<audio"),
    ):
        page.post(f"/videos/{video.pk}/media/", {"media": SimpleUploadedFile(name, head)})
        assert MediaFile.objects.get().name == name
        assert player in text_of(page.get(f"/videos/{video.pk}/"))
    there = f"/videos/{video.pk}/?q=network&t=20s"
    response = page.post(f"/videos/{video.pk}/media/", {"remove": "1", "next": there})
    assert response["Location"] == there
    assert not MediaPart.objects.exists()
    assert page.get(f"/videos/{video.pk}/media").status_code == 404


def test_what_browsers_do_not_play_or_is_too_large_is_refused(
    page: Client, video: Video, address: str, settings: Any
) -> None:
    settings.MAX_MEDIA_BYTES = 10
    for data, status in ((b"PK\x03\x04", 422), (DATA, 413)):
        sent = {"media": SimpleUploadedFile("talk.mp3", data)}
        assert page.post(f"{address}/", sent).status_code == status
    assert MediaFile.objects.get().size == len(DATA)


def test_viewers_play_it_but_do_not_change_it_and_strangers_see_none(
    viewer: Client, stranger: Client, address: str
) -> None:
    assert viewer.get(address, headers={"Range": "bytes=0-3"}).content == b"fLaC"
    assert viewer.post(f"{address}/", {"remove": "1"}).status_code == 403
    assert stranger.get(address).status_code == 404


def test_it_goes_with_its_recording(video: Video, address: str, collection: Collection) -> None:
    video.delete()
    assert not MediaFile.objects.exists()

"""Pictures that people choose for videos: what is kept of them, and what is refused."""

from collections.abc import Callable
from io import BytesIO

import pytest
from PIL import Image

from tests.makers import make_video
from transcripts.core.errors import InvalidInput
from transcripts.media import thumbnails
from transcripts.models import AuditEntry, Collection, Thumbnail, Video

pytestmark = pytest.mark.django_db


@pytest.fixture
def video(collection: Collection) -> Video:
    return make_video(collection)


def picture(form: str = "PNG", *, size: tuple[int, int] = (1000, 1000), **options: object) -> bytes:
    written = BytesIO()
    Image.new("RGB", size, "teal").save(written, form, **options)
    return written.getvalue()


@pytest.mark.parametrize("form", ["PNG", "JPEG", "WEBP"])
def test_a_picture_is_made_small_and_written_anew(video: Video, form: str) -> None:
    thumbnails.replace(video, BytesIO(picture(form)))
    stored = Thumbnail.objects.get(video=video)
    with Image.open(BytesIO(bytes(stored.data))) as image:
        assert (image.format, image.size) == ("WEBP", (640, 360))
    assert stored.content_type == "image/webp"
    assert AuditEntry.objects.filter(action="change", kind="video").exists()


def test_what_hides_in_a_picture_is_not_kept(video: Video) -> None:
    exif = Image.Exif()
    exif[0x010E] = "<script>alert(1)</script>"
    thumbnails.replace(video, BytesIO(picture("JPEG", exif=exif) + b"<script>alert(2)</script>"))
    assert b"script" not in bytes(Thumbnail.objects.get().data)


@pytest.mark.parametrize(
    "make",
    [
        lambda: b"",
        lambda: b"<svg xmlns='http://www.w3.org/2000/svg'/>",
        lambda: picture()[:200],
        lambda: picture("GIF"),
        lambda: b"x" * (thumbnails.MAX_BYTES + 1),
        lambda: picture(size=(8_000, 6_000)),
    ],
    ids=["empty", "SVG", "cut off", "GIF", "too large", "too many pixels"],
)
def test_another_file_is_refused_and_the_picture_before_stays(
    video: Video, make: Callable[[], bytes]
) -> None:
    thumbnails.replace(video, BytesIO(picture()))
    before = bytes(Thumbnail.objects.get().data)
    with pytest.raises(InvalidInput):
        thumbnails.replace(video, BytesIO(make()))
    assert bytes(Thumbnail.objects.get().data) == before

"""Pictures of videos: YouTube's, or one that people choose, which is made small first."""

import logging
from io import BytesIO
from typing import IO, Final

from django.db import transaction
from PIL import Image, ImageOps

from transcripts import youtube
from transcripts.core import audit
from transcripts.core.audit import Action
from transcripts.core.errors import InvalidInput, YouTubeError
from transcripts.models import Thumbnail, Video

MAX_BYTES: Final = 8_000_000
MAX_PIXELS: Final = 40_000_000
FORMATS: Final = ("JPEG", "PNG", "WEBP")
SIZE: Final = (640, 360)  # pixels
TYPE: Final = "image/webp"

logger = logging.getLogger(__name__)


def fetch(client: "youtube.YouTube", video: Video) -> None:
    """Store YouTube's picture, unless there is one; to get none is no failure."""
    if Thumbnail.objects.filter(video=video).exists():
        return
    try:
        data = client.thumbnail(video.youtube_id)
    except YouTubeError as error:
        logger.info("no thumbnail for %s: %s", video.youtube_id, error.code)
        return
    Thumbnail.objects.get_or_create(
        video=video, defaults={"data": data, "content_type": "image/jpeg"}
    )


def replace(video: Video, file: IO[bytes]) -> None:
    """Make a picture the thumbnail of a video; fetching it again keeps it. Raises ``InvalidInput``.

    It is cut to 16:9 around its middle. Nothing of the file but its pixels is kept.
    """
    data = _small(file.read(MAX_BYTES + 1))
    with transaction.atomic():
        Thumbnail.objects.update_or_create(
            video=video, defaults={"data": data, "content_type": TYPE}
        )
        _changed(video)


def is_own(video: Video) -> bool:
    """Whether a person chose the thumbnail."""
    return Thumbnail.objects.filter(video=video, content_type=TYPE).exists()


def reset(video: Video) -> None:
    """Forget the thumbnail: fetching the video again brings YouTube's, a file has a drawing."""
    with transaction.atomic():
        Thumbnail.objects.filter(video=video).delete()
        _changed(video)


def _small(data: bytes) -> bytes:
    if len(data) > MAX_BYTES:
        raise InvalidInput(
            f"The picture has more than {MAX_BYTES // 1_000_000} MB.", hint="Make it smaller."
        )
    written = BytesIO()
    try:
        with Image.open(BytesIO(data), formats=FORMATS) as image:
            if image.width * image.height > MAX_PIXELS:
                raise InvalidInput("The picture has too many pixels.", hint="Make it smaller.")
            image.draft("RGB", (2 * SIZE[0], 2 * SIZE[1]))
            upright = ImageOps.exif_transpose(image).convert("RGB")
        ImageOps.fit(upright, SIZE).save(written, "WEBP", quality=80)
    except InvalidInput:
        raise
    except Exception as error:
        raise InvalidInput(
            "This file is not a picture that can be read.", hint="Choose a JPEG, PNG or WebP."
        ) from error
    return written.getvalue()


def _changed(video: Video) -> None:
    video.save(update_fields=["updated_at"])  # pages name the picture by it
    audit.record(
        Action.CHANGE, "video", video.key, collection=video.collection, fields=("thumbnail",)
    )

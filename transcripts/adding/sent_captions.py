"""Captions of a YouTube video that a program sends: somebody's browser had them."""

from collections.abc import Sequence
from dataclasses import replace

from django.contrib.auth.models import User
from django.db import transaction

from transcripts import captions
from transcripts.adding import storage
from transcripts.adding.storage import StoredTranscript
from transcripts.core.errors import InvalidInput, UnknownFormat
from transcripts.core.sanitize import clean
from transcripts.models import Collection
from transcripts.text.timecodes import parse_target
from transcripts.youtube import FetchedTranscript, VideoInfo


def store(
    collection: Collection,
    address: str,
    text: str,
    *,
    automatic: bool = False,
    language: str = "",
    title: str = "",
    channel: str = "",
    tags: Sequence[str] = (),
    by: User | None = None,
) -> StoredTranscript:
    """Store a caption file with times. It replaces only an earlier version of itself.

    Raises ``InvalidUrl``, ``InvalidInput`` for an address that is no video's, ``CaptionError`` and
    ``Conflict``.
    """
    target = parse_target(address)
    if target.kind != "video":
        raise InvalidInput("This is not the address of one video.", hint="Open the video itself.")
    data = text.encode(errors="replace")
    storage.check_size(target.id, data)
    parsed = captions.parse(data)
    if parsed.format == "txt":
        raise UnknownFormat(
            "These captions have no times.", hint="Send a caption file, such as json3 or WebVTT."
        )
    fetched = FetchedTranscript(
        info=VideoInfo(id=target.id, title=clean(title, 300), channel=clean(channel, 200)),
        language=language,
        origin="auto" if automatic else "manual",
        cues=parsed.cues,
        raw_name=f"{target.id}.{parsed.format}",
        raw=data,
    )
    with transaction.atomic():
        stored = storage.store_fetched(collection, fetched, tags=tags, by=by, is_trusted=False)
        storage.record(collection, stored)
    return replace(stored, warnings=parsed.warnings)

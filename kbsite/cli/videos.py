"""A video by what somebody calls it, and what else that may mean."""

import contextlib

from citations.documents.storage import document_note
from citations.errors import SourceNotFound
from citations.library.filters import find_source
from transcripts.core.errors import VideoNotFound
from transcripts.core.scope import Scope
from transcripts.library import reading as library
from transcripts.library.reading import VideoFilter
from transcripts.models import Video

MAX_NEAR = 3  # videos that an error names


def find_video(scope: Scope, reference: str, *, collection: str = "") -> Video:
    """Return a video as ``library.find_video`` does. Raises ``VideoNotFound``, which names videos
    that have the words, or says what else has this id.
    """
    try:
        return library.find_video(scope, reference, collection=collection)
    except VideoNotFound as error:
        hint = _other(scope, reference) or _near(scope, reference, collection) or error.hint
        raise VideoNotFound(error.message, hint=hint) from None


def _other(scope: Scope, reference: str) -> str:
    with contextlib.suppress(SourceNotFound):
        source = find_source(scope, reference)
        return (
            f"“{source.title}” is a document: `kb outline {reference}` shows its parts,"
            f" `kb search WORDS --in {reference}` finds passages in it. {document_note(source)}"
        ).rstrip()
    return ""


def _near(scope: Scope, reference: str, collection: str) -> str:
    filter = VideoFilter(words=reference, collection=collection)
    videos = library.list_videos(scope, filter, limit=MAX_NEAR).videos
    names = " · ".join(f"{video.key} ({video.title})" for video in videos)
    return f"Did you mean {names}?" if names else ""

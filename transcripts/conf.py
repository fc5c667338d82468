"""Settings as values, read when they are used."""

from django.conf import settings

from transcripts.core.site_path import own_path
from transcripts.text.bm25 import Parameters
from transcripts.text.reading import ReadingLimits
from transcripts.youtube import Options


def limits() -> ReadingLimits:
    return ReadingLimits(
        chunk_size_seconds=settings.CHUNK_SIZE_SECONDS,
        preview_length=settings.PREVIEW_LENGTH,
        max_full_transcript_length=settings.MAX_FULL_TRANSCRIPT_LENGTH,
        search_segment_seconds=settings.SEARCH_SEGMENT_SECONDS,
    )


def bm25() -> Parameters:
    return Parameters(k1=settings.BM25_K1, b=settings.BM25_B)


def finds_word_forms() -> bool:
    """Return whether a search within one transcript finds other forms of a word."""
    return bool(settings.TRANSCRIPT_WORD_FORMS)


def youtube_options(*, allow_translated: bool = False) -> Options:
    return Options(
        languages=tuple(settings.TRANSCRIPT_LANGUAGES),
        proxy_url=settings.PROXY_URL,
        timeout=settings.YOUTUBE_TIMEOUT_SECONDS,
        max_bytes=settings.YOUTUBE_MAX_BYTES,
        allow_translated=allow_translated,
    )


def pacing_seconds() -> float:
    """Return the usual pause between two requests to YouTube."""
    return float(settings.YOUTUBE_PACING_SECONDS)


def max_upload_bytes() -> int:
    """Return the size limit of a caption file."""
    return int(settings.MAX_UPLOAD_BYTES)


def max_media_bytes() -> int:
    """Return the size limit of an audio or video file."""
    return int(settings.MAX_MEDIA_BYTES)


def audit_days() -> int:
    """Return how long the audit trail is kept; 0: for good."""
    return int(settings.AUDIT_DAYS)


def public_url() -> str:
    """Return the public address of this server, without a trailing slash."""
    return str(settings.PUBLIC_URL).rstrip("/")


def absolute(path: str) -> str:
    """Return the full address of a path of this site; other addresses stay as they are."""
    return f"{public_url()}{own_path(path)}" if path.startswith("/") else path

"""Settings as values, read when they are used, so that a test or a deployment can change them without a restart of the import."""

from django.conf import settings

from transcripts.reading import ReadingLimits
from transcripts.youtube import Options


def limits() -> ReadingLimits:
    """Return the plugin's reading limits."""
    return ReadingLimits(
        chunk_size_seconds=settings.CHUNK_SIZE_SECONDS,
        preview_length=settings.PREVIEW_LENGTH,
        max_full_transcript_length=settings.MAX_FULL_TRANSCRIPT_LENGTH,
        search_segment_seconds=settings.SEARCH_SEGMENT_SECONDS,
    )


def youtube_options() -> Options:
    """Return how YouTube is asked: languages by preference, proxy, timeout in seconds, size cap in bytes."""
    return Options(
        languages=tuple(settings.TRANSCRIPT_LANGUAGES),
        proxy_url=settings.PROXY_URL,
        timeout=settings.YOUTUBE_TIMEOUT_SECONDS,
        max_bytes=settings.YOUTUBE_MAX_BYTES,
    )


def pacing_seconds() -> float:
    """Return the usual pause between two videos asked of YouTube."""
    return float(settings.YOUTUBE_PACING_SECONDS)


def max_upload_bytes() -> int:
    """Return the largest caption file that is taken, in bytes."""
    return int(settings.MAX_UPLOAD_BYTES)


def public_url() -> str:
    """Return the address people reach this server at, without a trailing slash."""
    return str(settings.PUBLIC_URL).rstrip("/")


def absolute(path: str) -> str:
    """Return the full address of a path on this server; leave other addresses as they are."""
    return f"{public_url()}{path}" if path.startswith("/") else path

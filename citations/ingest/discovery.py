"""Which sources there should be: each video has one in every language, made from its best transcript of that language. Staleness is a query, not a signal."""

from datetime import datetime
from typing import Any, NamedTuple

from django.db import connection, transaction

from citations.models import Source, SourceKind, State
from transcripts.models import CaptionOrigin, Video
from transcripts.work.models import RESTARTED

AT_ONCE = 500


class _Stale(NamedTuple):
    """A transcript whose source is missing, or not what it should be."""

    transcript: int
    video: int
    language: str
    fingerprint: str
    changed_at: datetime
    collection: int
    source: int | None
    text_changed: bool


def adopt(*, limit: int = AT_ONCE) -> list[Source]:
    """Make the sources that are missing, and bring up to date those whose video or transcript has changed; return them. One query when nothing has."""
    stale = _stale(limit)
    if not stale:
        return []
    videos = Video.objects.defer("description", "languages").in_bulk({one.video for one in stale})
    found = [(one, videos[one.video]) for one in stale if one.video in videos]
    made = [
        Source(**_about(one, video), state=State.PENDING)
        for one, video in found
        if one.source is None
    ]
    Source.objects.bulk_create(
        made, batch_size=500, ignore_conflicts=True
    )  # another process may have been faster
    renewed = {one.source: _renewed(one, video) for one, video in found if one.source is not None}
    with transaction.atomic():
        for pk, values in sorted(renewed.items()):
            Source.objects.filter(pk=pk).update(**values)
    keys = [one.transcript for one, _ in found]
    return list(Source.objects.filter(transcript__in=keys).order_by("pk"))


def _about(one: _Stale, video: Video) -> dict[str, Any]:
    return {
        "kind": SourceKind.VIDEO,
        "video_id": one.video,
        "transcript_id": one.transcript,
        "language": one.language,
        "fingerprint": one.fingerprint,
        "refreshed_at": one.changed_at,
        "collection_id": one.collection,
        "title": video.title or video.key[:300],
        "author": video.channel,
        "url": video.url,
        "tags": video.tags,
        "published_at": video.published_at,
    }


def _renewed(one: _Stale, video: Video) -> dict[str, Any]:
    pending = {"state": State.PENDING, **RESTARTED}
    return _about(one, video) | (pending if one.text_changed else {})


def _stale(limit: int) -> list[_Stale]:
    with connection.cursor() as cursor:
        cursor.execute(_QUERY, {"origins": [*CaptionOrigin.values], "limit": limit})
        return [_Stale(*row) for row in cursor.fetchall()]


# The fingerprint stands for all that the chunks are made from: the text, its times (with which the transcript's time of change moves) and the chapters.
_QUERY = """
WITH best AS (
    SELECT DISTINCT ON (video_id, language) id, video_id, language, digest, updated_at FROM transcripts_transcript
    ORDER BY video_id, language, array_position(%(origins)s::text[], origin::text), id
), known AS (
    SELECT best.*, md5(best.id || best.digest || extract(epoch FROM best.updated_at) || video.chapters::text) AS fingerprint,
        video.updated_at AS changed_at, video.collection_id
    FROM best JOIN transcripts_video video ON video.id = best.video_id
)
SELECT known.id, known.video_id, known.language, known.fingerprint, known.changed_at, known.collection_id, source.id,
    source.fingerprint IS DISTINCT FROM known.fingerprint
FROM known LEFT JOIN citations_source source ON source.video_id = known.video_id AND source.language = known.language
WHERE source.id IS NULL OR source.fingerprint <> known.fingerprint OR source.refreshed_at IS DISTINCT FROM known.changed_at
    OR source.collection_id <> known.collection_id
ORDER BY known.video_id, known.language LIMIT %(limit)s
"""

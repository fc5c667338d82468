"""Find transcripts whose source is missing or stale. Staleness is a query, not a signal.

A video has one source per language, made from its best transcript in that language.
"""

from datetime import datetime
from typing import Any, NamedTuple

from django.db import IntegrityError, connection, transaction
from django.db.models import Q

from citations.documents import storage as document_storage
from citations.formats import VIDEO
from citations.library import sources
from citations.models import Source, SourceQuerySet, State
from citations.providers import languages
from transcripts import captions
from transcripts.adding import transcript_rows
from transcripts.core.work.models import RESTARTED
from transcripts.models import CaptionOrigin, Transcript, Video

AT_ONCE = 500
_COPIED = ("key", "youtube_id", "title", "channel", "tags", "published_at")


class _Stale(NamedTuple):
    """A transcript whose source is missing or out of date."""

    transcript: int
    video: int
    language: str
    fingerprint: str
    changed_at: datetime
    collection: int
    size: int
    added_by: int | None
    source: int | None
    text_changed: bool


def adopt() -> list[Source]:
    """Create missing sources and update stale ones; return them."""
    keys = update_sources()
    return list(Source.objects.filter(transcript__in=keys).order_by("pk")) if keys else []


def update_sources() -> list[int]:
    """Create missing sources and update stale ones; return the primary keys of their transcripts.
    One query if there are none.
    """
    stale = _stale()
    named = [row for row in stale if not row.language and _name_language(row.transcript)]
    if named:
        stale = _stale()
    if not stale:
        return []
    videos = Video.objects.only(*_COPIED).in_bulk({row.video for row in stale})
    pairs = [(row, videos[row.video]) for row in stale if row.video in videos]
    missing = [
        Source(**_columns(row, video), state=State.PENDING)
        for row, video in pairs
        if row.source is None
    ]
    updates = {row.source: (row, video) for row, video in pairs if row.source is not None}
    try:
        with transaction.atomic():
            # Another process may create the same source.
            Source.objects.bulk_create(missing, batch_size=500, ignore_conflicts=True)
            for pk, (row, video) in sorted(updates.items()):
                pending = {"state": State.PENDING, **RESTARTED} if row.text_changed else {}
                Source.objects.filter(pk=pk).update(**_columns(row, video), **pending)
    except IntegrityError:  # a video was deleted meanwhile: the next call finds the rest
        return []
    return [row.transcript for row, _ in pairs]


def _stale() -> list[_Stale]:
    with connection.cursor() as cursor:
        cursor.execute(_QUERY, {"origins": [*CaptionOrigin.values], "limit": AT_ONCE})
        return [_Stale(*row) for row in cursor.fetchall()]


def _columns(row: _Stale, video: Video) -> dict[str, Any]:
    return {
        "kind": VIDEO,
        "video_id": row.video,
        "transcript_id": row.transcript,
        "language": row.language,
        "fingerprint": row.fingerprint,
        "refreshed_at": row.changed_at,
        "collection_id": row.collection,
        "size": row.size,
        "added_by_id": row.added_by,
        "title": str(video)[:300],
        "author": video.channel,
        "url": video.url,
        "tags": video.tags,
        "published_at": video.published_at,
    }


# The fingerprint covers what chunks are made of: text, times (they change updated_at) and chapters.
# Full stops that the ingest adds leave it as it is.
_QUERY = """
WITH best AS (
    SELECT DISTINCT ON (video_id, language) id, video_id, language, updated_at, characters,
        coalesce(nullif(original_digest, ''), digest) AS text_digest
    FROM transcripts_transcript
    ORDER BY video_id, language, array_position(%(origins)s::text[], origin::text), id
), known AS (
    SELECT best.*, video.updated_at AS changed_at, video.collection_id, video.added_by_id,
        md5(best.id || best.text_digest || extract(epoch FROM best.updated_at)
            || video.chapters::text) AS fingerprint
    FROM best JOIN transcripts_video video ON video.id = best.video_id
)
SELECT known.id, known.video_id, known.language, known.fingerprint, known.changed_at,
    known.collection_id, known.characters, known.added_by_id, source.id,
    source.fingerprint IS DISTINCT FROM known.fingerprint
FROM known LEFT JOIN citations_source source
    ON source.video_id = known.video_id AND source.language = known.language
WHERE source.id IS NULL OR source.fingerprint <> known.fingerprint
    OR source.refreshed_at IS DISTINCT FROM known.changed_at
    OR source.collection_id <> known.collection_id
ORDER BY known.video_id, known.language LIMIT %(limit)s
"""


def _name_language(transcript_id: int) -> bool:
    """Give a transcript without a language the one that its words are surely in; return whether.

    Its recording keeps it as if a person had said so: the same file, added again, names none
    either. Who said that it is unknown is believed.
    """
    unnamed = Transcript.objects.filter(origin=CaptionOrigin.UPLOAD, language="")
    transcript = unnamed.filter(pk=transcript_id).select_related("video").first()
    if transcript is None or "language" in transcript.video.edited:
        return False
    if transcript.video.transcripts.exclude(pk=transcript.pk).exists():
        return False  # other captions may have it
    code = languages.guess(" ".join(cue.text for cue in captions.from_json(transcript.cues)))
    if not code:
        return False
    video = transcript.video
    with transaction.atomic():
        transcript_rows.correct_language(transcript, code)
        Source.objects.filter(transcript=transcript).update(language=code)
        Video.objects.filter(pk=video.pk).update(edited=sorted({*video.edited, "language"}))
    return True


def stale() -> SourceQuerySet:
    """Return the sources that were split with other sizes, or read by another version."""
    everything = Source.objects.all()
    split = sources.split_otherwise(everything).values("pk")
    read = document_storage.read_otherwise(everything).values("pk")
    return everything.filter(Q(pk__in=split) | Q(pk__in=read))


def renew() -> int:
    """Queue what is stale; return how many sources. Each is found as it was till it is replaced."""
    return stale().start_anew()

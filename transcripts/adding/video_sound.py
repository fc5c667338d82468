"""Videos without captions: their sound is fetched from YouTube, and their jobs listen to it."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, TYPE_CHECKING

from django.conf import settings
from django.db import transaction
from django.utils.module_loading import import_string

from transcripts import conf
from transcripts.adding import listening, storage
from transcripts.core.errors import Conflict, NoCaptions
from transcripts.media import files as media
from transcripts.media import thumbnails
from transcripts.models import Job, Listening, Video, YouTubeGate

if TYPE_CHECKING:
    from transcripts.youtube import YouTube


def consider(job: Job, error: NoCaptions) -> None:
    """Queue the job of a video without captions again, to fetch its sound, if somebody asked for it
    or its collection always listens. Else raise ``error``, with an offer where one may ask for it.
    """
    offer = _offer(job, error.length)
    if not offer:
        raise error
    if not (job.listens or job.collection.listens is Listening.ALWAYS):
        error.hint = offer
        raise error
    job.postpone(counts=False, listens=Job.Listens.NOW)


def can_be_heard(job: Job) -> bool:
    """Return whether a video of a job that failed has no captions and may be listened to."""
    return job.error_code == NoCaptions.code and bool(_offer(job, 0))


def fetch(job: Job, client: "YouTube") -> None:
    """Fetch the sound of the video of a job that is held, which then waits to listen to it.

    Raises ``YouTubeError``, ``MediaTooLarge`` and ``Conflict``.
    """
    job.report(step="fetching the sound", done=0, total=2)
    with TemporaryDirectory(prefix="cuebase-sound-") as folder:
        sound = client.fetch_sound(job.target, Path(folder), most=conf.max_media_bytes())
        YouTubeGate.succeeded(pace=conf.pacing_seconds())
        video = storage.store_about(job.collection, sound.info, tags=job.tags, by=job.created_by)
        thumbnails.fetch(client, video)
        with sound.path.open("rb") as file:
            begin(job, video, file, name=f"{job.target}{sound.path.suffix}")


def begin(job: Job, video: Video, file: IO[bytes], *, name: str) -> None:
    """Make the job one that listens to the file, behind all others. The file is kept beside a
    recording that YouTube does not play.

    Raises ``Conflict`` and as ``media.replace``.
    """
    with transaction.atomic():
        Video.objects.select_for_update().get(pk=video.pk)
        if listening.unfinished_of(video):
            raise Conflict(f"“{video}” is being listened to already.", hint="Wait for its end.")
        if video.youtube_id:
            media.keep_for(job, file, name=name)
        else:
            media.replace(video, file, name=name)
        job.postpone(
            counts=False,
            kind=Job.Kind.LISTEN,
            language=job.language.partition(".")[0],
            priority=listening.PRIORITY,
            video=video,
            done=0,
            total=video.duration,
        )


def _offer(job: Job, length: int) -> str:
    """Say how long it takes to listen to so many ms; "" if nobody can or may."""
    if not settings.SPEECH_OFFER or job.collection.listens is Listening.NEVER:
        return ""
    return str(import_string(settings.SPEECH_OFFER)(length))

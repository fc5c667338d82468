"""Recordings without captions: jobs that listen to them, part by part.

Each part is stored when it is heard, so that a killed worker loses one part and repeats none. The
transcript is written from the parts: after the first, whenever there is a quarter more, and at the
end. Who recognises the speech is ``SPEECH_RUNNER``'s to know.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO, Any, Final

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Max, Sum

from transcripts import captions
from transcripts.adding import files, storage, transcript_rows
from transcripts.captions.caption_errors import EmptyCaptions
from transcripts.core import audit, clock
from transcripts.core.audit import Action
from transcripts.core.errors import Conflict, Forbidden, MediaWithoutCaptions
from transcripts.core.sanitize import clean
from transcripts.core.work.models import PROGRESS
from transcripts.media import files as media
from transcripts.models import (
    CaptionOrigin,
    Collection,
    HeardPart,
    Job,
    Listening,
    MediaFile,
    Transcript,
    Video,
    enqueue,
)
from transcripts.text.cues import Cue

PRIORITY: Final = -10  # it takes minutes: whatever is short goes before
GROWTH: Final = 1.25  # of a transcript until it is written again
STEP: Final = "listening"


class ListeningForbidden(Forbidden):
    """The settings say that nothing is listened to in this collection."""

    code = "listening_forbidden"
    default_message = "Nothing is listened to in this collection."
    default_hint = "Its owners can change that in its settings, or the operator by LISTEN."


class ListeningStopped(Conflict):
    """Somebody stopped listening to a recording; what was heard until then is kept."""

    code = "listening_stopped"
    default_message = "Listening was stopped; what was heard is kept."
    default_hint = "Try again to go on from there."


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """What was heard of a recording of ``total`` ms until ``end``, in how many ``seconds``."""

    end: int
    total: int
    is_last: bool
    language: str
    cues: Sequence[Cue]
    made_by: str
    seconds: float


def request(
    collection: Collection,
    file: IO[bytes],
    *,
    name: str,
    language: str = "",
    tags: Sequence[str] = (),
    by: User | None = None,
) -> Job:
    """Queue an audio or video file to be listened to. Raises as ``media.keep_for`` does, and
    ``ListeningForbidden``.
    """
    with transaction.atomic():
        job = _new(collection, clean(name, 200), language, by, tags=storage.clean_tags(tags))
        media.keep_for(job, file, name=name)
        audit.record(Action.ADD, "files", f"job {job.pk}", collection=collection)
    return job


def offer(collection: Collection, file: IO[bytes], *, name: str, hint: str, **about: Any) -> Job:
    """Keep a file that has no captions with a job that has ended; trying it again listens to it.

    ``about`` as of ``request``, which raises the same.
    """
    with transaction.atomic():
        job = request(collection, file, name=name, **about)
        job.fail(MediaWithoutCaptions(f"“{clean(name, 300)}” has no captions.", hint=hint))
    return job


def request_again(video: Video, *, language: str = "", by: User | None = None) -> Job:
    """Queue a recording to be listened to, whose file plays beside it or whose sound is elsewhere;
    return an unfinished job that does. Its captions stay beside those that are made.

    Raises ``MediaNotFound``, ``ListeningForbidden``, and ``Conflict`` while its captions are
    fetched.
    """
    with transaction.atomic():
        Video.objects.select_for_update().get(pk=video.pk)
        if unfinished := unfinished_of(video):
            return unfinished
        is_elsewhere = bool(video.youtube_id or video.sound)
        if not is_elsewhere or MediaFile.objects.filter(video=video).exists():
            media.find(video)
            return _new(video.collection, str(video), language, by, video=video)
        require_permission(video.collection)
        job = Job(
            collection=video.collection,
            kind=Job.Kind.VIDEO if video.youtube_id else Job.Kind.PAGE,
            target=video.youtube_id or video.sound,
            video=video,
            language=clean(language, 35),
            listens=Job.Listens.NOW,
            created_by=by,
        )
        queued, is_new = enqueue(job)
        if not is_new and queued.listens != Job.Listens.NOW:
            raise Conflict("Its captions are being fetched.", hint="Try again in a minute.")
        return queued


def require_permission(collection: Collection) -> None:
    """Raise ``ListeningForbidden`` where nothing is listened to."""
    if collection.listens is Listening.NEVER:
        raise ListeningForbidden


def stop(job: Job) -> None:
    """Stop listening after the part that is being heard, and write the transcript of what was.

    A job that has ended stays as it is. Raises ``Conflict`` for one that does other work.
    """
    with transaction.atomic():
        unfinished = Job.objects.unfinished().select_for_update()
        locked = unfinished.filter(pk=job.pk).first()
        if locked is None:
            return
        if locked.kind != Job.Kind.LISTEN:
            raise Conflict(f"Job {job.pk} listens to nothing.", hint="Other jobs are short.")
        if not _keeps_others(locked):
            _write(locked)
        locked.fail(ListeningStopped())


def media_of(job: Job) -> MediaFile:
    """Return the file that a job listens to. Raises ``Conflict`` if it was deleted."""
    own = MediaFile.objects.filter(job=job).first()
    if own is None and job.video_id and Video.objects.filter(pk=job.video_id, deletion=None):
        own = MediaFile.objects.filter(video=job.video_id).first()
    if own is None:
        raise Conflict("The recording or its file was deleted.", hint="Add it again.")
    return own


def recording_of(job: Job) -> Video:
    """Return the recording that a job is about. Raises ``Conflict`` if it was deleted."""
    present = Video.objects.filter(pk=job.video_id or 0, deletion=None)
    if (video := present.first()) is None:
        raise Conflict("The recording was deleted.", hint="Add it again.")
    return video


def heard_until(job: Job) -> int:
    """Return the time (ms) at which the next part begins."""
    return int(job.heard_parts.aggregate(until=Max("end"))["until"] or 0)


def seconds_left(job: Job) -> float | None:
    """Estimate how long it takes to hear the rest, from the parts that were heard; None without."""
    sums = job.heard_parts.aggregate(spent=Sum("seconds"), heard=Max("end"))
    left = max(0, job.total - job.done)
    return sums["spent"] * left / sums["heard"] if sums["heard"] and job.total else None


def store(job: Job, heard: Heard) -> bool:
    """Store the next part, and the transcript if it is due; return whether more is to be heard: not
    of a job that was stopped meanwhile.

    Raises ``EmptyCaptions`` if the whole has no word, and ``Conflict`` if it was deleted.
    """
    with transaction.atomic():
        running = Job.objects.select_for_update().filter(pk=job.pk, state=Job.State.RUNNING)
        if not running.exists():
            return False
        media_of(job)
        HeardPart.objects.create(
            job=job,
            start=heard_until(job),
            end=heard.end,
            language=heard.language,
            made_by=heard.made_by[:120],
            seconds=heard.seconds,
            cues=captions.to_json(heard.cues),
            word_times=captions.word_times_to_json(heard.cues),
        )
        total = heard.end if heard.is_last else max(heard.total, heard.end)
        job.change(step=STEP, done=heard.end, total=total, **PROGRESS)
        if heard.is_last or (_is_due(job.heard_parts.count()) and not _keeps_others(job)):
            _write(job, is_whole=heard.is_last)
        if heard.is_last:
            MediaFile.objects.filter(job=job).delete()  # of a video that plays on YouTube
            job.heard_parts.all().delete()
            job.finish(video=job.video)
    return not heard.is_last


def unfinished_of(video: Video) -> Job | None:
    """Return the job that listens to a recording, or is about to."""
    return Job.objects.unfinished().filter(kind=Job.Kind.LISTEN, video=video).first()


def _new(collection: Collection, target: str, language: str, by: User | None, **about: Any) -> Job:
    require_permission(collection)
    return Job.objects.create(
        collection=collection,
        kind=Job.Kind.LISTEN,
        target=target,
        language=clean(language, 35),
        priority=PRIORITY,
        created_by=by,
        **about,
    )


def _is_due(count: int) -> bool:
    """Return whether the transcript of so many parts is ``GROWTH`` times that of the last."""
    return count == 1 or int(math.log(count, GROWTH)) > int(math.log(count - 1, GROWTH))


def _keeps_others(job: Job) -> bool:
    """Return whether the recording has captions that stay until the new ones are whole."""
    stored = Transcript.objects.filter(video=job.video_id)
    return stored.exclude(origin=CaptionOrigin.HEARD, made_at__gte=job.created_at).exists()


def _write(job: Job, *, is_whole: bool = False) -> None:
    """Write the transcript of all that was heard, with the recording if it is new."""
    parts = list(job.heard_parts.order_by("start"))
    cues = [
        cue
        for part in parts
        for cue in captions.from_json(part.cues, word_times=part.word_times or None)
    ]
    if not cues:
        if is_whole:
            raise EmptyCaptions("No speech was heard in this recording.", hint="Play the file.")
        return
    spoken = (part.language for part in parts if part.cues)
    kind = {"language": job.language or next(spoken, ""), "origin": CaptionOrigin.HEARD}
    video = _video(job)
    old = Transcript.objects.light().filter(video=video, **kind).first()
    transcript, _change = transcript_rows.write(video, cues, **kind, old=old)
    made = {"made_by": parts[-1].made_by, "made_at": clock.now()}
    Transcript.objects.filter(pk=transcript.pk).update(**made)
    video.partial = not is_whole and not _keeps_others(job)
    video.duration = max(video.duration, job.done)
    video.save(update_fields=["partial", "duration", "updated_at"])


def _video(job: Job) -> Video:
    """Return the recording, locked; a new one has the job's file and a name of its own."""
    if job.video_id:
        return Video.objects.select_for_update().get(pk=job.video_id)
    own = media_of(job)
    base = media.key_of(own.name)
    taken = set(Video.objects.filter(collection=job.collection_id).values_list("key", flat=True))
    names = (base, *(f"{base[:190]} ({number})" for number in range(2, len(taken) + 3)))
    key = next(name for name in names if name not in taken)
    video = Video.objects.create(
        collection=job.collection,
        key=key,
        title=files.readable(key),
        tags=job.tags,
        added_by=job.created_by,
    )
    media.give(own, video)
    job.change(video=video)
    return video

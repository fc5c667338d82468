"""Listens to the recording of a job, part by part."""

import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from django.conf import settings

from citations.listening import recognition
from citations.readers.speech import decoder
from transcripts.adding import listening
from transcripts.adding.listening import Heard
from transcripts.core.work.disk import make_private_folder
from transcripts.media import files as media
from transcripts.models import Job, MediaFile

STEP: Final = "loading the recording"


def listen(job: Job, goes_on: Callable[[], bool]) -> None:
    """Listen to the recording of a job that is held until it is heard or stopped, or until
    ``goes_on``, which is called between two parts, says otherwise: then the job waits again.

    Raises ``SpeechMissing``, ``SpeechFailed``, ``ModelError``, and as ``listening.store`` does.
    """
    recognizer = recognition.recognizer()
    job.report(step=STEP, done=listening.heard_until(job))
    path = _local_copy(listening.media_of(job))
    while _hear_part(job, path, recognizer):
        if not goes_on():
            job.postpone(counts=False)
            return
    _prune()


def _hear_part(job: Job, path: Path, recognizer: recognition.Recognizer) -> bool:
    began = time.monotonic()
    part = decoder.part_at(path, listening.heard_until(job))
    language, segments = recognizer.hear(part.samples, job.language) if part.samples else ("", [])
    heard = Heard(
        end=part.end,
        total=part.total,
        is_last=part.is_last,
        language=language,
        cues=tuple(recognition.cues_of(segments, start=part.start)),
        made_by=recognizer.name,
        seconds=time.monotonic() - began,
    )
    return listening.store(job, heard)


def _local_copy(file: MediaFile) -> Path:
    """Return a copy of a file, which is kept while a job listens to it."""
    path = _folder() / str(file.pk)
    if not path.exists() or path.stat().st_size != file.size:
        _prune()
        make_private_folder(path.parent)
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".new-", delete=False) as copy:
            try:
                copy.writelines(media.pieces(file))
                copy.flush()
                Path(copy.name).replace(path)
            except BaseException:
                Path(copy.name).unlink(missing_ok=True)
                raise
    return path


def _prune() -> None:
    """Delete the copies that no job needs."""
    unfinished = Job.objects.unfinished().filter(kind=Job.Kind.LISTEN)
    needed = MediaFile.objects.filter(job__in=unfinished) | MediaFile.objects.filter(
        video__jobs__in=unfinished
    )
    names = {str(key) for key in needed.values_list("pk", flat=True)}
    with suppress(FileNotFoundError):
        for path in _folder().iterdir():
            if path.name not in names:
                path.unlink(missing_ok=True)


def _folder() -> Path:
    return Path(settings.DATA_DIR) / "cache" / "recordings"

"""Jobs that import uploaded files."""

import logging
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from django.db import InterfaceError, OperationalError, transaction

from transcripts.adding import files, storage
from transcripts.adding.transcript_rows import StorageChange
from transcripts.captions.caption_errors import CaptionError
from transcripts.core.errors import InvalidInput, KnowledgeBaseError, UnexpectedError
from transcripts.media import files as media
from transcripts.models import Job, JobFile, Video, jobs

logger = logging.getLogger(__name__)


def tell_of_others(
    job: Job,
    refused: Sequence[tuple[str, KnowledgeBaseError]],
    read: Sequence[dict[str, Any]],
    *,
    selected: int,
) -> None:
    """Count the files that were settled before a job began, and keep what became of them."""
    if not (refused or read):
        return
    problems = [jobs.problem(name, error) for name, error in refused]
    # A file that was refused is no remark, as it is about a sound file whose captions failed.
    job.problems = [
        {**problem, "code": InvalidInput.code} if problem["code"] in jobs.WARNINGS else problem
        for problem in problems
    ][: jobs.MAX_PROBLEMS]
    job.read = list(read)[: jobs.MAX_READ]
    job.done = len(refused) + len(read)
    job.total = selected + job.done


def run(job: Job) -> None:
    """Import the files of a job that is held. Raises ``InvalidInput`` if none could be read."""
    selection = files.select(job.files.values_list("name", flat=True))
    if job.total == 0:
        job.report(step="importing", done=0, total=len(selection))
    written: set[int] = set()
    video = None
    for selected in selection:
        video = _import(job, selected, written)
        job.report(step=selected.name[:60], done=min(job.done + 1, job.total))
    job.files.all().delete()
    media.drop(job)
    if job.failure_count and job.failure_count >= job.total:
        first, *others = job.problems
        if others:
            raise InvalidInput(
                f"None of the {len(job.problems)} files could be read.",
                hint="The problems are listed with the job.",
            )
        raise InvalidInput(f"{first['name']}: {first['message']}", hint=first["hint"])
    job.finish(video=video if job.total == 1 else None)


def _import(job: Job, selected: files.SelectedFile, written: set[int]) -> Video | None:
    """Store a file and take it off the job in one transaction, so a killed worker repeats none.

    ``written`` collects keys of transcripts; of several files of one recording the first counts.
    """
    upload = job.files.filter(name=selected.name).first()
    if upload is None:
        return None
    with transaction.atomic():
        if stored := _store_or_note(job, upload, selected, written):
            others = stored.video.transcripts.exclude(pk=stored.transcript.pk)
            job.add_read(
                selected.name,
                video=stored.video,
                change=stored.change,
                is_joined=stored.change is StorageChange.ADDED and others.exists(),
                media=media.hand_over(job, selected.name, stored.video),
                same_as=stored.same_as,
            )
        # The alternatives go, too, or the next worker would store a lesser format.
        job.files.filter(name__in=(selected.name, *selected.instead)).delete()
    return stored.video if stored else None


def _store_or_note(
    job: Job, upload: JobFile, selected: files.SelectedFile, written: set[int]
) -> storage.StoredTranscript | None:
    """Store a file, or note the problem with the job. Only an unreachable database raises."""
    try:
        stored = _store_best_format(job, upload, selected, written)
    except KnowledgeBaseError as error:
        job.add_problems({upload.name: error})
    except (OperationalError, InterfaceError):
        raise
    except Exception:
        logger.exception("a file of job %s failed unexpectedly", job.pk)
        job.add_problems({upload.name: UnexpectedError()})
    else:
        written.add(stored.transcript.pk)
        for warning in stored.warnings:
            job.add_problems({upload.name: warning})
        return stored
    return None


def _store_best_format(
    job: Job, upload: JobFile, selected: files.SelectedFile, written: set[int]
) -> storage.StoredTranscript:
    """Store a file or, if it is unreadable, the same recording in another format.

    Raises the error of the first file.
    """
    info = job.files.filter(name=selected.info_name).first() if selected.info_name else None

    def store(file: JobFile) -> storage.StoredTranscript:
        return storage.add_captions(
            job.collection,
            bytes(file.data),
            name=file.name,
            info=bytes(info.data) if info else None,
            language=job.language,
            tags=job.tags,
            settled=written,
            is_recorded=True,
            by=job.created_by,
        )

    try:
        return store(upload)
    except CaptionError:
        for name in selected.instead:
            with suppress(CaptionError):
                return store(job.files.get(name=name))
        raise

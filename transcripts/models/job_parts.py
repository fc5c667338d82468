"""What a job keeps of its parts: files that were read, problems of others, warnings."""

from collections.abc import Iterable
from typing import Any, Final

from django.db.models import BooleanField, Func, Q

from transcripts.captions.caption_errors import CODES
from transcripts.core.errors import KnowledgeBaseError
from transcripts.models.media_errors import MediaWithoutCaptions
from transcripts.models.videos import Video

MAX_PROBLEMS = 1_000  # of one job
MAX_READ = 200  # files whose way a job keeps
# Codes of problems of parts that succeeded.
WARNINGS = (*CODES, MediaWithoutCaptions.code)
_OTHERS: Final = " && ".join(f'@.code != "{code}"' for code in WARNINGS)
# A job that is done, but for parts that failed; as ``Job.is_partial`` says it.
IS_PARTIAL: Final = Q(state="done") & Q(
    Func(
        "problems",
        # The length of an array is known at once; most jobs have no problem.
        template="(jsonb_array_length(%(expressions)s) > 0"
        f" AND jsonb_path_exists(%(expressions)s, '$[*] ? ({_OTHERS})'))",
        output_field=BooleanField(),
    )
)


def problem(name: str, error: KnowledgeBaseError) -> dict[str, str]:
    """Return what a job keeps of a part that failed, or of a warning."""
    return {"name": name[:200], "code": error.code, "message": error.message, "hint": error.hint}


def read_row(
    name: str, *, change: str, video: Video | None = None, document: str = "", media: str = ""
) -> dict[str, Any]:
    """Return what a job keeps of a file that was read: its item, or the id of its document."""
    item = {"video": video.pk} if video else {"document": document}
    return {"name": name[:200], "change": change, "media": media[:200], **item}


def failures(codes: Iterable[str]) -> int:
    """Count the problems of a job that are no warnings."""
    return sum(code not in WARNINGS for code in codes)

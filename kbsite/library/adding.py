"""What is to be added and how, and what was added: the same here and on a server."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from citations.schemas.search import DocumentOut
from kbsite.library import add_files
from transcripts import conf
from transcripts.core.errors import InvalidInput, InvalidUrl, KnowledgeBaseError, NotYouTube
from transcripts.schemas import JobOut, JobProblem, Shape, VideoOut
from transcripts.text.timecodes import parse_target, parse_web_page

STDIN = "-"
NAME_SHOWN = 100  # characters


@dataclass(frozen=True, slots=True)
class AddOptions:
    """How to add; ``collection`` is a slug or name, empty: the default one."""

    collection: str = ""
    tags: tuple[str, ...] = ()
    language: str = ""
    translated: bool = False
    newest: int | None = None
    every_hours: int | None = None
    title: str = ""
    ocr: bool = False
    listen: bool = False
    wait: bool = False


@dataclass(frozen=True, slots=True)
class AddTargets:
    """The targets: files and folders that exist, addresses, and whether text is pasted."""

    paths: tuple[Path, ...]
    addresses: tuple[str, ...]
    is_pasted: bool

    @classmethod
    def of(cls, names: Sequence[str], options: AddOptions) -> "AddTargets":
        """Sort what the command line names. Raises ``InvalidInput`` for a title without use."""
        named = [name for name in names if name != STDIN]
        targets = cls(
            paths=tuple(Path(name) for name in named if _exists(name)),
            addresses=tuple(dict.fromkeys(name for name in named if not _exists(name))),
            is_pasted=STDIN in names,
        )
        if targets.is_pasted and not options.title:
            raise InvalidInput("Pasted text needs a title.", hint="Add one: kb add - --title “…”")
        is_file = bool(targets.paths) and not targets.paths[0].is_dir()
        if options.title and (len(names) > 1 or not (targets.is_pasted or is_file)):
            raise InvalidInput(
                "--title is for a single file or for pasted text.",
                hint="Leave it out; titles come from YouTube, the files or their names.",
            )
        return targets


def pasted_text() -> str:
    """Read the standard input, at most one byte beyond the limit of a caption file."""
    return sys.stdin.buffer.read(conf.max_upload_bytes() + 1).decode(errors="replace")


def require_address(address: str) -> None:
    """Raise ``InvalidUrl`` for no address that can be added, ``InvalidInput`` for a lost file."""
    try:
        parse_target(address)
    except InvalidUrl as error:
        if isinstance(error, NotYouTube) and "://" in address:
            parse_web_page(address)
            return
        is_path = "/" in address and "youtu" not in address.casefold()
        if is_path or add_files.is_file_name(address):
            raise InvalidInput(
                f"There is no file “{shortened(address)}”, and it is no address of YouTube.",
                hint="Addresses of web pages begin with https://.",
            ) from None
        raise


def shortened(name: str) -> str:
    return name if len(name) <= NAME_SHOWN else f"{name[: NAME_SHOWN - 1]}…"


def _exists(name: str) -> bool:
    try:
        return Path(name).exists()
    except (OSError, ValueError):  # the name is too long, its folder not readable, or it has NUL
        return False


class AddOut(Shape):
    """What `kb add --json` prints.

    ``added``, ``updated`` and ``unchanged`` count transcripts, and ``media`` names the recordings
    that got their audio or video file; null: a server does not tell it. ``unfinished`` counts the
    sources that are not found by words and by meaning yet.
    """

    added: int | None
    updated: int | None
    unchanged: int | None
    skipped: int
    videos: list[VideoOut]
    documents: list[DocumentOut]
    media: list[str] | None
    jobs: list[JobOut]
    problems: list[JobProblem]
    unfinished: int
    failed: int


@dataclass(slots=True)
class Problems:
    """What went wrong; ``failure`` is the first problem with a target that was named."""

    skipped: int = 0
    problems: list[JobProblem] = field(default_factory=list)
    failure: KnowledgeBaseError | None = None

    def fail(self, name: str, error: KnowledgeBaseError) -> None:
        """Record a problem with a target that was named."""
        self.problems.append(JobProblem.of(name, error))
        self.failure = self.failure or error


@dataclass(frozen=True, slots=True, kw_only=True)
class AddReport:
    """What was added; ``notes`` tell whoever added it what else happens to it.

    ``failure`` is the first problem with a target that was named.
    """

    added: AddOut
    failure: KnowledgeBaseError | None = None
    notes: tuple[str, ...] = ()

    def ids(self) -> list[str]:
        """Return the ids of documents and of recordings, as filters take them."""
        videos = (video.id for video in self.added.videos)
        fetched = (job.video_id for job in self.added.jobs if job.video_id)
        documents = (str(document.source.id) for document in self.added.documents)
        return list(dict.fromkeys([*videos, *fetched, *documents]))

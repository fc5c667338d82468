"""What `kb add` is given, and what it prints of the results, wherever the library is."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from citations.models import SourceKind
from citations.schemas.search import DocumentOut
from kbsite.cli.terminal import note, say, table_of_sentences
from kbsite.library import add_files
from transcripts import conf
from transcripts.core.errors import InvalidInput, InvalidUrl
from transcripts.schemas import JobProblem
from transcripts.text.timecodes import parse_target

STDIN = "-"
PROBLEMS_SHOWN = 20
DOCUMENTS_SHOWN = 10
NAME_SHOWN = 100  # characters


@dataclass(frozen=True, slots=True)
class AddOptions:
    tags: tuple[str, ...] = ()
    language: str = ""
    translated: bool = False
    newest: int | None = None
    every_hours: int | None = None
    title: str = ""
    wait: bool = False
    quiet: bool = False


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
        targets._check_title(options.title, are_several=len(names) > 1)
        return targets

    def _check_title(self, title: str, *, are_several: bool) -> None:
        if self.is_pasted and not title:
            raise InvalidInput("Pasted text needs a title.", hint="Add one: kb add - --title “…”")
        is_one_text = self.is_pasted or bool(self.paths) and not self.paths[0].is_dir()
        if title and (are_several or not is_one_text):
            raise InvalidInput(
                "--title is for a single file or for pasted text.",
                hint="Leave it out; titles come from YouTube, the files or their names.",
            )


def pasted_text() -> str:
    """Read the standard input, at most one byte beyond the limit of a caption file."""
    return sys.stdin.buffer.read(conf.max_upload_bytes() + 1).decode(errors="replace")


def require_address(address: str) -> None:
    """Raise ``InvalidUrl`` for an address outside YouTube, ``InvalidInput`` for a lost file."""
    try:
        parse_target(address)
    except InvalidUrl:
        is_path = "/" in address and "youtu" not in address.casefold()
        if is_path or add_files.is_file_name(address):
            raise InvalidInput(
                f"There is no file “{shortened(address)}”, and it is not a YouTube address."
            ) from None
        raise


def shortened(name: str) -> str:
    return name if len(name) <= NAME_SHOWN else f"{name[: NAME_SHOWN - 1]}…"


def print_documents(documents: Sequence[DocumentOut]) -> None:
    """Print what became of each document, and the number of many."""
    for document in documents[:DOCUMENTS_SHOWN]:
        source = document.source
        say(f"“{source.title}” {_result(document)} ({SourceKind(source.kind).label}): {source.id}")
    if len(documents) > DOCUMENTS_SHOWN:
        new = sum(document.is_new for document in documents)
        say(f"… {len(documents)} documents in all, {new} new; `kb sources` lists them.")


def print_problems(problems: Sequence[JobProblem]) -> None:
    """Print the first problems as a table, then their hints."""
    listed = problems[:PROBLEMS_SHOWN]
    if listed:
        rows = [(problem.name, problem.code, problem.message) for problem in listed]
        table_of_sentences(("Problem with", "Code", "Reason"), rows)
    for hint in dict.fromkeys(problem.hint for problem in listed if problem.hint):
        note(hint)
    if len(problems) > len(listed):
        note(f"… and {len(problems) - len(listed)} more; --json lists all of them.")


def _result(document: DocumentOut) -> str:
    if document.source.state == "failed":
        return "was stored, but cannot be read"
    return "added as a document" if document.is_new else "is already in the library"


def _exists(name: str) -> bool:
    try:
        return Path(name).exists()
    except (OSError, ValueError):  # the name is too long, its folder not readable, or it has NUL
        return False

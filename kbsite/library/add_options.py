"""What is to be added, and how, wherever the library is."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kbsite.library import add_files
from transcripts import conf
from transcripts.core.errors import InvalidInput, InvalidUrl
from transcripts.text.timecodes import parse_target

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


def _exists(name: str) -> bool:
    try:
        return Path(name).exists()
    except (OSError, ValueError):  # the name is too long, its folder not readable, or it has NUL
        return False

"""Select transcripts and their metadata files by name."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath

from transcripts.captions import split_name
from transcripts.core.errors import InvalidInput

# Best first: of several files of one recording, the one that times words is preferred.
FORMATS = (
    ".json3",
    ".srv3",
    ".srv2",
    ".srv1",
    ".vtt",
    ".ttml",
    ".dfxp",
    ".srt",
    ".sbv",
    ".ass",
    ".ssa",
    ".smi",
    ".sami",
    ".sub",
    ".mpl",
    ".lrc",
    ".xml",
    ".json",
    ".tsv",
    ".txt",
)
INFO_SUFFIX = ".info.json"
MAX_NAME = 290  # characters of an uploaded file's name, without the folder of ``candidates``


@dataclass(frozen=True, slots=True)
class SelectedFile:
    """A caption file, its yt-dlp metadata file, and the same recording in other formats."""

    name: str
    info_name: str = ""
    instead: tuple[str, ...] = ()


def is_candidate(name: str) -> bool:
    """Return whether the name is that of captions or their metadata."""
    path = PurePosixPath(name)
    is_chat = path.name.casefold().endswith(".live_chat.json")
    return path.suffix.casefold() in FORMATS and not is_chat


def no_transcript() -> InvalidInput:
    """Return the error for files that are no candidates."""
    return InvalidInput(
        "None of these files has the name of a transcript.",
        hint=f"Known formats: {' '.join(FORMATS)}",
    )


def candidates(uploads: Iterable[tuple[str, bytes]]) -> list[tuple[str, bytes]]:
    """Keep captions and their metadata, under safe names.

    A second file of the same name gets a folder of its own: browsers drop the folders.
    """
    count: Counter[str] = Counter()
    files = []
    for written, data in uploads:
        printable = "".join(filter(str.isprintable, written.replace("\\", "/")))
        name = printable.strip("/")[:MAX_NAME]
        if is_candidate(name):
            count[name] += 1
            files.append((f"~{count[name]}/{name}" if count[name] > 1 else name, data))
    return files


def select(names: Iterable[str]) -> list[SelectedFile]:
    """Select one caption file for each recording, language and folder, sorted by name."""
    named = sorted(name for name in names if is_candidate(name))
    infos = {name for name in named if name.casefold().endswith(INFO_SUFFIX)}
    recordings: dict[tuple[str, ...], list[str]] = {}
    for name in named:
        if name not in infos:
            recordings.setdefault(_recording(name), []).append(name)
    ranked = sorted(
        sorted(names, key=lambda name: FORMATS.index(PurePosixPath(name).suffix.casefold()))
        for names in recordings.values()
    )
    return [
        SelectedFile(name=best, info_name=_info_for(best, infos), instead=tuple(others))
        for best, *others in ranked
    ]


def is_auto(name: str) -> bool:
    """Return whether the name marks the output of speech recognition."""
    marks = PurePosixPath(name).name.casefold().split(".")[1:]
    return "auto" in marks or any(mark.endswith("-orig") for mark in marks)


def _recording(name: str) -> tuple[str, ...]:
    path = PurePosixPath(name)
    return (str(path.parent), *split_name(path.name), str(is_auto(name)))


def _info_for(name: str, infos: set[str]) -> str:
    # "Title [id].info.json" belongs to "Title [id].en-GB.vtt": remove suffixes until it exists.
    stem = PurePosixPath(name)
    while stem.suffix:
        stem = stem.with_suffix("")
        if (candidate := f"{stem}{INFO_SUFFIX}") in infos:
            return candidate
    return ""

"""Which of many files are transcripts, and which metadata file belongs to which: pure, over names only."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath

from transcripts.captions import split_name

# Best first: where one recording lies there in several formats, the one that times words and loses nothing is taken.
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
    ".xml",
    ".json",
    ".txt",
)
INFO_SUFFIX = ".info.json"


@dataclass(frozen=True, slots=True)
class SelectedFile:
    """A caption file, the name of yt-dlp's metadata file beside it, and the same recording in other formats, for when this cannot be read."""

    name: str
    info_name: str = ""
    instead: tuple[str, ...] = ()


def is_candidate(name: str) -> bool:
    """Say whether a file may be captions or their metadata, by its name."""
    path = PurePosixPath(name)
    return (
        path.suffix.casefold() in FORMATS
        and not path.name.startswith(".")
        and not path.name.casefold().endswith(".live_chat.json")
    )


def select(names: Iterable[str]) -> list[SelectedFile]:
    """Pick one caption file for each recording, language and folder, and find its metadata; in the order of the names."""
    candidates = sorted(name for name in names if is_candidate(name))
    infos = {name for name in candidates if name.casefold().endswith(INFO_SUFFIX)}
    recordings: dict[tuple[str, ...], list[str]] = {}
    for name in candidates:
        if name not in infos:
            recordings.setdefault(_recording(name), []).append(name)
    ranked = sorted(sorted(names, key=_rank) for names in recordings.values())
    return [
        SelectedFile(name=best, info_name=_info_for(best, infos), instead=tuple(others))
        for best, *others in ranked
    ]


def is_auto(name: str) -> bool:
    """Say whether a file's name marks it as the work of speech recognition."""
    marks = PurePosixPath(name).name.casefold().split(".")[1:]
    return "auto" in marks or any(mark.endswith("-orig") for mark in marks)


def _recording(name: str) -> tuple[str, ...]:
    path = PurePosixPath(name)
    return (str(path.parent), *split_name(path.name), str(is_auto(name)))


def _rank(name: str) -> int:
    return FORMATS.index(PurePosixPath(name).suffix.casefold())


def _info_for(name: str, infos: set[str]) -> str:
    # "Title [id].en-GB.vtt" belongs to "Title [id].info.json": drop suffixes until one is there.
    stem = PurePosixPath(name)
    while stem.suffix:
        stem = stem.with_suffix("")
        if (candidate := f"{stem}{INFO_SUFFIX}") in infos:
            return candidate
    return ""

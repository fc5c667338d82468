"""What the names of files say: which are transcripts, what belongs together, and titles."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final
from urllib.parse import unquote_to_bytes

from transcripts.captions import id_at_end, split_name
from transcripts.core.errors import InvalidInput

# Best first: of several files of one recording, the one that times words is preferred.
FORMATS = (
    *(".json3", ".srv3", ".srv2", ".srv1", ".vtt", ".ttml", ".dfxp", ".srt", ".sbv", ".ass"),
    *(".ssa", ".smi", ".sami", ".sub", ".mpl", ".lrc", ".xml", ".json", ".tsv", ".txt"),
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
    recordings: dict[tuple[object, ...], list[str]] = {}
    for name in named:
        if name not in infos:
            path = PurePosixPath(name)
            recording = (path.parent, *split_name(path.name), is_auto(name))
            recordings.setdefault(recording, []).append(name)
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


def _info_for(name: str, infos: set[str]) -> str:
    # "Title [id].info.json" belongs to "Title [id].en-GB.vtt": remove suffixes until it exists.
    stem = PurePosixPath(name)
    while stem.suffix:
        stem = stem.with_suffix("")
        if (candidate := f"{stem}{INFO_SUFFIX}") in infos:
            return candidate
    return ""


_HYPHEN: Final = re.compile(r"(?<![A-Z\d])-|-(?!\d)")
# What a file is, and no part of a name that reads “How to make a transcript”.
_TRANSCRIPT: Final = re.compile(
    r"(?:\.|[-_ ]+|[-_ ]*[(\[])(?:full[-_ ])?trans[ck]ripts?[)\]]?$", re.IGNORECASE
)
_LEADS_ON: Final = re.compile(
    r"(?:^|[-_ ])(?:an?|and|as|by|every|for|from|in|into|its?|my|of|on|or|our|that|the|this|to|with"
    r"|without|your|das|dem|des|ein|eine[mnrs]?|im|mit|ohne|und|vom|zum)$",
    re.IGNORECASE,
)
# What an address has for other characters than letters, and what a file of sound or pictures is.
_ESCAPED: Final = re.compile(r"(?:%[0-9A-Fa-f]{2})+")
_RECORDING: Final = re.compile(
    r"(?<=[^.\s])\.(?:mp[34]|m4[av]|mov|mkv|webm|avi|wav|og[gv]|opus|flac|aac)$", re.IGNORECASE
)


def readable(name: str) -> str:
    """Leave out “transcript” at the end, put blanks for underscores, and for hyphens where these
    stand for blanks.

    They do where a name has no blanks: ``calculus-1`` becomes "calculus 1". Those of "COVID-19" and
    "2024-05-01" stay, and so does the id of a video at the end: "talk-H39Z_720T5s" becomes
    "talk H39Z_720T5s". ``talk%20one.mp4``, a name from an address and of a recording, is
    "talk one".
    """
    name = _ESCAPED.sub(_decoded, name)
    name = name.strip(" .") or name if name.startswith(".") else name
    name = _RECORDING.sub("", name)
    ending = _TRANSCRIPT.search(name)
    if ending and (named := name[: ending.start()].strip(" -_.")) and not _LEADS_ON.search(named):
        name = named
    title, id = id_at_end(name)
    if id:
        video = name[name.rindex(id) - (not name.endswith(id)) :]  # with its brackets
        return f"{readable(title) if title else ''} {video}".strip()
    text = name.replace("_", " ").strip()
    words = text if " " in text else " ".join(_HYPHEN.sub(" ", text).split())
    return words or name


def _decoded(escaped: re.Match[str]) -> str:
    """Return what stands for printable characters in UTF-8, else the escapes themselves."""
    try:
        text = unquote_to_bytes(escaped[0]).decode()
    except UnicodeDecodeError:
        return escaped[0]
    return text if text.isprintable() else escaped[0]

"""Titles of what has none of its own, from the names of files."""

import re
from typing import Final
from urllib.parse import unquote_to_bytes

_HYPHEN: Final = re.compile(r"(?<![A-Z\d])-|-(?!\d)")
_ID: Final = r"[\w-]{11}"  # of a video on YouTube
# Downloads end in it, in brackets or after a hyphen. “Week_3_Quiz” has no part that mixes letters.
_ID_AT_END: Final = re.compile(rf"(?P<title>.*?)(?P<id>\[{_ID}\]|(?<=[-_ ]){_ID}|^{_ID})", re.ASCII)
_SIGNS: Final = re.compile(r"(?=.*[-_])(?=.*[a-z])(?=.*[A-Z])(?=.*(\d[A-Za-z]|[a-z][A-Z]))")
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
    video = _ID_AT_END.fullmatch(name)
    if video and (video["id"].startswith("[") or _SIGNS.match(video["id"])):
        title = readable(video["title"].strip(" -_")) if video["title"] else ""
        return f"{title} {video['id']}".strip()
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

"""Read the id and the language from the name of a caption file."""

import re
from pathlib import PurePosixPath
from typing import Final

from transcripts.captions.speech import label

_EXTENSION: Final = re.compile(
    r"\.(?:vtt|srt|sbv|json3?|srv[123]|ttml|dfxp|xml|txt|ass|ssa|sub|smi|sami|mpl|lrc|tsv)$",
    re.IGNORECASE,
)
_MARKER: Final = re.compile(r"\.(?:auto|asr|cc|sdh|forced|trans[ck]ripts?)$", re.IGNORECASE)
# yt-dlp appends eleven characters to a named track ("en-eEY6OEpapPo"); "-orig" is the spoken one.
_LANGUAGE: Final = re.compile(
    r"\.([a-z]{2,3}(?:-[A-Z][a-z]{3})?(?:-(?:[A-Z]{2}|[0-9]{3}))?)(?:-orig|-[A-Za-z0-9_-]{11})?$"
)
_NO_LANGUAGES: Final = frozenset({"com", "new", "net", "old", "org", "raw", "the", "web", "www"})
_BRACKETED_ID: Final = re.compile(r"\[([A-Za-z0-9_-]{11})\]$")


def split_name(name: str) -> tuple[str, str]:
    """Split a file name into an id and a language ("" if it has none).

    yt-dlp's ``Title [dQw4w9WgXcQ].en-GB.vtt`` gives the video's id. Otherwise the id is the name
    without folder, extension, language, and what is no name, such as ``.auto``.
    """
    stem = _without(_MARKER, _without(_EXTENSION, PurePosixPath(name.replace("\\", "/")).name))
    match = _LANGUAGE.search(stem)
    language = match[1] if match and match.start() > 0 and match[1] not in _NO_LANGUAGES else ""
    if match and language:
        stem = _without(_MARKER, stem[: match.start()])
    bracketed = _BRACKETED_ID.search(stem.rstrip())
    return (bracketed[1] if bracketed else label(stem)), language


def _without(suffix: re.Pattern[str], name: str) -> str:
    """Remove the suffix, unless nothing would remain."""
    match = suffix.search(name)
    return name[: match.start()] if match and match.start() > 0 else name

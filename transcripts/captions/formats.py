"""What a caption file is: its format by its content, its id and language by its name."""

import re
from enum import Enum, auto
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Final

from transcripts.captions.caption_errors import HtmlPage, UnknownFormat
from transcripts.captions.pasted_text import is_panel
from transcripts.captions.speech import label
from transcripts.captions.subtitle_files import subtitle_kind
from transcripts.captions.tables import is_table
from transcripts.captions.timed_text import ARROW_LINE, COMMA_LINE


class CaptionKind(Enum):
    """The formats, one for each reader."""

    VTT = auto()
    SRT = auto()
    SBV = auto()
    JSON = auto()
    XML = auto()
    SUBTITLES = auto()
    TABLE = auto()
    PANEL = auto()
    PLAIN = auto()


_JSON_START: Final = re.compile(r"\{\s*[\"}]|\[\s*[\[{\]]")
_HTML_START: Final = re.compile(r"<(?:!doctype\s+html|html|head|body|meta|title)\b", re.IGNORECASE)
_XML_START: Final = re.compile(r"<(?:[\w-]{1,40}:)?(?:tt|timedtext|transcript)\b|<\?xml|<!DOCTYPE")
_CONTROL: Final = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_HEAD: Final = 8192  # characters
_LINES_A_CUE: Final = 12

_KIND_BY_EXTENSION: Final = {
    **dict.fromkeys(["json", "json3"], CaptionKind.JSON),
    **dict.fromkeys(["srv1", "srv2", "srv3", "ttml", "dfxp", "xml"], CaptionKind.XML),
}
_TIMED_EXTENSIONS: Final = frozenset(
    {"vtt", "srt", "sbv", "ass", "ssa", "sub", "smi", "sami", "mpl", "lrc"}
)

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
# An id of YouTube as downloads end in it.
_ID_AT_END: Final = re.compile(
    r"[\[({](?P<bracketed>[\w-]{11})[\])}]$|(?:^|(?<=[-_ ]))(?P<bare>[\w-]{11})$", re.ASCII
)
_CLOSING: Final = ("]", ")", "}")
_MIXED: Final = re.compile(r"(?=.*[a-z])(?=.*[A-Z])(?=.*(?:\d[A-Za-z]|[a-z][A-Z]))")
_BRACKETED_CHANGES, _BARE_CHANGES = 4, 6  # between kinds of characters, of ten pairs


def sniff(text: str, *, name: str) -> CaptionKind:
    """Return the format of a text by its content; the name counts only where that is ambiguous.

    Raises ``HtmlPage`` and ``UnknownFormat``.
    """
    start = text[:_HEAD].lstrip()
    element = start  # the first, behind XML's declaration and comments
    while element.startswith(("<?", "<!--")):
        element = element.partition("?>" if element.startswith("<?") else "-->")[2].lstrip()
    if _HTML_START.match(element):
        raise HtmlPage(
            "This is a web page, not a caption file.",
            hint="Download the captions themselves, or paste the transcript panel.",
        )
    if start.startswith("%PDF-") or len(_CONTROL.findall(start)) * 10 > len(start):
        raise UnknownFormat(
            "This is not text, so it is no caption file.",
            hint="Known are VTT, SRT, SBV, ASS, json3, srv3, TTML, TXT, TSV, JSON and others.",
        )
    if start.startswith("Scenarist_SCC"):
        raise UnknownFormat(
            "These are captions coded for broadcasting (SCC).",
            hint="Convert them to SRT: ffmpeg -i captions.scc captions.srt",
        )
    extension = PurePosixPath(name).suffix.lower().removeprefix(".")
    by_content = _by_start(start, element) or _by_times(text, extension)
    if kind := by_content or _KIND_BY_EXTENSION.get(extension):
        return kind
    if is_panel(text):
        return CaptionKind.PANEL
    if extension in _TIMED_EXTENSIONS:
        raise UnknownFormat(
            f"It is called .{extension}, but has no line of times.",
            hint="Words without times may be sent as .txt.",
        )
    return CaptionKind.PLAIN


def are_times_dense(text: str) -> bool:
    """Return whether lines of times are as frequent as in captions."""
    times = sum(1 for _ in ARROW_LINE.finditer(text)) or sum(1 for _ in COMMA_LINE.finditer(text))
    return times * _LINES_A_CUE > text.count("\n")


def split_name(name: str) -> tuple[str, str]:
    """Split a file name into an id and a language ("" if it has none).

    A download's ``Title [dQw4w9WgXcQ].en-GB.vtt`` gives the video's id. Otherwise it is the name
    without folder, extension, language, and what is no name, such as ``.auto``.
    """
    stem, language = _split(name)
    bracketed = id_at_end(stem)[1] if stem.endswith(_CLOSING) else ""
    return bracketed or label(stem), language


def split_video_id(name: str) -> tuple[str, str]:
    """Split a file name into a title and the id of its video, as ``id_at_end`` does."""
    return id_at_end(_split(name)[0])


def id_at_end(stem: str) -> tuple[str, str]:
    """Split a name without endings into a title and the id of a YouTube video, "" if it has none:
    in brackets at the end, or behind a hyphen, an underscore or a blank.

    An id changes often between small letters, capitals, digits and signs. Of random ids, 96 % are
    known in brackets and 74 % without; of 343,000 names of other files, 3 are taken for ids.
    """
    match = _ID_AT_END.search(stem)
    if match is None:
        return stem, ""
    bracketed, id = match["bracketed"], match["bracketed"] or match["bare"]
    kinds = [(char.isupper(), char.islower(), char.isdigit()) for char in id]
    changes = sum(this != following for this, following in pairwise(kinds))
    is_id = changes >= (_BRACKETED_CHANGES if bracketed else _BARE_CHANGES)
    if not is_id or not (bracketed or _MIXED.match(id)):
        return stem, ""
    return stem[: match.start()].rstrip(" -_"), id


def _split(name: str) -> tuple[str, str]:
    """Split a file name into its stem, without what is no name, and its language."""
    stem = _without(_MARKER, _without(_EXTENSION, PurePosixPath(name.replace("\\", "/")).name))
    match, language = _LANGUAGE.search(stem), ""
    if match and match.start() > 0 and match[1] not in _NO_LANGUAGES:
        stem, language = _without(_MARKER, stem[: match.start()]), match[1]
    return stem.rstrip(), language


def _without(suffix: re.Pattern[str], name: str) -> str:
    """Remove the suffix, unless nothing would remain."""
    match = suffix.search(name)
    return name[: match.start()] if match and match.start() > 0 else name


def _by_start(start: str, element: str) -> CaptionKind | None:
    if start.startswith("WEBVTT"):
        return CaptionKind.VTT
    if _JSON_START.match(start):
        return CaptionKind.JSON
    if _XML_START.match(start) or _XML_START.match(element):
        return CaptionKind.XML
    if subtitle_kind(start):
        return CaptionKind.SUBTITLES
    return CaptionKind.TABLE if is_table(start) else None


def _by_times(text: str, extension: str) -> CaptionKind | None:
    """A dot or a comma before the milliseconds tells WebVTT from SRT, unless the name does."""
    if match := ARROW_LINE.search(text):
        if extension in {"vtt", "srt"}:
            return CaptionKind[extension.upper()]
        return CaptionKind.VTT if "." in match[0] else CaptionKind.SRT
    return CaptionKind.SBV if COMMA_LINE.search(text) else None

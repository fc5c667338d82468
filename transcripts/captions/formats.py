"""Detect the format of a text by its content; the name counts only where that is ambiguous."""

import re
from enum import Enum, auto
from pathlib import PurePosixPath
from typing import Final

from transcripts.captions.pasted_text import is_panel
from transcripts.captions.subtitle_files import subtitle_kind
from transcripts.captions.tables import is_table
from transcripts.captions.timed_text import ARROW_LINE, COMMA_LINE
from transcripts.core.errors import HtmlPage, UnknownFormat


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


def sniff(text: str, *, name: str) -> CaptionKind:
    """Return the format of a text. Raises ``HtmlPage`` and ``UnknownFormat``."""
    start = text[:_HEAD].lstrip()
    _refuse_foreign(start)
    extension = PurePosixPath(name).suffix.lower().removeprefix(".")
    kind = _by_start(start) or _by_times(text, extension) or _KIND_BY_EXTENSION.get(extension)
    if kind is not None:
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


def _refuse_foreign(start: str) -> None:
    if _HTML_START.match(_after_prolog(start)):
        raise HtmlPage(
            "This is a web page, not a caption file.",
            hint="Download the captions themselves, or paste the transcript panel.",
        )
    if start.startswith("%PDF-") or len(_CONTROL.findall(start)) * 10 > len(start):
        raise UnknownFormat(
            "This is not text, so it is no caption file.",
            hint="Known are VTT, SRT, SBV, ASS, json3, srv3, TTML, TXT, TSV, JSON and others.",
        )


def _after_prolog(start: str) -> str:
    """Step over XML's declaration and comments, to the first element."""
    while start.startswith(("<?", "<!--")):
        _, _, start = start.partition("?>" if start.startswith("<?") else "-->")
        start = start.lstrip()
    return start


def _by_start(start: str) -> CaptionKind | None:
    if start.startswith("WEBVTT"):
        return CaptionKind.VTT
    if _JSON_START.match(start):
        return CaptionKind.JSON
    if _XML_START.match(start) or _XML_START.match(_after_prolog(start)):
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

"""Read caption files of every common format into cues, and write cues as files.

``parse`` decides by the content, not by the name, and raises only ``CaptionError``. The cues are
safe to store and show as text (no NUL, lone surrogates or bidi overrides) but not as HTML.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from transcripts.captions.builder import Captions
from transcripts.captions.caption_errors import UnsureEncoding
from transcripts.captions.encoding import decode, is_marked_or_utf16
from transcripts.captions.file_names import split_name
from transcripts.captions.formats import CaptionKind, are_times_dense, sniff
from transcripts.captions.json_files import read_json
from transcripts.captions.pasted_text import read_panel, read_plain
from transcripts.captions.subtitle_files import read_subtitles
from transcripts.captions.tables import read_table
from transcripts.captions.timed_text import read_sbv, read_srt, read_vtt
from transcripts.captions.writers import (
    from_json,
    to_json,
    to_srt,
    to_txt,
    to_vtt,
    word_times_to_json,
)
from transcripts.captions.xml_files import read_xml
from transcripts.core.errors import BadEncoding, CaptionError, CaptionsTooLarge, EmptyCaptions
from transcripts.core.unexpected import told_as

__all__ = [
    "MAX_BYTES",
    "Captions",
    "decode",
    "from_json",
    "is_marked_or_utf16",
    "is_timed",
    "parse",
    "parse_text",
    "split_name",
    "to_json",
    "to_srt",
    "to_txt",
    "to_vtt",
    "word_times_to_json",
]

# Two days of word-timed json3; a parsed file takes many times its size.
MAX_BYTES: Final = 20 * 1024 * 1024

_READERS: Final[dict[CaptionKind, Callable[[str], Captions]]] = {
    CaptionKind.VTT: read_vtt,
    CaptionKind.SRT: read_srt,
    CaptionKind.SBV: read_sbv,
    CaptionKind.JSON: read_json,
    CaptionKind.XML: read_xml,
    CaptionKind.SUBTITLES: read_subtitles,
    CaptionKind.TABLE: read_table,
    CaptionKind.PANEL: read_panel,
    CaptionKind.PLAIN: read_plain,
}
_reading = told_as(
    CaptionError,
    "The captions cannot be read: the program that reads them failed.",
    hint="Convert them to SRT or WebVTT with another program, and add that.",
)


@_reading
def parse(data: bytes, *, name: str = "") -> Captions:
    """Read a caption file. The extension of ``name`` decides only where the content is ambiguous.

    Raises a ``CaptionError`` that names the cause, and nothing else. Time and memory grow linearly
    with the size, which is at most ``MAX_BYTES``.
    """
    if len(data) > MAX_BYTES:
        raise _too_large()
    decoded = decode(data)
    if not decoded.encoding:
        position = decoded.text.index("\ufffd")
        raise BadEncoding(
            f"Byte {position} (0x{data[position]:02x}) is text in no known encoding.",
            hint="Save the file as UTF-8 and send it again.",
        )
    captions = parse_text(decoded.text, name=name)
    if decoded.is_sure:
        return captions
    return replace(captions, warnings=(*captions.warnings, UnsureEncoding(decoded.encoding)))


@_reading
def parse_text(text: str, *, name: str = "") -> Captions:
    """Read pasted text: YouTube's transcript panel, words without times, or a caption file.

    Raises as ``parse`` does.
    """
    if len(text) > MAX_BYTES:
        raise _too_large()
    text = text.removeprefix("\ufeff")
    if not text.strip():
        raise EmptyCaptions(
            "The text is empty.", hint="Download the captions again, or paste the transcript panel."
        )
    return _READERS[sniff(text, name=name)](text)


def is_timed(head: bytes) -> bool:
    """Return whether a file that begins with ``head`` is captions: text with times."""
    try:
        return _is_timed(head)
    except CaptionError:
        return False


@_reading
def _is_timed(head: bytes) -> bool:
    text = decode(head).text.removeprefix("\ufeff")
    kind = sniff(text, name="")
    is_marked = text.lstrip().startswith("WEBVTT")
    if kind in (CaptionKind.VTT, CaptionKind.SRT, CaptionKind.SBV) and not is_marked:
        return are_times_dense(text)
    return kind is not CaptionKind.PLAIN


def _too_large() -> CaptionsTooLarge:
    limit = MAX_BYTES // (1024 * 1024)
    return CaptionsTooLarge(
        f"The captions are larger than {limit} MB.",
        hint="Split the file, or upload plain VTT instead of json3.",
    )

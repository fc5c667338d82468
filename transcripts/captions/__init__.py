"""Read caption files of every common format into cues, and write cues as files.

``parse`` decides by the content, not by the name, and raises only ``CaptionError``. The cues are
safe to store and show as text (no NUL, lone surrogates or bidi overrides) but not as HTML. Word
times are written apart, because few readers need them; ``parse`` reads a file back without them.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import repeat
from typing import Final

from transcripts.captions.builder import Captions
from transcripts.captions.caption_errors import (
    BadEncoding,
    CaptionError,
    CaptionsTooLarge,
    EmptyCaptions,
    UnsureEncoding,
)
from transcripts.captions.encoding import decode, is_marked_or_utf16
from transcripts.captions.formats import (
    CaptionKind,
    are_times_dense,
    id_at_end,
    sniff,
    split_name,
    split_video_id,
)
from transcripts.captions.json_files import read_json
from transcripts.captions.pasted_text import read_panel, read_plain
from transcripts.captions.speech import escaped, protected
from transcripts.captions.subtitle_files import read_subtitles
from transcripts.captions.tables import read_table
from transcripts.captions.timed_text import read_sbv, read_srt, read_vtt
from transcripts.captions.xml_files import read_xml
from transcripts.core.errors import told_as
from transcripts.text.cues import Cue, Word

__all__ = [
    "MAX_BYTES",
    "Captions",
    "decode",
    "from_json",
    "is_marked_or_utf16",
    "is_timed",
    "parse",
    "parse_text",
    "id_at_end",
    "split_name",
    "split_video_id",
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

Row = list[int | str]


@_reading
def parse(data: bytes, *, name: str = "") -> Captions:
    """Read a caption file. The extension of ``name`` decides only where the content is ambiguous.

    Raises a ``CaptionError`` that names the cause, and nothing else. Time and memory grow linearly
    with the size, which is at most ``MAX_BYTES``.
    """
    _check_size(data)
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
    _check_size(text)
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


def _check_size(content: bytes | str) -> None:
    if len(content) > MAX_BYTES:
        raise CaptionsTooLarge(
            f"The captions are larger than {MAX_BYTES // (1024 * 1024)} MB.",
            hint="Split the file, or upload plain VTT instead of json3.",
        )


def to_json(cues: Sequence[Cue]) -> list[Row]:
    """Return ``[start, end, text]`` (ms) for each cue, without words."""
    return [[cue.start, cue.end, cue.text] for cue in cues]


def from_json(
    rows: Sequence[Sequence[int | str]],
    *,
    word_times: Sequence[Sequence[Sequence[int | str]] | None] | None = None,
) -> tuple[Cue, ...]:
    """Return the cues of ``to_json``, with the words of ``word_times_to_json`` if given.

    The rows are trusted.
    """
    return tuple(
        Cue(
            int(start),
            int(end),
            str(text),
            tuple(Word(int(at), str(word), bool(rest)) for at, word, *rest in words or ()),
        )
        for (start, end, text), words in zip(rows, word_times or repeat((), len(rows)), strict=True)
    )


def word_times_to_json(cues: Sequence[Cue]) -> list[list[Row] | None]:
    """Return each cue's words as ``[start, text]`` (ms) or None; [] if no cue has word times. An
    unsure word has a third item.
    """
    if not any(cue.words for cue in cues):
        return []
    return [
        [
            [word.start, word.text, 1] if word.is_unsure else [word.start, word.text]
            for word in words
        ]
        if (words := cue.words)
        else None
        for cue in cues
    ]


def to_vtt(cues: Sequence[Cue], *, note: str = "") -> str:
    """Write WebVTT, with ``&``, ``<`` and ``>`` escaped as it requires; a note is for readers of
    the file, and stands on one line.
    """
    notes = [f"NOTE {note}\n"] if note else []
    return "\n".join(
        ["WEBVTT\n", *notes, *(f"{_times(cue, '.')}\n{escaped(cue.text)}\n" for cue in cues)]
    )


def to_srt(cues: Sequence[Cue]) -> str:
    """Write SubRip. Escape only what would be read as markup: players show the text as it is."""
    return "\n".join(
        f"{number}\n{_times(cue, ',')}\n{protected(cue.text)}\n"
        for number, cue in enumerate(cues, start=1)
    )


def to_txt(cues: Sequence[Cue]) -> str:
    """Write the text alone, one line per cue."""
    return "".join(f"{cue.text}\n" for cue in cues)


def _times(cue: Cue, mark: str) -> str:
    clocks = []
    for moment in (cue.start, cue.end):
        seconds, part = divmod(moment, 1000)
        clock = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
        clocks.append(f"{clock}{mark}{part:03}")
    return " --> ".join(clocks)

"""Subtitles of players: ASS and SSA, MicroDVD, MPL2, TMP and SAMI, read by pysubs2."""

import re
from collections.abc import Iterator
from typing import Final

import pysubs2
from pysubs2.formats.substation import parse_tags

from transcripts.captions.builder import Captions, settle
from transcripts.captions.caption_errors import CaptionError, CaptionWarning, UnsureFrameRate
from transcripts.captions.drafts import FRAMES_A_SECOND, CueDraft
from transcripts.captions.speech import Voices, label, lines, name_of, plain

_KINDS: Final = (
    ("ass", re.compile(r"^\[(?:Script Info|Events|V4\+? Styles)\]", re.MULTILINE | re.IGNORECASE)),
    ("sami", re.compile(r"\s*(?:<[?!][^>]*>\s*)*<SAMI\b", re.IGNORECASE)),
    ("microdvd", re.compile(r"\s*\{[0-9]+\}[ ]*\{[0-9]+\}")),
    ("mpl2", re.compile(r"\s*\[[0-9]+\]\[[0-9]+\]")),
    ("tmp", re.compile(r"\s*[0-9]{1,2}:[0-9]{2}:[0-9]{2}:[^\s:0-9]")),
)
_STARTS_ONLY: Final = frozenset({"sami", "tmp"})  # pysubs2 makes up when a cue ends
_SECTION: Final = re.compile(r"\s*\[(.*)\]\s*")
_EVENT: Final = re.compile(r"\s*(Format|Dialogue|Comment):(.*)", re.DOTALL)
# The columns as pysubs2 expects them, whatever their Format line says.
_COLUMNS: Final = (
    *("layer", "start", "end", "style", "name", "marginl", "marginr", "marginv", "effect", "text"),
)
_READ: Final = frozenset({"start", "end", "name", "text"})
_SAME: Final = {"marked": "layer", "actor": "name"}


def subtitle_kind(text: str) -> str:
    """Return which of these formats a text has, as pysubs2 calls it; "" for none."""
    return next((kind for kind, pattern in _KINDS if pattern.match(text)), "")


def read_subtitles(text: str) -> Captions:
    """Read subtitles without comments, drawings and styles; actors become speakers.

    Raises ``CaptionError`` for a file that its format does not allow.
    """
    kind = subtitle_kind(text)
    warnings: tuple[CaptionWarning, ...] = ()
    try:
        if kind == "ass":
            text = "\n".join(_in_usual_order(lines(text)))
        try:
            file = pysubs2.SSAFile.from_string(text, kind)
        except pysubs2.UnknownFPSError:
            warnings = (UnsureFrameRate(FRAMES_A_SECOND),)
            file = pysubs2.SSAFile.from_string(text, kind, fps=FRAMES_A_SECOND)
    except (pysubs2.Pysubs2Error, ValueError, KeyError) as error:
        raise CaptionError(
            f"These subtitles cannot be read: {str(error)[:100]}.",
            hint="Open them in a subtitle editor, and save them as SRT or WebVTT.",
        ) from None
    voices = Voices()
    drafts = [
        CueDraft(
            event.start,
            None if kind in _STARTS_ONLY else event.end,
            voices.labelled(name_of(event.name) if event.name else "", text),
        )
        for event in file
        if not event.is_comment and (text := _words(event))
    ]
    title = label(file.info.get("Title", "")) if kind == "ass" else ""
    return settle(drafts, format=kind, warnings=warnings, title=title)


def _words(event: pysubs2.SSAEvent) -> str:
    """Return what an event says, "" for one that only draws."""
    if event.is_drawing:  # words may stand before it, and after
        event.text = "".join(part for part, style in parse_tags(event.text) if not style.drawing)
    return plain(event.plaintext)


def _in_usual_order(written: list[str]) -> Iterator[str]:
    """Write the events of ASS in the usual order of columns, if their Format line has another.

    Raises ``ValueError`` for one without times or text.
    """
    section, columns = "", list(_COLUMNS)
    for line in written:
        if heading := _SECTION.fullmatch(line):
            section = heading[1].strip().casefold()
        event = _EVENT.fullmatch(line) if section == "events" else None
        if event and event[1] == "Format":
            names = (name.strip().casefold() for name in event[2].split(","))
            columns = [_SAME.get(name, name) for name in names]
            if not {"start", "end", "text"} <= {*columns}:
                raise ValueError("their Format line names no Start, End or Text")
        elif event and tuple(columns) != _COLUMNS:
            place = columns.index("text")  # which alone may have commas in it
            *before, rest = event[2].strip().split(",", place)
            values = [*before, *rest.rsplit(",", len(columns) - place - 1)]
            said = zip(columns, values, strict=False)
            fields = {"name": "", **{name: value for name, value in said if name in _READ}}
            line = f"{event[1]}: {','.join(fields.get(name, '0') for name in _COLUMNS)}"
        yield line

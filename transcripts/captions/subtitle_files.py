"""Subtitles of players: ASS and SSA, MicroDVD, MPL2, TMP and SAMI, read by pysubs2."""

import re
from typing import Final

import pysubs2

from transcripts.captions.builder import Captions, settle
from transcripts.captions.caption_errors import CaptionWarning, UnsureFrameRate
from transcripts.captions.drafts import CueDraft
from transcripts.captions.speech import label, plain
from transcripts.captions.voices import Voices, name_of
from transcripts.core.errors import CaptionError

_FRAMES: Final = 25.0  # a second, where a file in frames does not say
_KINDS: Final = (
    ("ass", re.compile(r"^\[(?:Script Info|Events|V4\+? Styles)\]", re.MULTILINE | re.IGNORECASE)),
    ("sami", re.compile(r"\s*(?:<[?!][^>]*>\s*)*<SAMI\b", re.IGNORECASE)),
    ("microdvd", re.compile(r"\s*\{[0-9]+\}[ ]*\{[0-9]+\}")),
    ("mpl2", re.compile(r"\s*\[[0-9]+\]\[[0-9]+\]")),
    ("tmp", re.compile(r"\s*[0-9]{1,2}:[0-9]{2}:[0-9]{2}:[^\s:0-9]")),
)
_STARTS_ONLY: Final = frozenset({"sami", "tmp"})  # pysubs2 makes up when a cue ends


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
        try:
            file = pysubs2.SSAFile.from_string(text, kind)
        except pysubs2.UnknownFPSError:
            warnings = (UnsureFrameRate(_FRAMES),)
            file = pysubs2.SSAFile.from_string(text, kind, fps=_FRAMES)
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
            voices.labelled(name_of(event.name) if event.name else "", plain(event.plaintext)),
        )
        for event in file.get_text_events()
    ]
    title = label(file.info.get("Title", "")) if kind == "ass" else ""
    return settle(drafts, format=kind, warnings=warnings, title=title)

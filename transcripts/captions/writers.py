"""Cues as files to download; ``parse`` gives back what was written: text and times, though not the times of single words."""

from collections.abc import Sequence

from transcripts.captions.speech import escaped, protected
from transcripts.cues import Cue


def to_vtt(cues: Sequence[Cue]) -> str:
    """Write WebVTT. All three signs are escaped, as it asks."""
    blocks = [
        f"{_clock(cue.start, '.')} --> {_clock(cue.end, '.')}\n{escaped(cue.text)}\n"
        for cue in cues
    ]
    return "\n".join(["WEBVTT\n", *blocks])


def to_srt(cues: Sequence[Cue]) -> str:
    """Write SubRip. Players show its text as it is, so only what would be read as markup is escaped."""
    blocks = [
        f"{number}\n{_clock(cue.start, ',')} --> {_clock(cue.end, ',')}\n{protected(cue.text)}\n"
        for number, cue in enumerate(cues, start=1)
    ]
    return "\n".join(blocks)


def to_txt(cues: Sequence[Cue]) -> str:
    """Write the text alone, a line for each cue."""
    return "".join(f"{cue.text}\n" for cue in cues)


def _clock(moment: int, mark: str) -> str:
    seconds, thousandths = divmod(moment, 1000)
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}{mark}{thousandths:03}"

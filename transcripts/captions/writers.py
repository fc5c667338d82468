"""Write cues as files. ``parse`` reads back text and times, but not the times of words."""

from collections.abc import Sequence

from transcripts.captions.speech import escaped, protected
from transcripts.cues import Cue


def to_vtt(cues: Sequence[Cue]) -> str:
    """Write WebVTT, with ``&``, ``<`` and ``>`` escaped as it requires."""
    blocks = [
        f"{_clock(cue.start, '.')} --> {_clock(cue.end, '.')}\n{escaped(cue.text)}\n"
        for cue in cues
    ]
    return "\n".join(["WEBVTT\n", *blocks])


def to_srt(cues: Sequence[Cue]) -> str:
    """Write SubRip. Escape only what would be read as markup: players show the text as it is."""
    blocks = [
        f"{number}\n{_clock(cue.start, ',')} --> {_clock(cue.end, ',')}\n{protected(cue.text)}\n"
        for number, cue in enumerate(cues, start=1)
    ]
    return "\n".join(blocks)


def to_txt(cues: Sequence[Cue]) -> str:
    """Write the text alone, one line per cue."""
    return "".join(f"{cue.text}\n" for cue in cues)


def _clock(moment: int, mark: str) -> str:
    seconds, thousandths = divmod(moment, 1000)
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}{mark}{thousandths:03}"

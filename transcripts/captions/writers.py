"""Write cues as JSON values for the database, and as files.

Word times stand apart, because few readers need them. ``parse`` reads a file back, but not the
times of its words.
"""

from collections.abc import Sequence
from itertools import repeat

from transcripts.captions.speech import escaped, protected
from transcripts.text.cues import Cue, Word

Row = list[int | str]


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
            tuple(Word(int(moment), str(word)) for moment, word in words or ()),
        )
        for (start, end, text), words in zip(rows, word_times or repeat((), len(rows)), strict=True)
    )


def word_times_to_json(cues: Sequence[Cue]) -> list[list[Row] | None]:
    """Return each cue's words as ``[start, text]`` (ms) or None; [] if no cue has word times."""
    if not any(cue.words for cue in cues):
        return []
    return [[[word.start, word.text] for word in cue.words] or None for cue in cues]


def to_vtt(cues: Sequence[Cue], *, note: str = "") -> str:
    """Write WebVTT, with ``&``, ``<`` and ``>`` escaped as it requires; a note is for readers of
    the file, and stands on one line.
    """
    blocks = [
        f"{_clock(cue.start, '.')} --> {_clock(cue.end, '.')}\n{escaped(cue.text)}\n"
        for cue in cues
    ]
    notes = [f"NOTE {note}\n"] if note else []
    return "\n".join(["WEBVTT\n", *notes, *blocks])


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

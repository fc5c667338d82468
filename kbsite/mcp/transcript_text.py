"""A transcript's text with the times at which it is said."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence

from citations.readers.source_blocks import cue_blocks
from citations.text.blocks import text_of
from citations.text.chunking import pauses_of
from citations.text.sentences import split
from transcripts.cues import Cue, group_by_time
from transcripts.reading import full_text
from transcripts.timecodes import clock

STEP = 15  # seconds


def write(cues: Sequence[Cue], *, times: str) -> str:
    """Write cues with a line for each sentence, or for about 15 seconds; or without times."""
    if times == "none":
        return full_text(cues)
    if times == "sentence":
        return "\n".join(_sentences(cues))
    return "\n".join(f"[{clock(group.start)}] {group.text}" for group in group_by_time(cues, STEP))


def _sentences(cues: Sequence[Cue]) -> Iterator[str]:
    """Yield each sentence with the time of the cue in which it begins."""
    blocks = list(cue_blocks(cues))
    text, offsets = text_of(blocks), [block.offset for block in blocks]
    for start, stop in split(text, dict(pauses_of(blocks))):
        block = blocks[bisect_right(offsets, start) - 1]
        yield f"[{clock(block.start or 0)}] {text[start:stop].strip()}"

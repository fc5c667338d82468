"""The blocks of a recording: a cue each, with its times and the video's chapters as boundaries."""

from collections.abc import Iterator, Sequence

from citations.text.blocks import Block
from transcripts.captions import from_json
from transcripts.cues import Cue, Word
from transcripts.models import Transcript

LONGEST_HEADING = 300  # characters of a chapter's title
_WORD_DISTANCE = 40  # characters at most between two timed words


def read(transcript: Transcript) -> list[Block]:
    """Return a block for each cue; joined by spaces, their texts are the source's text."""
    cues = from_json(transcript.cues, word_times=transcript.word_times or None)
    return list(blocks(cues, transcript.video.chapters))


def blocks(cues: Sequence[Cue], chapters: Sequence[Sequence[int | str]] = ()) -> Iterator[Block]:
    """Yield a block for each cue (in time order); ``chapters`` are [start in ms, title].

    A cue belongs to the chapter at its middle: chapters are given in whole seconds, often by hand,
    and captions do not break where they begin.
    """
    upcoming = sorted(
        ((int(start), str(title)) for start, title in chapters), reverse=True, key=_start
    )
    offset = 0
    heading = ""
    for cue in cues:
        boundary = False
        while upcoming and 2 * upcoming[-1][0] <= cue.start + cue.end:
            heading, boundary = upcoming.pop()[1][:LONGEST_HEADING], True
        yield Block(
            text=cue.text,
            offset=offset,
            start=cue.start,
            end=cue.end,
            heading=heading,
            boundary=boundary,
            words=tuple(_word_starts(cue.text, cue.words, offset)),
        )
        offset += len(cue.text) + 1


def _start(chapter: tuple[int, str]) -> int:
    return chapter[0]


def _word_starts(text: str, words: Sequence[Word], offset: int) -> Iterator[tuple[int, int]]:
    """Yield the offset in the source's text and the start of each timed word in the cue's text."""
    position = 0
    for word in words:
        start = text.find(word.text, position, position + len(word.text) + _WORD_DISTANCE)
        if start >= 0 and word.text:
            yield offset + start, word.start
            position = start + len(word.text)

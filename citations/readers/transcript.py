"""The blocks of a recording: a cue each, with its times, and the video's chapters as boundaries."""

from collections.abc import Iterator, Sequence

from citations.text.blocks import Block
from transcripts.captions import from_json
from transcripts.cues import Cue, Word
from transcripts.models import Transcript

HEADING_LENGTH = 300  # characters of a chapter's title that are kept

_WORD_REACH = 40  # characters a word may stand away from the one before it


def read(transcript: Transcript) -> list[Block]:
    """Return a block for each cue; their texts are joined by blanks to make the source's text. Reads the video's chapters too."""
    cues = from_json(transcript.cues, word_times=transcript.word_times or None)
    return list(blocks(cues, transcript.video.chapters))


def blocks(cues: Sequence[Cue], chapters: Sequence[Sequence[int | str]] = ()) -> Iterator[Block]:
    """Yield a block for each cue (in time order); ``chapters`` are [start in ms, title].

    A cue belongs to the chapter that its middle lies in: chapters are given in whole seconds, often by hand, and captions do not break where they do.
    """
    waiting = sorted(
        ((int(start), str(title)) for start, title in chapters), reverse=True, key=_start
    )
    offset = 0
    heading = ""
    for cue in cues:
        begins = False
        while waiting and 2 * waiting[-1][0] <= cue.start + cue.end:
            heading, begins = waiting.pop()[1][:HEADING_LENGTH], True
        yield Block(
            text=cue.text,
            offset=offset,
            start=cue.start,
            end=cue.end,
            heading=heading,
            boundary=begins,
            words=tuple(_placed(cue.text, cue.words, offset)),
        )
        offset += len(cue.text) + 1


def _start(chapter: tuple[int, str]) -> int:
    return chapter[0]


def _placed(text: str, words: Sequence[Word], offset: int) -> Iterator[tuple[int, int]]:
    """Yield where in the source's text each timed word begins, and when; words that are not in the cue's text are left out."""
    place = 0
    for word in words:
        found = text.find(word.text, place, place + len(word.text) + _WORD_REACH)
        if found >= 0 and word.text:
            yield offset + found, word.start
            place = found + len(word.text)

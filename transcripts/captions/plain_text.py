"""Text without times: split into sentences with estimated times."""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from transcripts.captions.builder import (
    LAST_MOMENT,
    MAX_CUES,
    MAX_TEXT,
    Captions,
    CueDraft,
    settle,
    speaking_time,
)
from transcripts.captions.speech import clean, lines, pieces

_SENTENCE_END: Final = re.compile(r"(?<=[.!?\u2026])\s+|(?<=[\u3002\uff01\uff1f])")
_MAX_PIECE: Final = (
    240  # characters; an automatic transcript without punctuation has no other boundaries
)


def read_plain(text: str) -> Captions:
    """Make each sentence or line a cue, as if spoken from 0 at about 150 words a minute.

    The times only order the text. Speak faster if it would last beyond 72 h.
    """
    found = list(
        islice((piece for line in lines(text) for piece in _sentences(clean(line))), MAX_CUES + 1)
    )
    lengths = [speaking_time(piece) for piece in found]
    total = sum(lengths)
    longest = min(total, LAST_MOMENT)
    drafts, said = [], 0
    for piece, length in zip(found, lengths, strict=True):
        start, said = said, said + length
        drafts.append(CueDraft(start * longest // total, said * longest // total, piece))
    return Captions(cues=settle(drafts), format="txt")


def _sentences(line: str) -> Iterator[str]:
    """Split a line part by part: it may be the whole file."""
    for part in pieces(line, MAX_TEXT):
        for sentence in _SENTENCE_END.split(part):
            yield from pieces(sentence, _MAX_PIECE)

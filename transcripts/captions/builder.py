"""Turn cues as a file gives them, in any order and overlap, into cues that follow one another."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import attrgetter
from typing import Final, NamedTuple

from transcripts.captions.speech import clean, pieces
from transcripts.cues import Cue, Word
from transcripts.errors import CaptionsTooLarge, EmptyCaptions
from transcripts.timecodes import LONGEST_SECONDS

LAST_MOMENT: Final = LONGEST_SECONDS * 1000  # a later stamp is a mistake
MAX_CUES: Final = 300_000  # one a second for longer than any video
MAX_TEXT: Final = 5_000  # characters of one cue
WORD_TIME: Final = 400  # ms a word: 150 words a minute, an unhurried lecturer

_SIGN_TIME: Final = 200  # ms a sign, where writing has no blanks between words
_SIGNS: Final = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_LEAST_PAUSE: Final = 10_000  # ms


@dataclass(frozen=True, slots=True)
class Captions:
    """One parsed file: ordered cues without overlap, never empty, and what it says of itself."""

    cues: tuple[Cue, ...]
    format: str  # vtt, srt, sbv, json3, srv3, ttml, txt, json or panel
    language: str = ""
    id: str = ""
    title: str = ""
    youtube_id: str = ""  # eleven characters, or ""


class CueDraft(NamedTuple):
    """A cue as read: ``end`` is None where the format gives only starts; times may be anything.

    A tuple, because a long file makes hundreds of thousands of them.
    """

    start: int
    end: int | None
    text: str
    words: tuple[Word, ...] = ()


def settle(drafts: Iterable[CueDraft]) -> tuple[Cue, ...]:
    """Sort drafts; drop repeated ones and those outside 0 to 72 h; clip overlaps; split long ones.

    Raises ``EmptyCaptions`` if no text is left, and ``CaptionsTooLarge`` above ``MAX_CUES``.
    """
    # The first of several drafts with the same start and text counts.
    distinct: dict[tuple[int, str], CueDraft] = {}
    for draft in sorted(_usable(drafts), key=attrgetter("start")):
        distinct.setdefault((draft.start, draft.text), draft)
    kept = list(distinct.values())
    if not kept:
        raise EmptyCaptions(
            "There is no spoken text in it.",
            hint="Check that it is the caption file, and not an empty track.",
        )
    if len(kept) > MAX_CUES:
        raise CaptionsTooLarge(f"It has more than {MAX_CUES:,} cues.", hint="Split the file.")
    following = [draft.start for draft in kept[1:]] + [LAST_MOMENT]
    return tuple(
        cue for draft, limit in zip(kept, following, strict=True) for cue in _cues(draft, limit)
    )


def speaking_time(text: str) -> int:
    """Estimate how long (ms, at least one word's time) it takes to say a clean text."""
    signs = 0 if text.isascii() else len(_SIGNS.findall(text))
    words = len((_SIGNS.sub(" ", text) if signs else text).split())
    return max(WORD_TIME, words * WORD_TIME + signs * _SIGN_TIME)


def words_at(moment: int, text: str) -> list[Word]:
    """Give the words of a clean text, all at this moment (ms)."""
    return [Word(moment, word) for word in text.split()]


def _usable(drafts: Iterable[CueDraft]) -> Iterable[CueDraft]:
    for draft in drafts:
        if 0 <= draft.start < LAST_MOMENT and (text := clean(draft.text)):
            yield draft if text == draft.text else draft._replace(text=text)


def _cues(draft: CueDraft, limit: int) -> list[Cue]:
    end = draft.end
    if end is None:
        end = draft.start + max(_LEAST_PAUSE, 2 * speaking_time(draft.text))
    end = max(draft.start, min(end, limit))
    if len(draft.text) > MAX_TEXT:
        return _cut(draft, end)
    words = _within(draft.words, draft.start, end) if draft.words else ()
    return [Cue(draft.start, end, draft.text, words)]


def _within(words: Sequence[Word], start: int, end: int) -> tuple[Word, ...]:
    """Bring the times of the words into the cue, and in order."""
    found = []
    for word in words:
        start = max(start, min(word.start, end))
        found.append(word if word.start == start else Word(start, word.text))
    return tuple(found)


def _cut(draft: CueDraft, end: int) -> list[Cue]:
    """Divide the time by the length of the parts. Word times are dropped."""
    parts = pieces(draft.text, MAX_TEXT)
    total = sum(map(len, parts))
    borders = [draft.start]
    said = 0
    for part in parts:
        said += len(part)
        borders.append(draft.start + (end - draft.start) * said // total)
    return [
        Cue(start, stop, part) for (start, stop), part in zip(pairwise(borders), parts, strict=True)
    ]

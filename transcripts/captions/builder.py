"""Turn cues as a file gives them, in any order and overlap, into cues that follow one another."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from operator import attrgetter
from typing import Final, TypedDict, Unpack

from transcripts.captions.caption_errors import CaptionWarning, ClockRestarts, UntimedText
from transcripts.captions.drafts import CueDraft
from transcripts.captions.repetition import each_word_once
from transcripts.captions.speech import clean, pieces
from transcripts.core.errors import CaptionsTooLarge, EmptyCaptions
from transcripts.text.cues import Cue, Word
from transcripts.text.timecodes import MAX_SECONDS

LAST_MOMENT: Final = MAX_SECONDS * 1000  # a later stamp is a mistake
MAX_CUES: Final = 300_000  # one a second for longer than any video
MAX_TEXT: Final = 5_000  # characters of one cue
WORD_TIME: Final = 400  # ms a word: 150 words a minute, an unhurried lecturer

_SIGN_TIME: Final = 200  # ms a sign, where writing has no blanks between words
_SIGNS: Final = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_LEAST_PAUSE: Final = 10_000  # ms
_MINUTE: Final = 60_000  # ms; the overlaps that broadcasters leave are of seconds
_LEAST_PART: Final = 5  # cues; fewer, such as credits at 0:00, belong to the rest
_SHOWN: Final = 60  # characters of a text in a warning


class AboutCaptions(TypedDict, total=False):
    """What a file says of itself."""

    language: str
    id: str
    title: str
    youtube_id: str  # eleven characters, or ""


@dataclass(frozen=True, slots=True)
class Captions:
    """One parsed file: ordered cues without overlap, never empty, and what it says of itself."""

    cues: tuple[Cue, ...]
    format: str  # vtt, srt, sbv, json3, srv3, ttml, txt, json, panel, tsv, or one of pysubs2
    language: str = ""
    id: str = ""
    title: str = ""
    youtube_id: str = ""  # eleven characters, or ""
    warnings: tuple[CaptionWarning, ...] = ()


def settle(
    drafts: Iterable[CueDraft],
    *,
    format: str,
    warnings: tuple[CaptionWarning, ...] = (),
    **about: Unpack[AboutCaptions],
) -> Captions:
    """Sort drafts; drop repeated ones; tell of those outside 0 to 72 h; clip overlaps; split long
    ones; give each word once where captions build up.

    Where the clock starts again, drafts are sorted within their part, and each part begins when
    the one before has ended.
    Raises ``EmptyCaptions`` if no text is left, and ``CaptionsTooLarge`` above ``MAX_CUES`` and for
    parts of together more than 72 h.
    """
    # The first of several drafts with the same start and text counts.
    distinct: dict[tuple[int, str], CueDraft] = {}
    untimed: list[str] = []
    for draft in _spoken(drafts):
        if 0 <= draft.start < LAST_MOMENT:
            distinct.setdefault((draft.start, draft.text), draft)
        else:
            untimed.append(draft.text)
    parts = _parts(list(distinct.values()))
    settled = each_word_once(list(chain.from_iterable(_one_after_another(parts))))
    if not settled:
        raise EmptyCaptions(
            "None of its times can be read." if untimed else "There is no spoken text in it.",
            hint="Check that it is the caption file, and not an empty track.",
        )
    if untimed:
        warnings = (*warnings, UntimedText(len(untimed), untimed[0][:_SHOWN]))
    if len(parts) > 1:
        warnings = (*warnings, ClockRestarts(len(parts)))
    if len(settled) > MAX_CUES:
        raise CaptionsTooLarge(f"It has more than {MAX_CUES:,} cues.", hint="Split the file.")
    if settled[-1].start >= LAST_MOMENT:
        raise CaptionsTooLarge(
            "Its parts last more than 72 hours together.", hint="Split the file."
        )
    following = [draft.start for draft in settled[1:]] + [LAST_MOMENT]
    cues = (_cues(draft, limit) for draft, limit in zip(settled, following, strict=True))
    return Captions(tuple(chain.from_iterable(cues)), format, warnings=warnings, **about)


def speaking_time(text: str) -> int:
    """Estimate how long (ms, at least one word's time) it takes to say a clean text."""
    signs = 0 if text.isascii() else len(_SIGNS.findall(text))
    words = len((_SIGNS.sub(" ", text) if signs else text).split())
    return max(WORD_TIME, words * WORD_TIME + signs * _SIGN_TIME)


def _spoken(drafts: Iterable[CueDraft]) -> Iterable[CueDraft]:
    for draft in drafts:
        if text := clean(draft.text):
            yield draft if text == draft.text else draft._replace(text=text)


def _parts(drafts: list[CueDraft]) -> list[list[CueDraft]]:
    """Split drafts, as the file orders them, where the clock starts again.

    It does if every jump back by more than a minute leads into the first minute, and at least
    ``_LEAST_PART`` cues stand before it and after it. Otherwise the file is merely out of order.
    """
    jumps = [
        position
        for position, (before, draft) in enumerate(pairwise(drafts), start=1)
        if draft.start < before.start - _MINUTE
    ]
    borders = [0, *jumps, len(drafts)]
    if any(drafts[position].start >= _MINUTE for position in jumps) or any(
        stop - start < _LEAST_PART for start, stop in pairwise(borders)
    ):
        return [drafts]
    return [drafts[start:stop] for start, stop in pairwise(borders)]


def _one_after_another(parts: Iterable[list[CueDraft]]) -> Iterator[list[CueDraft]]:
    """Sort each part, and let its clock go on from the end of the part before."""
    offset = 0
    for part in parts:
        ordered = sorted(part, key=attrgetter("start"))
        yield [_later(draft, offset) for draft in ordered] if offset else ordered
        if ordered:
            last = ordered[-1]
            length = max((last.end or 0) - last.start, speaking_time(last.text))
            offset += last.start + min(length, _MINUTE)  # an end may be a mistake


def _later(draft: CueDraft, offset: int) -> CueDraft:
    return CueDraft(
        draft.start + offset,
        None if draft.end is None else draft.end + offset,
        draft.text,
        tuple(Word(word.start + offset, word.text) for word in draft.words),
    )


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
    placed = []
    for word in words:
        start = max(start, min(word.start, end))
        placed.append(word if word.start == start else Word(start, word.text))
    return tuple(placed)


def _cut(draft: CueDraft, end: int) -> list[Cue]:
    """Divide the time by the length of the parts. Word times are dropped."""
    parts = pieces(draft.text, MAX_TEXT)
    total = sum(map(len, parts))
    borders = [draft.start]
    position = 0
    for part in parts:
        position += len(part)
        borders.append(draft.start + (end - draft.start) * position // total)
    return [
        Cue(start, stop, part) for (start, stop), part in zip(pairwise(borders), parts, strict=True)
    ]

"""Turn cues as a file gives them, in any order and overlap, into cues that follow one another."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, pairwise
from operator import attrgetter
from typing import Final, TypedDict, Unpack

from transcripts.captions.caption_errors import (
    CaptionsTooLarge,
    CaptionWarning,
    ClockRestarts,
    EmptyCaptions,
    UntimedText,
)
from transcripts.captions.drafts import CueDraft, each_word_once
from transcripts.captions.speech import clean, pieces
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


def _spoken(drafts: Iterable[CueDraft]) -> Iterator[CueDraft]:
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
    spans = list(pairwise([0, *jumps, len(drafts)]))
    if any(drafts[position].start >= _MINUTE for position in jumps) or any(
        stop - start < _LEAST_PART for start, stop in spans
    ):
        return [drafts]
    return [drafts[start:stop] for start, stop in spans]


def _one_after_another(parts: Iterable[list[CueDraft]]) -> Iterator[list[CueDraft]]:
    """Sort each part, and let its clock go on from the end of the part before."""
    offset = 0
    for part in parts:
        ordered = sorted(part, key=attrgetter("start"))
        yield (
            ordered
            if not offset
            else [
                CueDraft(
                    start + offset,
                    None if end is None else end + offset,
                    text,
                    tuple(Word(word.start + offset, word.text) for word in words),
                )
                for start, end, text, words in ordered
            ]
        )
        if ordered:
            last = ordered[-1]
            length = max((last.end or 0) - last.start, speaking_time(last.text))
            offset += last.start + min(length, _MINUTE)  # an end may be a mistake


def _cues(draft: CueDraft, limit: int) -> list[Cue]:
    """Make a cue that ends by ``limit``, its words in order; of a long text several, which share
    the time by their lengths and drop the times of words.
    """
    start, end, text, words = draft
    if end is None:
        end = start + max(_LEAST_PAUSE, 2 * speaking_time(text))
    end = max(start, min(end, limit))
    if len(text) <= MAX_TEXT:
        placed, moment = [], start
        for word in words:
            moment = max(moment, min(word.start, end))
            placed.append(word if word.start == moment else Word(moment, word.text))
        return [Cue(start, end, text, tuple(placed))]
    parts = pieces(text, MAX_TEXT)
    total, position, cues = sum(map(len, parts)), 0, []
    for part in parts:
        begin, position = position, position + len(part)
        first, last = (start + (end - start) * place // total for place in (begin, position))
        cues.append(Cue(first, last, part))
    return cues

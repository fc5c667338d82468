"""Split the blocks of a source into overlapping chunks of about 500 characters at sentence ends.

Pure: the caller passes the vectors of words. Time and memory grow linearly with the text.
"""

import hashlib
import json
import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise, takewhile
from operator import itemgetter

from citations.text.blocks import Block, text_of
from citations.text.breakpoints import WordVectors, distances
from citations.text.sentences import Span, between_letters, split

WHOLE = 3  # times the target: a shorter document is one chunk

CHUNKING_VERSION = 3
"""Increase when the same blocks give other chunks: sources with an old digest are re-chunked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkDraft:
    """A chunk before it is stored; ``text`` is the source's in the span."""

    text: str
    span_start: int
    span_end: int
    start: int | None = None
    end: int | None = None
    page: int | None = None
    last_page: int | None = None
    heading: str = ""
    sentence_starts: tuple[tuple[int, int], ...] = ()  # character in the text, ms
    speaker: str = ""  # who alone says it

    @property
    def span(self) -> Span:
        return self.span_start, self.span_end


def digest_of(blocks: Sequence[Block]) -> str:
    """Return the SHA-256 (hex) of everything chunks are made from, and of this code's version."""
    digest = hashlib.sha256(str(CHUNKING_VERSION).encode())
    for block in blocks:
        place = (block.text, block.offset, block.start, block.end, block.page)
        digest.update(json.dumps((*place, block.heading, block.boundary, block.words)).encode())
    return digest.hexdigest()


def chunk(
    blocks: Sequence[Block],
    *,
    words: WordVectors | None = None,
    target: int = 500,
    overlap: int = 150,
    percentile: float = 80,
) -> list[ChunkDraft]:
    """Split blocks (in order) into chunks of about ``target`` characters (0.6 to 1.4 times that).

    Chunks end at sentence ends. With ``words``, they prefer to end at breakpoints: where the
    distance between the sentences before and behind is greater than beside it, and exceeds the
    ``percentile``-th percentile in the source. The percentile is taken over the source because few
    sections have enough sentences. Each cut depends only on the cut before and the next 1.4 ·
    ``target`` characters, so an edit changes few chunks. A document on one page of less than
    ``WHOLE`` times the target is one chunk: its parts say too little alone.

    A chunk starts with about ``overlap`` characters of the previous one: whole sentences, or words
    of a sentence that is too long. No chunk or overlap crosses a ``boundary``.

    Times come from the first and last word where word times are known (a word ends when the next
    one starts), else from the first and last cue. Within cues longer than ``LONG_CUE`` ms, such as
    pasted text, times are interpolated by characters.
    """
    if not 0 <= overlap < target:
        raise ValueError("the overlap must be at least 0 and less than the target")
    text = text_of(blocks)
    full = [block for block in blocks if block.text]
    if is_whole(full, most=WHOLE * target):
        span = _trimmed(text, 0, len(text))
        return [_draft(text, span, full[0], full[-1])] if span[0] < span[1] else []
    sections = _sections(text, blocks)
    if words is not None:
        _find_breaks(text, sections, words, percentile)
    offsets = [block.offset for block in full]
    drafts: list[ChunkDraft] = []
    for section in sections:
        for start, stop in _spans(text, section, target, overlap):
            first = full[bisect_right(offsets, start) - 1]
            last = full[bisect_right(offsets, stop - 1) - 1]
            drafts.append(_draft(text, (start, stop), first, last))
    return drafts


def is_whole(blocks: Sequence[Block], *, most: int) -> bool:
    """Tell whether blocks are a document of less than ``most`` characters on one page."""
    return (
        bool(blocks)
        and all(block.start is None and block.page == blocks[0].page for block in blocks)
        and blocks[-1].offset + len(blocks[-1].text) < most
    )


# Sections


@dataclass(frozen=True, slots=True)
class _Section:
    """The text between two boundaries: its sentences, and the offsets where its subject changes."""

    sentences: list[Span]
    breaks: set[int] = field(default_factory=set)

    @property
    def stop(self) -> int:
        return self.sentences[-1][1]


def _sections(text: str, blocks: Sequence[Block]) -> list[_Section]:
    pauses = pauses_of(blocks)
    borders = sorted({0, len(text), *(block.offset for block in blocks if block.boundary)})
    sections = []
    for start, stop in (_trimmed(text, *border) for border in pairwise(borders)):
        if start < stop:
            own = pauses[bisect_left(pauses, (start, 0)) : bisect_left(pauses, (stop, 0))]
            spans = split(text[start:stop], {offset - start: pause for offset, pause in own})
            sections.append(_Section([(start + first, start + last) for first, last in spans]))
    return sections


# Pauses

MIN_PAUSE = 150  # ms
LINE_PAUSE = 200  # ms that the end of a cue counts as: captions break lines where speech pauses
LETTER_TIME = 70  # ms to say a character


def pauses_of(blocks: Sequence[Block]) -> list[tuple[int, int]]:
    """Return the pauses worth using, as (offset, ms of silence before it), in order."""
    pauses: list[tuple[int, int]] = []
    previous: Block | None = None
    for block in blocks:
        if previous is not None and previous.end is not None and block.start is not None:
            pauses.append((block.offset, _pause_between(previous, block)))
        pauses += (
            (following, later - moment - LETTER_TIME * (following - offset))
            for (offset, moment), (following, later) in pairwise(block.words)
        )
        previous = block
    return [(offset, pause) for offset, pause in pauses if pause >= MIN_PAUSE]


def _pause_between(previous: Block, block: Block) -> int:
    start = block.start or 0
    if not previous.words:
        return max(0, start - (previous.end or 0)) + LINE_PAUSE
    offset, moment = previous.words[-1]
    speaking = LETTER_TIME * (previous.offset + len(previous.text) - offset)
    return (block.words[0][1] if block.words else start) - moment - speaking


# Breakpoints


def _find_breaks(
    text: str, sections: Sequence[_Section], words: WordVectors, percentile: float
) -> None:
    said = [[text[start:stop] for start, stop in section.sentences] for section in sections]
    every = [*distances(said, words)]
    threshold = nearest_rank([*chain.from_iterable(every)], percentile)
    for own, section in zip(every, sections, strict=True):
        beside = [0.0, *own, 0.0]
        for index, distance in enumerate(own):
            if distance > threshold and distance >= max(beside[index], beside[index + 2]):
                section.breaks.add(section.sentences[index][1])


# Sizes


MIN_SIZE, MAX_SIZE = 0.6, 1.4  # size of a chunk, as a multiple of the target
CRUMB = 0.3  # the shortest remainder at the end of a section


def _spans(text: str, section: _Section, target: int, overlap: int) -> Iterator[Span]:
    """Yield the chunks of a section with their overlap, stripped of blanks."""
    first = 0
    start = section.sentences[0][0]
    while first < len(section.sentences):
        stop = _stop(section, first, start, target)
        span = _trimmed(text, start, section.sentences[stop - 1][1])
        yield span
        if stop < len(section.sentences):
            start = _lead(text, section.sentences, stop, overlap=overlap, floor=span[0] + 1)
        first = stop


def _stop(section: _Section, first: int, start: int, target: int) -> int:
    """Return the index of the sentence before which the chunk from ``start`` ends."""
    sentences = section.sentences
    indexes = range(first, len(sentences))
    near = list(takewhile(lambda index: sentences[index][1] - start <= MAX_SIZE * target, indexes))
    fit = [
        index
        for index in near
        if sentences[index][1] - start >= MIN_SIZE * target
        and not 0 < section.stop - sentences[index][1] < CRUMB * target
    ]

    def cost(index: int) -> float:
        """Rate an end by its distance from the target; every breakpoint beats every other end."""
        stop = sentences[index][1]
        is_break = stop == section.stop or stop in section.breaks
        return abs(stop - start - target) / target + (0 if is_break else 1)

    if fit:
        return 1 + min(fit, key=cost)
    if section.stop - start <= (MAX_SIZE + CRUMB) * target:
        return len(sentences)
    return 1 + max(near, default=first)


def _lead(text: str, sentences: Sequence[Span], first: int, *, overlap: int, floor: int) -> int:
    """Return where a chunk starts, ``overlap`` characters before its own text or at ``floor``."""
    start = sentences[first][0]
    target = max(floor, start - overlap)
    if overlap == 0:
        return start
    earlier = takewhile(
        lambda begin: begin >= max(floor, start - 1.5 * overlap),
        (sentences[index][0] for index in range(first - 1, -1, -1)),
    )
    best = min(earlier, key=lambda begin: abs(begin - target), default=start)
    if start - best >= overlap / 3:
        return best
    blanks = _BLANKS.search(text, target, start)
    word = blanks.end() if blanks and blanks.end() < start else between_letters(text, target)
    return max(floor, word)


_BLANKS = re.compile(r"\s+")


def _trimmed(text: str, start: int, stop: int) -> Span:
    piece = text[start:stop]
    return start + len(piece) - len(piece.lstrip()), stop - len(piece) + len(piece.rstrip())


# Locations: a chunk lasts from cue to cue, so that a player shows its captions whole. A quote is
# placed at its own words: ``quotes.source_texts``.

LONG_CUE = 30_000  # ms


def _draft(text: str, span: Span, first: Block, last: Block) -> ChunkDraft:
    # When the first character is said, or the last known time before it; and when all before the
    # last one has been said, or the next known time.
    spoken = bisect_right(first.words, span[0], key=itemgetter(0))
    start = first.words[spoken - 1][1] if spoken else _interpolated(first, span[0], first.start)
    spoken = bisect_right(last.words, span[1] - 1, key=itemgetter(0))
    end = _interpolated(last, span[1], last.end)
    end = last.words[spoken][1] if spoken < len(last.words) else end
    return ChunkDraft(
        text=text[span[0] : span[1]],
        span_start=span[0],
        span_end=span[1],
        start=start,
        end=end if start is None or end is None else max(start, end),
        page=first.page,
        last_page=last.page,
        heading=first.heading,
    )


def _interpolated(block: Block, position: int, otherwise: int | None) -> int | None:
    """Return a time within a long cue without times of words."""
    start, end = block.start, block.end
    if block.words or start is None or end is None or end - start <= LONG_CUE:
        return otherwise
    return start + (end - start) * (position - block.offset) // len(block.text)


def nearest_rank(values: Sequence[float], percentile: float) -> float:
    """Return the smallest value that at least ``percentile`` percent of the values do not exceed.

    Never interpolates, so n changed values move the result by at most n ranks. No values: 0.
    """
    ordered = sorted(values)
    return ordered[max(0, math.ceil(len(ordered) * percentile / 100) - 1)] if ordered else 0.0

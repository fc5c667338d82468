"""Blocks of a source become chunks: sentences, a look at where the subject changes, and pieces of about 500 characters that overlap a little.

Pure: whoever calls passes the embedding function in. Time and memory grow linearly with the text.
"""

import hashlib
import json
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise, takewhile

from citations.text.blocks import Block, text_of
from citations.text.breakpoints import Embed, distances, nearest_rank
from citations.text.sentences import Span, between_letters, split

CHUNKING_VERSION = 1
"""Changes whenever the same blocks would give other chunks: it is part of the digest, so that sources are cut anew."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkDraft:
    """A chunk to be: ``text`` is exactly the source's text from ``span_start`` to ``span_end``."""

    text: str
    span_start: int
    span_end: int
    start: int | None = None
    end: int | None = None
    page: int | None = None
    last_page: int | None = None
    heading: str = ""


def digest_of(blocks: Sequence[Block]) -> str:
    """Return the SHA-256 (hex) of all that chunks are made from: texts, times, pages, headings, boundaries, and this code's version."""
    digest = hashlib.sha256(str(CHUNKING_VERSION).encode())
    for block in blocks:
        row = (
            block.text,
            block.offset,
            block.start,
            block.end,
            block.page,
            block.heading,
            block.boundary,
            block.words,
        )
        digest.update(json.dumps(row).encode())
    return digest.hexdigest()


def chunk(
    blocks: Sequence[Block],
    *,
    embed: Embed | None = None,
    target: int = 500,
    overlap: int = 150,
    percentile: float = 80,
) -> list[ChunkDraft]:
    """Cut blocks (in order) into chunks of about ``target`` characters, 0.6 to 1.4 times that wherever a section is long enough.

    A chunk ends where a sentence ends. With ``embed``, each sentence and its neighbours on either side are embedded (``BATCH`` windows a call), and
    chunks end, where their size allows, at breakpoints: where the cosine distance of two neighbouring windows is above the ``percentile``-th
    percentile of all distances in the source. Over the whole source rather than a section, as few sections have enough sentences to speak of
    percentiles; a change of n distances moves that threshold by at most n ranks, so it makes or unmakes at most n breakpoints elsewhere. Each cut is
    then chosen from the cut before it and the next 1.4 · ``target`` characters alone, so that chunks fall into step again a little after a change.

    A chunk begins with about ``overlap`` characters of the one before: whole sentences, or words where the sentence is too long. Neither
    chunk nor overlap reaches over a ``boundary``.

    Times are those of the first and the last word where word times are known, the end being the start of the word after it in the cue. Else they are
    those of the first and the last cue, whole; only within cues of more than ``LONG_CUE`` ms, which no caption has but pasted text may, they are
    interpolated by characters.
    """
    if not 0 <= overlap < target:
        raise ValueError("the overlap lies between nothing and the target")
    text = text_of(blocks)
    sections = _sections(text, blocks)
    if embed is not None:
        _find_breaks(text, sections, embed, percentile)
    sizes = _Sizes(target=target, overlap=overlap)
    where = _Where(blocks)
    return [
        where.draft(text, span) for section in sections for span in _spans(text, section, sizes)
    ]


# Sections


@dataclass(frozen=True, slots=True)
class _Section:
    """What lies between two boundaries: its sentences, and the offsets in the text where its subject changes."""

    sentences: list[Span]
    breaks: set[int] = field(default_factory=set)

    @property
    def stop(self) -> int:
        return self.sentences[-1][1]


def _sections(text: str, blocks: Sequence[Block]) -> list[_Section]:
    pauses = _pauses(blocks)
    borders = sorted({0, len(text), *(block.offset for block in blocks if block.boundary)})
    spans = (_trimmed(text, start, stop) for start, stop in pairwise(borders))
    return [
        _Section(_sentences(text, start, stop, pauses)) for start, stop in spans if start < stop
    ]


def _sentences(text: str, start: int, stop: int, pauses: Sequence[tuple[int, int]]) -> list[Span]:
    own = pauses[bisect_left(pauses, (start, 0)) : bisect_left(pauses, (stop, 0))]
    found = split(text[start:stop], {place - start: pause for place, pause in own})
    return [(start + first, start + last) for first, last in found]


# Pauses

LEAST_PAUSE = 150  # ms
LINE_PAUSE = 200  # ms that the end of a cue counts as: people who write captions break lines where speech may pause
LETTER_TIME = 70  # ms to say a character


def _pauses(blocks: Sequence[Block]) -> list[tuple[int, int]]:
    """Say how long (ms) the silence before the character at an offset is, where it is worth to be told; in order."""
    pauses: list[tuple[int, int]] = []
    before: Block | None = None
    for block in blocks:
        if before is not None and before.end is not None and block.start is not None:
            pauses.append((block.offset, _pause_between(before, block)))
        spoken = pairwise(block.words)
        pauses += (
            (following, later - moment - LETTER_TIME * (following - place))
            for (place, moment), (following, later) in spoken
        )
        before = block
    return [(place, pause) for place, pause in pauses if pause >= LEAST_PAUSE]


def _pause_between(before: Block, block: Block) -> int:
    start = block.start or 0
    if before.words:
        place, moment = before.words[-1]
        return (
            (block.words[0][1] if block.words else start)
            - moment
            - LETTER_TIME * (before.offset + len(before.text) - place)
        )
    return max(0, start - (before.end or 0)) + LINE_PAUSE


# Breakpoints


def _find_breaks(text: str, sections: Sequence[_Section], embed: Embed, percentile: float) -> None:
    """Note in each section where its subject changes."""
    found = distances(
        (window for section in sections for window in _windows(text, section.sentences)), embed
    )
    gaps: list[tuple[float, _Section, int]] = []
    for section in sections:
        own = list(islice(found, len(section.sentences)))
        gaps += (
            (distance, section, stop)
            for distance, (_, stop) in zip(own[:-1], section.sentences, strict=False)
        )
    threshold = nearest_rank([distance for distance, _, _ in gaps], percentile)
    for distance, section, stop in gaps:
        if distance > threshold:
            section.breaks.add(stop)


def _windows(text: str, sentences: Sequence[Span]) -> Iterator[str]:
    """Yield each sentence with the one before and the one after it."""
    last = len(sentences) - 1
    for place in range(last + 1):
        yield text[sentences[max(0, place - 1)][0] : sentences[min(place + 1, last)][1]].strip()


# Sizes


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sizes:
    target: int
    overlap: int

    @property
    def least(self) -> float:
        return 0.6 * self.target

    @property
    def most(self) -> float:
        return 1.4 * self.target

    @property
    def crumb(self) -> float:
        """What is not left alone at the end of a section."""
        return 0.3 * self.target


def _spans(text: str, section: _Section, sizes: _Sizes) -> Iterator[Span]:
    """Yield the chunks of a section, each with its overlap, blanks around it cut off."""
    first = 0
    start = section.sentences[0][0]
    while first < len(section.sentences):
        stop = _stop(section, first, start, sizes)
        span = _trimmed(text, start, section.sentences[stop - 1][1])
        yield span
        if stop < len(section.sentences):
            start = _lead(text, section.sentences, stop, overlap=sizes.overlap, floor=span[0] + 1)
        first = stop


def _stop(section: _Section, first: int, start: int, sizes: _Sizes) -> int:
    """Choose the sentence that the chunk from ``start`` ends before; its own text begins with the sentence ``first``."""
    sentences = section.sentences
    near = list(
        takewhile(
            lambda place: sentences[place][1] - start <= sizes.most, range(first, len(sentences))
        )
    )
    fit = [
        place
        for place in near
        if sentences[place][1] - start >= sizes.least
        and not 0 < section.stop - sentences[place][1] < sizes.crumb
    ]
    if fit:
        return 1 + min(fit, key=lambda place: _cost(section, sentences[place][1], start, sizes))
    if section.stop - start <= sizes.most + sizes.crumb:
        return len(sentences)
    return 1 + max(near, default=first)


def _cost(section: _Section, stop: int, start: int, sizes: _Sizes) -> float:
    """Rate an end: how far from the target, as a share of it; any breakpoint within the sizes is better than any other place."""
    is_break = stop == section.stop or stop in section.breaks
    return abs(stop - start - sizes.target) / sizes.target + (0 if is_break else 1)


def _lead(text: str, sentences: Sequence[Span], first: int, *, overlap: int, floor: int) -> int:
    """Say where a chunk starts whose own text begins with the sentence ``first``: about ``overlap`` characters before it, not before ``floor``."""
    start = sentences[first][0]
    wanted = max(floor, start - overlap)
    if overlap == 0:
        return start
    earlier = takewhile(
        lambda begin: begin >= max(floor, start - 1.5 * overlap),
        (sentences[place][0] for place in range(first - 1, -1, -1)),
    )
    best = min(earlier, key=lambda begin: abs(begin - wanted), default=start)
    return best if start - best >= overlap / 3 else max(floor, _word_start(text, wanted, start))


def _word_start(text: str, wanted: int, stop: int) -> int:
    blanks = _BLANKS.search(text, wanted, stop)
    return blanks.end() if blanks and blanks.end() < stop else between_letters(text, wanted)


_BLANKS = re.compile(r"\s+")


def _trimmed(text: str, start: int, stop: int) -> Span:
    piece = text[start:stop]
    return start + len(piece) - len(piece.lstrip()), stop - len(piece) + len(piece.rstrip())


# Places

LONG_CUE = 30_000  # ms


class _Where:
    """Finds the block that a character belongs to."""

    def __init__(self, blocks: Sequence[Block]) -> None:
        self._blocks = [block for block in blocks if block.text]
        self._offsets = [block.offset for block in self._blocks]

    def draft(self, text: str, span: Span) -> ChunkDraft:
        first, last = self._block(span[0]), self._block(span[1] - 1)
        start, end = _start(first, span[0]), _end(last, span[1])
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

    def _block(self, place: int) -> Block:
        return self._blocks[bisect_right(self._offsets, place) - 1]


def _start(block: Block, place: int) -> int | None:
    """Return when (ms) the character at ``place`` is said, or the moment before it that is known."""
    said = bisect_right(block.words, place, key=_offset)
    if said:
        return block.words[said - 1][1]
    return _interpolated(block, place) if not block.words and _is_long(block) else block.start


def _end(block: Block, place: int) -> int | None:
    """Return when (ms) all before ``place`` has been said, or the moment after it that is known."""
    said = bisect_right(block.words, place - 1, key=_offset)
    if said < len(block.words):
        return block.words[said][1]
    return _interpolated(block, place) if not block.words and _is_long(block) else block.end


def _offset(word: tuple[int, int]) -> int:
    return word[0]


def _is_long(block: Block) -> bool:
    return block.start is not None and block.end is not None and block.end - block.start > LONG_CUE


def _interpolated(block: Block, place: int) -> int:
    start, end = block.start or 0, block.end or 0
    return start + (end - start) * (place - block.offset) // len(block.text)

"""Blocks of a source become chunks: sentences, a look at where the subject changes, and pieces of about 500 characters that overlap a little.

Pure: whoever calls passes the embedding function in. Time and memory grow linearly with the text; numpy only multiplies the vectors.
"""

import hashlib
import json
import math
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise

import numpy as np
from numpy.typing import ArrayLike

from citations.sentences import Span, between_letters, split

CHUNKING_VERSION = 1
"""Changes whenever the same blocks would give other chunks: it is part of the digest, so that sources are cut anew."""

BATCH = 256  # windows that are embedded in one call

Embed = Callable[[list[str]], ArrayLike]
"""Gives for n texts n vectors of length 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A piece of a source's text that stands in one place: a cue with its milliseconds, a paragraph with its page. ``offset`` is where it starts in
    the source's text, in characters. ``boundary`` says that something new begins with it (a chapter, a heading): no chunk reaches over it.
    """

    text: str
    offset: int
    start: int | None = None
    end: int | None = None
    page: int | None = None
    heading: str = ""
    boundary: bool = False
    words: tuple[tuple[int, int], ...] = ()  # (character offset in the source's text, start in ms) of words whose times are known


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A chunk to be: ``text`` is exactly the source's text from ``span_start`` to ``span_end``."""

    text: str
    span_start: int
    span_end: int
    start: int | None = None
    end: int | None = None
    page: int | None = None
    last_page: int | None = None
    heading: str = ""


def text_of(blocks: Sequence[Block]) -> str:
    """Return the source's text: the blocks' texts at their offsets. One character between two blocks is a blank, more of them are line breaks."""
    parts: list[str] = []
    length = 0
    for block in blocks:
        gap = block.offset - length
        parts += (" " if gap == 1 else "\n" * gap, block.text)
        length = block.offset + len(block.text)
    return "".join(parts)


def digest_of(blocks: Sequence[Block]) -> str:
    """Return the SHA-256 (hex) of all that chunks are made from: texts, times, pages, headings, boundaries, and this code's version."""
    digest = hashlib.sha256(str(CHUNKING_VERSION).encode())
    for block in blocks:
        row = (block.text, block.offset, block.start, block.end, block.page, block.heading, block.boundary, block.words)
        digest.update(json.dumps(row).encode())
    return digest.hexdigest()


def chunk(blocks: Sequence[Block], *, embed: Embed | None = None, target: int = 500, overlap: int = 150, percentile: float = 80) -> list[Draft]:
    """Cut blocks (in order) into chunks of about ``target`` characters, 0.6 to 1.4 times that wherever a section is long enough.

    A chunk ends where a sentence ends. With ``embed``, each sentence and its neighbours on either side are embedded (``BATCH`` windows a call), and
    chunks end, where their size allows, at breakpoints: where the cosine distance of two neighbouring windows is above the ``percentile``-th
    percentile of all distances in the source. Over the whole source rather than a section, as few sections have enough sentences to speak of
    percentiles; a change of n distances moves that threshold by at most n ranks, so it makes or unmakes at most n breakpoints elsewhere. Each cut is
    then chosen from the cut before it and the next 1.4 · ``target`` characters, so that chunks fall into step again a little after a change.

    A chunk begins with about ``overlap`` characters of the one before: whole sentences, or words where the sentence is too long. Neither
    chunk nor overlap reaches over a ``boundary``.

    Times are those of the first and the last word where word times are known, the end being the start of the word after it in the cue. Else they are
    those of the first and the last cue, whole; only within cues of more than ``LONG_CUE`` ms, which no caption has but pasted text may, they are
    interpolated by characters.
    """
    text = text_of(blocks)
    sections = [_Section(start, stop) for start, stop in _sections(blocks, len(text)) if text[start:stop].strip()]
    pauses = _pauses(blocks)
    for section in sections:
        section.sentences = _sentences(text, section, pauses)
    if embed is not None:
        _find_breaks(text, sections, embed, percentile)
    sizes = _Sizes(target=target, overlap=overlap)
    where = _Where(blocks)
    return [where.draft(text, span) for section in sections for span in _spans(text, section, sizes)]


# Sections


@dataclass(slots=True)
class _Section:
    """What lies between two boundaries: its sentences, and where in the text a breakpoint is."""

    start: int
    stop: int
    sentences: list[Span] = field(default_factory=list)
    breaks: set[int] = field(default_factory=set)


def _sections(blocks: Sequence[Block], length: int) -> Iterator[Span]:
    starts = [0, *(block.offset for block in blocks if block.boundary), length]
    return ((start, stop) for start, stop in pairwise(starts) if start < stop)


def _sentences(text: str, section: _Section, pauses: dict[int, int]) -> list[Span]:
    own = {place - section.start: pauses[place] for place in range(section.start, section.stop) if place in pauses} if pauses else None
    return [(section.start + start, section.start + stop) for start, stop in split(text[section.start : section.stop], own)]


# Pauses

LEAST_PAUSE = 150  # ms
LINE_PAUSE = 200  # ms that the end of a cue counts as: people who write captions break lines where speech may pause
LETTER_TIME = 70  # ms to say a character


def _pauses(blocks: Sequence[Block]) -> dict[int, int]:
    """Say how long (ms) the silence before the character at an offset is, where it is worth to be told."""
    pauses = {}
    before: Block | None = None
    for block in blocks:
        if block.start is not None and before is not None and before.end is not None:
            pauses[block.offset] = _pause_between(before, block)
        for (place, moment), (following, later) in pairwise(block.words):
            pauses[following] = later - moment - LETTER_TIME * (following - place)
        before = block
    return {place: pause for place, pause in pauses.items() if pause >= LEAST_PAUSE}


def _pause_between(before: Block, block: Block) -> int:
    start = block.start or 0
    if before.words:
        place, moment = before.words[-1]
        return (block.words[0][1] if block.words else start) - moment - LETTER_TIME * (before.offset + len(before.text) - place)
    return max(0, start - (before.end or 0)) + LINE_PAUSE


# Breakpoints


def _find_breaks(text: str, sections: Sequence[_Section], embed: Embed, percentile: float) -> None:
    """Note in each section where its subject changes."""
    windows = (
        text[section.sentences[max(0, place - 1)][0] : section.sentences[min(place + 1, len(section.sentences) - 1)][1]].strip()
        for section in sections
        for place in range(len(section.sentences))
    )
    distances = _distances(windows, embed)
    found = [
        (distance, section, stop)
        for section in sections
        for distance, (_, stop) in zip(islice(distances, len(section.sentences)), section.sentences, strict=True)
        if stop < section.stop
    ]
    threshold = _nearest_rank([distance for distance, _, _ in found], percentile)
    for distance, section, stop in found:
        if distance > threshold:
            section.breaks.add(stop)


def _distances(windows: Iterator[str], embed: Embed) -> Iterator[float]:
    """Yield for each window the cosine distance to the next one (of the last: 0), rounded so that noise in the last digits decides nothing."""
    last = None
    while batch := list(islice(windows, BATCH)):
        vectors = np.asarray(embed(batch), dtype=np.float32)
        if len(vectors) != len(batch):
            raise ValueError(f"{len(vectors)} vectors for {len(batch)} texts")
        if last is not None:
            vectors = np.concatenate([last, vectors])
        for cosine in np.einsum("ij,ij->i", vectors[:-1], vectors[1:]).tolist():
            yield round(1 - cosine, 4)
        last = vectors[-1:]
    yield 0.0


def _nearest_rank(values: Sequence[float], percentile: float) -> float:
    """Return the smallest value that at least ``percentile`` percent of the values do not exceed; no value between two is made up."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(len(ordered) * percentile / 100) - 1)] if ordered else 0.0


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
    while first < len(section.sentences):
        start = _lead(text, section.sentences, first, sizes.overlap)
        stop = _stop(section, first, start, sizes)
        yield _trimmed(text, start, section.sentences[stop - 1][1])
        first = stop


def _stop(section: _Section, first: int, start: int, sizes: _Sizes) -> int:
    """Choose the sentence that the chunk from ``start`` ends before; its own text begins with the sentence ``first``."""
    sentences = section.sentences
    best = (math.inf, first + 1)
    for place in range(first, len(sentences)):
        stop = sentences[place][1]
        left = section.stop - stop
        if stop - start > sizes.most:
            break
        if stop - start >= sizes.least and (not left or left >= sizes.crumb):
            best = min(best, (_cost(section, stop, start, sizes), place + 1))
    else:
        return best[1] if best[0] < math.inf else len(sentences)
    if best[0] < math.inf:
        return best[1]
    return len(sentences) if section.stop - start <= sizes.most + sizes.crumb else max(first + 1, place)


def _cost(section: _Section, stop: int, start: int, sizes: _Sizes) -> float:
    """Rate an end: how far from the target, as a share of it; any breakpoint within the sizes is better than any other place."""
    is_break = stop == section.stop or stop in section.breaks
    return abs(stop - start - sizes.target) / sizes.target + (0 if is_break else 1)


def _lead(text: str, sentences: Sequence[Span], first: int, overlap: int) -> int:
    """Say where a chunk starts whose own text begins with the sentence ``first``: about ``overlap`` characters before it."""
    start = sentences[first][0]
    wanted = start - overlap
    if not first or overlap <= 0:
        return start
    best = start
    place = first - 1
    while place >= 0 and sentences[place][0] >= start - 1.5 * overlap:
        best = min(best, sentences[place][0], key=lambda begin: abs(begin - wanted))
        place -= 1
    if start - best >= overlap / 3:
        return best
    return _word_start(text, max(wanted, sentences[0][0]), start)


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

    def draft(self, text: str, span: Span) -> Draft:
        first, last = self._block(span[0]), self._block(span[1] - 1)
        start, end = _start(first, span[0]), _end(last, span[1])
        return Draft(
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

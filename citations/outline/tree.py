"""A source in levels of detail: paragraphs, sections, the whole, each told in a few of its own sentences. Pure.

Chunks (level 0) become groups of a few (1), groups become sections (2), and the sections the document (3). Structure decides first: no group reaches over a
heading, a chapter or a long silence. Within it, neighbours are put together so that they are as much alike as can be. Time and memory grow linearly.
"""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from citations.text import sentences
from citations.text.key_sentences import (
    GISTS,
    Gist,
    Sentence,
    Words,
    gist,
    sentences_of,
    titles,
    weigh,
)

GROUP, SECTION, DOCUMENT = 1, 2, 3

LONGEST_TITLE: Final = 300  # characters
HEADINGS_NAMED: Final = 3  # in the title of a section that several short ones were put into
SILENCE: Final = 20_000  # ms after which something new begins
TARGET, MOST = 4, 6  # chunks in a group, and groups in a section
SHORT: Final = 3  # chunks; what is shorter between two headings is put together with its neighbours
TOGETHER: Final = 8  # chunks that such a section has at most
WORD_DIMENSIONS: Final = 256

Split: TypeAlias = Callable[[str], list[sentences.Span]]
Range: TypeAlias = tuple[int, int]  # places [first, last)
Vectors: TypeAlias = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class OutlineChunk:
    """A chunk: ``text`` is the source's from ``span_start`` to ``span_end``, ``vector`` of length 1; times in ms."""

    ordinal: int
    text: str
    span_start: int
    span_end: int
    start: int | None = None
    end: int | None = None
    page: int | None = None
    last_page: int | None = None
    heading: str = ""
    vector: NDArray[Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeDraft:
    """A node to be. ``text`` are the sentences at ``spans`` of the source's text, joined by blanks; ``parent`` is the ordinal of the one a level above.

    ``digest`` is of the text and the headings below it, wherever they stand: equal ones tell of the same. ``vector``, of length 1, is the direction of the
    mean of its chunks'; None where one of them has none. A document has no title: whoever asks knows it.
    """

    level: int
    ordinal: int
    parent: int | None
    title: str
    text: str
    spans: tuple[sentences.Span, ...]
    first: int
    last: int
    span_start: int
    span_end: int
    start: int | None
    end: int | None
    page: int | None
    last_page: int | None
    digest: bytes
    vector: Vectors | None


def build(
    pieces: Sequence[OutlineChunk],
    *,
    split: Split = sentences.split,
    stops: frozenset[str] = frozenset(),
) -> list[NodeDraft]:
    """Make the tree of a source from its chunks, in order: the document, its sections, their groups. Nothing of nothing.

    ``stops`` are words that say nothing. The tree depends on nothing but what is given, so that a tree built anew is equal.
    """
    if not pieces:
        return []
    source = _Source(pieces, split, stops)
    groups, sections = _shape(pieces, source.likeness)
    nodes = [source.group(number, group) for number, group in enumerate(groups)]
    upper = [
        source.above(SECTION, number, nodes[first:last])
        for number, (first, last) in enumerate(sections)
    ]
    document = source.above(DOCUMENT, 0, upper)
    parents = [number for number, (first, last) in enumerate(sections) for _ in range(first, last)]
    return [
        document.draft("", None),
        *(node.draft(name, 0) for node, name in zip(upper, _titles(upper), strict=True)),
        *(
            node.draft(name, parent)
            for node, name, parent in zip(nodes, _titles(nodes), parents, strict=True)
        ),
    ]


# Shape


def _shape(pieces: Sequence[OutlineChunk], likeness: Vectors) -> tuple[list[Range], list[Range]]:
    """Return the groups as places of chunks, and the sections as places of groups."""
    groups: list[Range] = []
    sections: list[Range] = []
    for runs in _put_together(_runs(pieces)):
        before = len(groups)
        for first, last in runs:
            groups += _cut(likeness[first:last], offset=first)
        own = groups[before:]
        is_one = len(runs) > 1 or (len(own) <= MOST and bool(pieces[runs[0][0]].heading))
        sections += (
            [(before, len(groups))] if is_one else _cut(_directions(likeness, own), offset=before)
        )
    return groups, sections


def _runs(pieces: Sequence[OutlineChunk]) -> list[Range]:
    """Return what lies between two headings or silences."""
    starts = [
        place
        for place, (before, piece) in enumerate(pairwise(pieces), start=1)
        if _begins(before, piece)
    ]
    return [*pairwise([0, *starts, len(pieces)])]


def _begins(before: OutlineChunk, piece: OutlineChunk) -> bool:
    is_late = (
        before.end is not None and piece.start is not None and piece.start - before.end >= SILENCE
    )
    return is_late or piece.heading != before.heading


def _put_together(runs: Sequence[Range]) -> list[list[Range]]:
    """Put short runs together with the short ones beside them; a long one stays by itself."""
    found: list[list[Range]] = []
    for is_short, neighbours in groupby(runs, key=_is_short):
        for run in neighbours:
            if (
                is_short
                and found
                and _is_short(found[-1][-1])
                and run[1] - found[-1][0][0] <= TOGETHER
            ):
                found[-1].append(run)
            else:
                found.append([run])
    return found


def _is_short(run: Range) -> bool:
    return run[1] - run[0] < SHORT


def _cut(vectors: Vectors, *, offset: int) -> list[Range]:
    """Cut neighbours into clusters of at most ``MOST``, so that the squared distances from their means and the distances from the usual size are least.

    The best of all such cuts, by dynamic programming. Each cluster more makes the sum of squares less by what two neighbours usually are apart: that is taken
    as the unit, and added for each cluster.
    """
    count = len(vectors)
    costs = _costs(vectors)
    best, came = [0.0, *[np.inf] * count], [0] * (count + 1)
    for stop in range(1, count + 1):
        for size in range(1, min(MOST, stop) + 1):
            cost = best[stop - size] + costs[size - 1][stop - size]
            if cost < best[stop] - 1e-6:
                best[stop], came[stop] = cost, size
    stops = [count]
    while stops[-1] > 0:
        stops.append(stops[-1] - came[stops[-1]])
    return [(offset + first, offset + last) for first, last in pairwise(reversed(stops))]


def _costs(vectors: Vectors) -> list[list[float]]:
    """Return for each size, from 1, what a cluster of so many from each place on costs."""
    unit = (
        max(0.05, 1 - float(np.mean(np.einsum("ij,ij->i", vectors[:-1], vectors[1:]))))
        if len(vectors) > 1
        else 1.0
    )
    sums = np.zeros_like(vectors)
    found = []
    for size in range(1, min(MOST, len(vectors)) + 1):
        sums = sums[: len(vectors) - size + 1] + vectors[size - 1 :]
        within = size - np.einsum("ij,ij->i", sums, sums) / size
        found.append((within / unit + 1 + ((size - TARGET) / TARGET) ** 2).tolist())
    return found


def _directions(vectors: Vectors, ranges: Sequence[Range]) -> Vectors:
    return np.stack([_direction(vectors[first:last]) for first, last in ranges])


def _direction(vectors: Vectors) -> Vectors:
    mean = vectors.mean(axis=0, dtype=np.float32)
    length = float(np.linalg.norm(mean))
    return np.asarray(mean / (length or 1.0), dtype=np.float32)


# Nodes


@dataclass(frozen=True, slots=True, kw_only=True)
class _Node:
    level: int
    ordinal: int
    places: Range
    pieces: Sequence[OutlineChunk]
    words: Words
    gist: Gist
    digest: bytes
    vector: Vectors | None

    def draft(self, name: str, parent: int | None) -> NodeDraft:
        """Give it its name, and its place in the tree."""
        first, last = self.pieces[0], self.pieces[-1]
        return NodeDraft(
            level=self.level,
            ordinal=self.ordinal,
            parent=parent,
            title=name[:LONGEST_TITLE],
            text=self.gist.text,
            spans=self.gist.spans,
            first=first.ordinal,
            last=last.ordinal,
            span_start=first.span_start,
            span_end=max(last.span_end, first.span_end),
            start=first.start,
            end=last.end,
            page=first.page,
            last_page=last.last_page,
            digest=self.digest,
            vector=self.vector,
        )


class _Source:
    """What nodes are made from: the sentences of each chunk that the one before does not have, and how much their words say."""

    def __init__(self, pieces: Sequence[OutlineChunk], split: Split, stops: frozenset[str]) -> None:
        self._pieces = pieces
        self._own = _own_texts(pieces)
        raw = [
            [
                found
                for found in sentences_of(text, offset, split=split, stops=stops)
                if piece.page is None or not sentences.is_listing(found[0])
            ]
            for piece, (text, offset) in zip(pieces, self._own, strict=True)
        ]
        self._rarity, self._sentences = weigh(raw)
        self._vectors = _stacked(pieces)
        self.likeness: Vectors = self._vectors if self._vectors is not None else self._by_words()

    def group(self, ordinal: int, places: Range) -> _Node:
        """Make a group of chunks."""
        first, last = places
        found = [sentence for own in self._sentences[first:last] for sentence in own]
        made_from = [
            (piece.heading, text)
            for piece, (text, _) in zip(
                self._pieces[first:last], self._own[first:last], strict=True
            )
        ]
        return self._node(
            GROUP,
            ordinal,
            places,
            found,
            [sentence.words for sentence in found],
            [repr(made_from).encode("utf-8", "replace")],
        )

    def above(self, level: int, ordinal: int, children: Sequence[_Node]) -> _Node:
        """Make a node of those below it; its sentences are some of theirs."""
        places = children[0].places[0], children[-1].places[1]
        found = [sentence for child in children for sentence in child.gist.sentences]
        return self._node(
            level,
            ordinal,
            places,
            found,
            [child.words for child in children],
            [child.digest for child in children],
        )

    def _node(
        self,
        level: int,
        ordinal: int,
        places: Range,
        found: Sequence[Sentence],
        words: Iterable[Words],
        made_from: Iterable[bytes],
    ) -> _Node:
        first, last = places
        together = Words()
        for some in words:
            together.update(some)
        return _Node(
            level=level,
            ordinal=ordinal,
            places=places,
            pieces=self._pieces[first:last],
            words=together,
            gist=gist(found or [self._beginning(first)], together, self._rarity, *GISTS[level]),
            digest=hashlib.sha256(b"".join([bytes([level]), *made_from])).digest(),
            vector=None if self._vectors is None else _direction(self._vectors[first:last]),
        )

    def _beginning(self, place: int) -> Sentence:
        """Stand in for the sentences of a chunk that has none of its own."""
        piece = self._pieces[place]
        return Sentence(text=piece.text, start=piece.span_start, words=Words(), length=1.0)

    def _by_words(self) -> Vectors:
        """Stand in for vectors that are not there: the words of each chunk by how much they say, hashed."""
        rows = np.zeros((len(self._sentences), WORD_DIMENSIONS), dtype=np.float32)
        for row, own in zip(rows, self._sentences, strict=True):
            for sentence in own:
                for word, count in sentence.words.items():
                    row[
                        hashlib.blake2b(word.encode("utf-8", "replace"), digest_size=1).digest()[0]
                    ] += count * self._rarity.get(word, 0.0)
        return np.asarray(
            rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9), dtype=np.float32
        )


def _own_texts(pieces: Sequence[OutlineChunk]) -> list[tuple[str, int]]:
    """Return what each chunk does not share with the one before, and where it starts in the source's text."""
    found = []
    seen = 0
    for piece in pieces:
        shared = min(len(piece.text), max(0, seen - piece.span_start))
        found.append((piece.text[shared:], piece.span_start + shared))
        seen = max(seen, piece.span_end)
    return found


def _stacked(pieces: Sequence[OutlineChunk]) -> Vectors | None:
    if any(piece.vector is None for piece in pieces):
        return None
    return np.stack([np.asarray(piece.vector, dtype=np.float32) for piece in pieces])


def _titles(nodes: Sequence[_Node]) -> list[str]:
    """Name nodes by their headings, or by the words that tell them from others of their level."""
    return [
        _headings(node.pieces) or other
        for node, other in zip(nodes, titles([node.words for node in nodes]), strict=True)
    ]


def _headings(pieces: Sequence[OutlineChunk]) -> str:
    return " · ".join(
        [*dict.fromkeys(piece.heading for piece in pieces if piece.heading)][:HEADINGS_NAMED]
    )

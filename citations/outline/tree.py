"""Build the summary tree of a source: groups, sections and the document, each in key sentences.
Pure.

Chunks (level 0) form groups (1), groups form sections (2), and sections the document (3). Structure
comes first: no group crosses a heading, a chapter or a long silence. Within it, neighbours are
grouped by similarity. Time and memory grow linearly.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from citations.outline.partition import MAX_SIZE, Range, Vectors, partition
from citations.text import sentences
from citations.text.key_sentences import Embed, Sentence, centrality, gist, sentences_of, weigh
from citations.text.phrases import Cosines, Wording
from citations.text.statements import clauses, has_stops, introduces
from citations.text.words import UNKNOWN, FunctionWords, Words, words_of

GROUP, SECTION, DOCUMENT = 1, 2, 3

MAX_TITLE: Final = 300  # characters
HEADINGS_NAMED: Final = 3  # in the title of a section that joins several short ones
FEW_PLACES: Final = 2  # that may have the same heading without making it a common one
SILENCE: Final = 20_000  # ms that end a group
MIN_GROUP: Final = 2  # chunks of a group: a single one is half a minute, and has no name of its own
SHORT_RUN: Final = 3  # chunks; shorter runs are joined with their neighbours
MAX_SHORT_SECTION: Final = 8  # chunks of such a section, at most
MAX_INTRODUCTION: Final = 6  # chunks
INTRODUCING: Final = 2.0  # times that the fitness of a sentence grows that says what will come
WORD_DIMENSIONS: Final = 256

Rate: TypeAlias = Callable[[Sequence[Sentence]], Sequence[float]]
Split: TypeAlias = Callable[[str], list[sentences.Span]]


@dataclass(frozen=True, slots=True, kw_only=True)
class OutlineChunk:
    """A chunk of a source's text; ``vector`` has length 1, times are in ms."""

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
    """A node before it is stored. ``text`` is the sentences at ``spans``, joined by spaces;
    ``parent`` is an ordinal one level above.

    ``digest`` covers the text and headings below, wherever they are: nodes of equal digest
    summarize the same. ``vector`` is the normalized mean of the chunks' vectors, None where one is
    missing. A document has no title.
    """

    level: int
    ordinal: int
    parent: int | None = None
    title: str = ""
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
    function_words: FunctionWords = UNKNOWN,
    language: str = "",
    title: str = "",
    formula: int = 0,
    others: Sequence[str] = (),
    embed: Embed | None = None,
) -> list[NodeDraft]:
    """Build the tree of a source from its chunks, in order; nothing from no chunks.

    ``stops`` are words without meaning, in the ``language`` of the ``function_words``; the
    ``title`` helps to find the sentence that says what the source is about. Its first ``formula``
    characters are nobody's subject, and words that are common in passages of ``others`` name
    little. ``embed`` gives phrases vectors of length 1 in the space of the chunks', to choose names
    by. The tree depends on the arguments alone, so a rebuilt one is equal.
    """
    if not pieces:
        return []
    source = _Source(pieces, split, stops, function_words, language, title, formula, others, embed)
    groups, sections = _shape(pieces, source.likeness)
    nodes = [source.group(number, group) for number, group in enumerate(groups)]
    upper = [
        source.above(SECTION, number, nodes[first:last])
        for number, (first, last) in enumerate(sections)
    ]
    document = source.above(DOCUMENT, 0, upper)
    parents = [number for number, (first, last) in enumerate(sections) for _ in range(first, last)]
    titles = [*source.titles(upper), *source.titles(nodes)]
    below = zip([*upper, *nodes], titles, [0] * len(upper) + parents, strict=True)
    return [
        document.draft,
        *(
            replace(node.draft, title=title[:MAX_TITLE], parent=parent)
            for node, title, parent in below
        ),
    ]


def _shape(pieces: Sequence[OutlineChunk], likeness: Vectors) -> tuple[list[Range], list[Range]]:
    """Return the groups as ranges of chunks, and the sections as ranges of groups."""
    joined: list[list[Range]] = []  # runs, short ones with their short neighbours
    for run in _runs(pieces):
        before = joined[-1] if joined else []
        are_short = before and all(stop - start < SHORT_RUN for start, stop in (before[-1], run))
        if are_short and run[1] - before[0][0] <= MAX_SHORT_SECTION:
            before.append(run)
        else:
            joined.append([run])
    groups: list[Range] = []
    sections: list[Range] = []
    for runs in joined:
        start = len(groups)
        for first, last in runs:
            groups += partition(likeness[first:last], offset=first, least=MIN_GROUP)
        own = groups[start:]
        if len(runs) > 1 or (len(own) <= MAX_SIZE and pieces[runs[0][0]].heading):
            sections.append((start, len(groups)))
        else:
            means = [_direction(likeness[first:last]) for first, last in own]
            sections += partition(np.stack(means), offset=start)
    return groups, sections


def _runs(pieces: Sequence[OutlineChunk]) -> list[Range]:
    """Return the runs of chunks between two headings or silences."""
    starts = [
        index
        for index, (previous, piece) in enumerate(pairwise(pieces), start=1)
        if piece.heading != previous.heading
        or (previous.end is not None and (piece.start or 0) - previous.end >= SILENCE)
    ]
    return [*pairwise([0, *starts, len(pieces)])]


def _direction(vectors: Vectors) -> Vectors:
    mean = vectors.mean(axis=0, dtype=np.float32)
    length = float(np.linalg.norm(mean))
    return np.asarray(mean / (length or 1.0), dtype=np.float32)


class _Node(NamedTuple):
    """A node without its title and its parent, its chunks, words and sentences."""

    draft: NodeDraft
    chunks: Range
    words: Words
    sentences: Sequence[Sentence]


class _Source:
    """What each chunk does not share with the previous one, and the rarity of its words."""

    def __init__(
        self,
        pieces: Sequence[OutlineChunk],
        split: Split,
        stops: frozenset[str],
        function_words: FunctionWords,
        language: str,
        title: str,
        formula: int,
        others: Sequence[str],
        embed: Embed | None,
    ) -> None:
        self._embed, self._phrases = embed, dict[str, Vectors]()
        self._title, self._subject = title, words_of(title, stops)
        self._pieces, self._function_words = pieces, function_words
        # What each chunk does not share with the one before, and where that begins.
        texts, offsets, end = list[str](), list[int](), formula
        for piece in pieces:
            shared = min(len(piece.text), max(0, end - piece.span_start))
            texts.append(piece.text[shared:])
            offsets.append(piece.span_start + shared)
            end = max(end, piece.span_end)
        self._texts = texts
        self._places = Counter(pieces[first].heading for first, _ in _runs(pieces))
        if function_words.opening and not has_stops(texts, split):
            split = partial(clauses, opening=function_words.opening)
        leading = function_words.leading
        rows = [
            [
                row
                for row in sentences_of(text, offset, split=split, stops=stops, leading=leading)
                if piece.page is None or not sentences.is_listing(row.text)
            ]
            for piece, text, offset in zip(pieces, texts, offsets, strict=True)
        ]
        self._rarity, self._sentences = weigh(rows, function_words)
        self._wording = Wording(
            texts, stops=stops, function_words=function_words, language=language, others=others
        )
        vectors = [piece.vector for piece in pieces if piece.vector is not None]
        self._vectors = np.stack(vectors, dtype=np.float32) if len(vectors) == len(pieces) else None
        self.likeness: Vectors = self._vectors if self._vectors is not None else self._by_words()

    def group(self, ordinal: int, chunks: Range) -> _Node:
        own = slice(*chunks)
        among = [sentence for part in self._sentences[own] for sentence in part]
        texts = zip(self._pieces[own], self._texts[own], strict=True)
        origin = repr([(piece.heading, text) for piece, text in texts])
        words = [sentence.words for sentence in among]
        return self._node(GROUP, ordinal, chunks, among, words, [origin.encode("utf-8", "replace")])

    def above(self, level: int, ordinal: int, children: Sequence[_Node]) -> _Node:
        """Make a node from its children; a section selects from all of its sentences."""
        chunks = children[0].chunks[0], children[-1].chunks[1]
        if level == SECTION:
            among = [sentence for part in self._sentences[slice(*chunks)] for sentence in part]
        else:
            among = [sentence for child in children for sentence in child.sentences]
        words = [child.words for child in children]
        origins = [child.draft.digest for child in children]
        return self._node(level, ordinal, chunks, among, words, origins)

    def titles(self, nodes: Sequence[_Node]) -> list[str]:
        """Name nodes by up to ``HEADINGS_NAMED`` headings, or by their phrases.

        A heading that many places have comes last: “Definition” says little.
        """
        headings: list[list[str]] = []
        for node in nodes:
            pieces = self._pieces[slice(*node.chunks)]
            own = list(dict.fromkeys(piece.heading for piece in pieces if piece.heading))
            own.sort(key=lambda heading: self._places[heading] > FEW_PLACES)
            headings.append(own[:HEADINGS_NAMED])
        pairs = zip(nodes, headings, strict=True)
        cosines = [None if own else self._cosines(node.draft.vector) for node, own in pairs]
        names = self._wording.names((node.chunks for node in nodes), cosines)
        return [" · ".join(own or [name]) for own, name in zip(headings, names, strict=True)]

    def _cosines(self, vector: Vectors | None) -> Cosines | None:
        """Return what compares phrases with a node's vector, None where nothing does."""
        embed = self._embed
        if embed is None or vector is None:
            return None

        def compare(phrases: Sequence[str]) -> list[float]:
            unknown = [phrase for phrase in phrases if phrase not in self._phrases]
            if unknown:
                self._phrases.update(zip(unknown, embed(unknown), strict=True))
            return [float(self._phrases[phrase] @ vector) for phrase in phrases]

        return compare

    def _node(
        self,
        level: int,
        ordinal: int,
        chunks: Range,
        among: Sequence[Sentence],
        words: Iterable[Words],
        origins: Iterable[bytes],
    ) -> _Node:
        first, last = self._pieces[chunks[0]], self._pieces[chunks[1] - 1]
        total = Words()
        for counts in words:
            total.update(counts)
        # A chunk without sentences of its own stands for them.
        beginning = Sentence(text=first.text, start=first.span_start, words=Words())
        summary = gist(
            among or [beginning],
            total,
            self._rarity,
            level=level,
            introduction=self._introduction() if level == DOCUMENT else (),
            rate=self._centrality(),
        )
        draft = NodeDraft(
            level=level,
            ordinal=ordinal,
            text=summary.text,
            spans=summary.spans,
            first=first.ordinal,
            last=last.ordinal,
            span_start=first.span_start,
            span_end=max(last.span_end, first.span_end),
            start=first.start,
            end=last.end,
            page=first.page,
            last_page=last.last_page,
            digest=hashlib.sha256(b"".join([bytes([level]), *origins])).digest(),
            vector=None if self._vectors is None else _direction(self._vectors[slice(*chunks)]),
        )
        return _Node(draft, chunks, total, summary.sentences)

    def _introduction(self) -> list[Sentence]:
        """Return the sentences of a source's beginning, which tell what it is about."""
        chunks = min(len(self._pieces), MAX_INTRODUCTION, len(self._pieces) // 20 + 1)
        introduction = []
        for sentence in (sentence for part in self._sentences[:chunks] for sentence in part):
            shared = sum(word in self._subject for word in sentence.words)
            factor = INTRODUCING if introduces(sentence.text, self._function_words) else 1.0
            fitness = (1 + shared) * factor * sentence.fitness
            introduction.append(replace(sentence, fitness=fitness))
        return introduction

    def _centrality(self) -> Rate | None:
        """Return what tells how much sentences say about the whole; None where nothing does."""
        if (embed := self._embed) is None or self._vectors is None:
            return None
        whole = _direction(self._vectors)
        return lambda openings: centrality(
            [sentence.text for sentence in openings], whole=whole, title=self._title, embed=embed
        )

    def _by_words(self) -> Vectors:
        """Replace missing vectors by hashed word weights."""
        rows = np.zeros((len(self._sentences), WORD_DIMENSIONS), dtype=np.float32)
        for row, own in zip(rows, self._sentences, strict=True):
            for sentence in own:
                for word, count in sentence.words.items():
                    code = hashlib.blake2b(word.encode("utf-8", "replace"), digest_size=1).digest()
                    row[code[0]] += count * self._rarity.get(word, 0.0)
        lengths = np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
        return np.asarray(rows / lengths, dtype=np.float32)

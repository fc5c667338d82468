"""Sources' texts in memory, with the time or page of each character, in a cache of limited size."""

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from django.db.models import QuerySet

from citations.caches import Cache
from citations.models import Document, Source
from citations.passages import Locator
from citations.quotes.anchoring import AROUND, SelectedText, find_selected
from citations.quotes.matching import PreparedText, prepare
from citations.readers import source_blocks
from citations.text import chunking as text_chunking
from citations.text import sentences
from citations.text.blocks import Block, share_of_cue, text_of
from citations.text.sentences import Span
from citations.text.speakers import Turns
from transcripts.models import Transcript

MAX_BYTES: Final = 128 << 20

CACHE = Cache(MAX_BYTES)
_BLANK = re.compile(r"\s")
_WORD = re.compile(r"\S+")
MAX_WORD: Final = 400  # characters that are searched for a blank
_NONE = -1  # of a block without times, or without a page


@dataclass(frozen=True, slots=True, eq=False)
class SourceText:
    """A source's current text.

    Arrays run over its blocks, and over the words with known times (ms). ``has_added_stops`` says
    that captions had no full stops before.
    """

    digest: str
    text: str
    offsets: "array[int]"
    starts: "array[int]"
    ends: "array[int]"
    pages: "array[int]"
    headings: tuple[str, ...]
    word_offsets: "array[int]"
    word_starts: "array[int]"
    has_added_stops: bool = False
    has_slides: bool = False  # rather than pages

    @property
    def nbytes(self) -> int:
        return 4 * len(self.text) + 40 * len(self.offsets) + 16 * len(self.word_offsets)

    def locate(self, span: Span) -> Locator:
        """Return when the characters [first, last) are said, or on which pages they are.

        Times run from the start of the first word to the start of the next word after them. Without
        word times, they run from a share of the first cue to the end of the last.
        """
        if not self.offsets:
            return Locator(span=span)
        first = self._block(span[0])
        last = max(first, bisect_left(self.offsets, span[1]) - 1)
        start, end = self._start(span[0], first), self._end(span[1], last)
        if start is not None and end is not None:
            end = max(end, start + 1)
        return Locator(
            span=span,
            start=start,
            end=end,
            page=_known(self.pages[first]),
            last_page=_known(self.pages[last]),
            is_slide=self.has_slides,
        )

    def sentence_starts(self, span: Span) -> tuple[tuple[int, int], ...]:
        """Return the first characters of the sentences of a part, counted from its start, and when
        (ms) they are said; none of a document.
        """
        if not self.starts:
            return ()
        first, last = span
        offsets = [offset for offset, _ in sentences.split(self.text[first:last])]
        starts = [self.locate((first + offset, last)).start for offset in offsets]
        return tuple((n, ms) for n, ms in zip(offsets, starts, strict=True) if ms is not None)

    def position_at(self, *, start: int | None = None, page: int | None = None) -> int | None:
        """Return the first character that is said at a time (ms) or stands on a page."""
        if start is not None and self.starts:
            return self.offsets[max(0, bisect_right(self.starts, start) - 1)]
        block = bisect_left(self.pages, page) if page is not None else len(self.pages)
        return self.offsets[block] if block < len(self.offsets) else None

    def said_between(self, start: int, end: int) -> Span | None:
        """Return the whole words that begin to be said between two times (ms) of a recording."""
        block = max(0, bisect_left(self.starts, start) - 1)
        stop = bisect_left(self.starts, end)
        last = self.offsets[stop] if stop < len(self.offsets) else len(self.text)
        if block >= stop:
            return None
        words = [
            word.span()
            for word in _WORD.finditer(self.text, self.offsets[block], last)
            if start <= (self._start(word.start(), self._block(word.start())) or 0) < end
        ]
        return (words[0][0], words[-1][1]) if words else None

    def around(self, span: Span) -> tuple[str, str]:
        """Return the prefix and the suffix to store with a quote."""
        first, last = span
        return self.text[max(0, first - AROUND) : first], self.text[last : last + AROUND]

    def heading_at(self, position: int) -> str:
        return self.headings[self._block(position)] if self.headings else ""

    @property
    def speakers(self) -> list[str]:
        """Who speaks in a recording whose captions name speakers."""
        return sorted(self._turns().names)

    def speaker_of(self, span: Span) -> str:
        """Return who alone says a part of a recording whose captions name speakers, or ""."""
        turns = self._turns()
        return turns.turn_at(span[0]).name if turns.has_single_speaker(*span) else ""

    def _turns(self) -> Turns:
        if not self.starts or self.starts[0] == _NONE:
            return Turns("")
        return CACHE.of(("turns", self.digest), lambda: Turns(self.text, self.offsets))

    def _block(self, position: int) -> int:
        return max(0, bisect_right(self.offsets, position) - 1)

    def _start(self, position: int, block: int) -> int | None:
        word = bisect_right(self.word_offsets, position) - 1
        if word >= 0 and self.word_offsets[word] >= self.offsets[block]:
            return self.word_starts[word]
        start, end = _known(self.starts[block]), _known(self.ends[block])
        if start is None or end is None:
            return start
        if block + 1 < len(self.offsets):
            end = min(end, self.starts[block + 1])
            length = self.offsets[block + 1] - 1 - self.offsets[block]
        else:
            length = len(self.text) - self.offsets[block]
        return share_of_cue(start, end, position - self.offsets[block], length)

    def _end(self, position: int, block: int) -> int | None:
        end = _known(self.ends[block])
        following = bisect_left(self.word_offsets, position)
        is_inside = 0 < following < len(self.word_offsets)
        is_inside = is_inside and self.word_offsets[following - 1] >= self.offsets[block]
        if end is None or not is_inside:
            return end
        # The next word may be in the next cue, which YouTube shows before this one ends.
        return min(end, max(self.word_starts[following], self.word_starts[following - 1] + 1))


def of(source: Source) -> SourceText:
    """Return a source's current text; empty where it has none."""
    return of_each([source])[source.pk]


def of_each(sources: Iterable[Source]) -> dict[int, SourceText]:
    """Return the current texts of sources by their keys, by a constant number of queries.

    Fetch ``transcript__video`` with recordings.
    """
    rows = {source.pk: source for source in sources}
    keys = {pk: ("text", *version) for pk, version in _versions(rows.values()).items()}
    texts: dict[int, SourceText | None] = {pk: CACHE.get(key) for pk, key in keys.items()}
    missing = [rows[pk] for pk, text in texts.items() if text is None]
    for source, blocks in source_blocks.read_each(missing):
        transcript = source.transcript
        text = replace(
            from_blocks(blocks),
            has_added_stops=transcript is not None and transcript.has_added_stops,
            has_slides=source.has_slides,
        )
        texts[source.pk] = text
        CACHE.keep(keys[source.pk], text, text.nbytes)
    return {pk: text for pk, text in texts.items() if text is not None}


def prepared(source: Source) -> PreparedText:
    """Return a source's text, prepared for quotes."""

    def make() -> PreparedText:
        reading = of(source)
        return prepare(reading.text, has_added_stops=reading.has_added_stops)

    return CACHE.of(("prepared", *_versions([source])[source.pk]), make)


def find(
    source: Source, selected: SelectedText, *, start: int | None = None, page: int | None = None
) -> Span | None:
    """Return where words are that were selected near ``start`` (ms) or on ``page``; None where they
    are not, or in several places and nothing tells.
    """
    reading = of(source)
    return find_selected(
        selected,
        reading.text,
        near=reading.position_at(start=start, page=page),
        prepared=lambda: prepared(source),
    )


def border(text: str, position: int) -> int:
    """Return the next position nearby that cuts no word, number or formula."""
    if position <= 0 or position >= len(text):
        return min(max(0, position), len(text))
    blank = _BLANK.search(text, position - 1, position + MAX_WORD)
    return blank.end() if blank else position


def from_blocks(blocks: Sequence[Block]) -> SourceText:
    """Return the text of blocks: of a source, or of a part of one."""
    words = [word for block in blocks for word in block.words]
    shared: dict[str, str] = {}

    def filled(values: Iterable[int | None]) -> "array[int]":
        return array("q", [_NONE if value is None else value for value in values])

    return SourceText(
        digest=text_chunking.digest_of(blocks),
        text=text_of(blocks),
        offsets=array("q", [block.offset for block in blocks]),
        starts=filled([block.start for block in blocks]),
        ends=filled([block.end for block in blocks]),
        pages=filled([block.page for block in blocks]),
        headings=tuple(shared.setdefault(block.heading, block.heading) for block in blocks),
        word_offsets=array("q", [offset for offset, _ in words]),
        word_starts=array("q", [start for _, start in words]),
    )


def _known(value: int) -> int | None:
    return None if value == _NONE else value


def _versions(sources: Collection[Source]) -> dict[int, tuple[Hashable, ...]]:
    """Return keys that change whenever a text does; one small query for recordings, and one for
    documents.
    """
    spoken = [source.transcript_id for source in sources if source.transcript_id is not None]
    written = [source.pk for source in sources if source.transcript_id is None]
    transcripts = _by_key(
        Transcript.objects.filter(pk__in=spoken), "pk", "digest", "updated_at", "video__updated_at"
    )
    documents = _by_key(
        Document.objects.filter(pk__in=written), "pk", "digest", "read_by", "page_count"
    )
    return {
        source.pk: (source.pk, documents.get(source.pk))
        if source.transcript_id is None
        else (source.pk, source.transcript_id, transcripts.get(source.transcript_id))
        for source in sources
    }


def _by_key(rows: QuerySet[Any], *fields: str) -> dict[int, tuple[Hashable, ...]]:
    return {key: tuple(values) for key, *values in rows.order_by().values_list(*fields)}

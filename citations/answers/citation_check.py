"""Proves quotes on the sources' own texts: what is not there word for word is no citation.

A true quote may prove something else: a claim must relate to what it cites, too.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from time import perf_counter
from typing import Final, NamedTuple

from citations.answers.answer import CheckedQuote, Evidence, Quote
from citations.answers.writing.excerpts import own_rows
from citations.answers.writing.output_parser import CitedQuote
from citations.answers.writing.sentence_ranking import Rate, stems
from citations.library.filters import Filter
from citations.models import Source
from citations.providers.languages import is_in
from citations.quotes import matching, source_texts, verification
from citations.quotes.matching import PreparedText, Verdict
from citations.quotes.source_texts import SourceText, border
from citations.text.blocks import TableRow, table_rows
from citations.text.sentences import Span, split
from transcripts.core.scope import NOTHING, Scope

AROUND: Final = 1_000  # characters around a passage in which a quote's rest is looked up
MAX_SEARCHES: Final = 12  # quotes of an answer that are looked up in all sources
UNRELATED: Final = 0.2  # cosine below which texts are unrelated, by the bundled model: relating.py
LANGUAGE: Final = "en"  # the model's; cosines in other languages mean little
MIN_WORDS: Final = 3  # content words of a claim that can be compared
BESIDE: Final = 200  # characters on either side of a quote that are read with it
SENTENCE: Final = 600  # characters on either side in which the quote's sentences begin and end


class QuoteMatch(NamedTuple):
    """A quote's source, its characters, the text around it, and the index of its check."""

    source: Source
    span: Span
    around: str
    check: int = -1


class Proof:
    """The citations of an answer, numbered in their order, and the verdict on each quote."""

    def __init__(
        self,
        evidence: Sequence[Evidence] = (),
        *,
        scope: Scope = NOTHING,
        filter: Filter = Filter(),
    ) -> None:
        self.quotes: list[Quote] = []
        self.checks: list[CheckedQuote] = []
        self.milliseconds = 0.0
        self._evidence = {passage.number: passage for passage in evidence}
        self._scope, self._filter = scope, filter
        self._sources: dict[int, _CitedSource | None] = {}
        self._numbers: dict[tuple[int, Span], int] = {}
        self._searches_left = MAX_SEARCHES

    def look_up(self, cited: CitedQuote) -> QuoteMatch | None:
        """Look a quote up in its passage's source, then in all sources; record the verdict."""
        with self._timed():
            verdict, location = self._located(cited)
            passage = cited.passage if cited.passage in self._evidence else 0
            self.checks.append(CheckedQuote(quote=cited.quote, verdict=verdict, evidence=passage))
            return location._replace(check=len(self.checks) - 1) if location else None

    def number(self, match: QuoteMatch) -> int:
        """Return the number of a match as a citation; 0 if its source is gone."""
        with self._timed():
            number = self.cite(match.source, match.span)
            self.checks[match.check] = replace(self.checks[match.check], number=number)
            return number

    def cite(self, row: Source, span: Span) -> int:
        """Return the number of a place as a citation; 0 if its source is gone."""
        key, source = (row.pk, span), self._source(row.pk)
        if key not in self._numbers and source:
            self.quotes.append(_quote(source, span, number=len(self.quotes) + 1))
            self._numbers[key] = len(self.quotes)
        return self._numbers.get(key, 0)

    def text(self, match: QuoteMatch) -> str:
        """Return the text of a match's source; empty if the source is gone."""
        source = self._source(match.source.pk)
        return source.reading.text if source else ""

    def around(self, passage: Evidence) -> tuple[int, str]:
        """Return the text around a passage, and at which character of the source it begins.

        It is the passage's own text if the source has changed since.
        """
        source = self._current(passage)
        first, last = passage.spans[0][0], passage.spans[-1][1]
        if source is None:
            return first, passage.text[: passage.spans[0][1] - first]
        start = max(0, first - AROUND)
        return start, source.text((start, last + AROUND))

    def rows(self, passage: Evidence) -> list[TableRow]:
        """Return the rows of tables that a passage has a part of, with the headers of the tables,
        which may stand pages before it. Only its own text is read if the source has changed since.
        """
        if " | " not in passage.text:
            return []
        source = self._current(passage)
        if source is None:
            return list(own_rows(passage))
        first, last = passage.spans[0][0], passage.spans[-1][1]
        return [row for row in source.rows if row.span[0] < last and first < row.span[1]]

    @contextmanager
    def _timed(self) -> Iterator[None]:
        started = perf_counter()
        yield
        self.milliseconds += (perf_counter() - started) * 1000

    # Where a quote stands

    def _located(self, cited: CitedQuote) -> tuple[Verdict, QuoteMatch | None]:
        quote = cited.quote
        if not matching.is_enough(quote):
            return Verdict.NOT_FOUND, None
        named = self._evidence.get(cited.passage)
        verdict = Verdict.NOT_FOUND
        if named:
            location = self._in_passage(quote, named)
            location = location or self._in_passage(quote, named, around=AROUND)
            if location:
                return Verdict.VERBATIM, location
            verdict, location = self._in_source(quote, named)
            if location:
                return verdict, location
        passages = (self._in_passage(quote, passage) for passage in self._evidence.values())
        location = next(filter(None, passages), None) or self._anywhere(quote)
        if location is None:
            return verdict, None
        is_right = named is None or location.source.pk == named.source
        return Verdict.VERBATIM if is_right else Verdict.MISATTRIBUTED, location

    def _in_passage(self, quote: str, passage: Evidence, *, around: int = 0) -> QuoteMatch | None:
        """Look only into a passage and so many characters around it: its source takes longer."""
        source = self._current(passage)
        if source is None:
            return None
        text, first, last = source.reading.text, passage.spans[0][0], passage.spans[-1][1]
        start = border(text, first - around) if around else first
        stop = border(text, last + around) if around else last
        near = (first - start, last - start)
        span = matching.find(quote, source.prepared((start, stop)), near=near)
        if span is None:
            return None
        return QuoteMatch(source.row, (span[0] + start, span[1] + start), _citable(passage))

    def _in_source(self, quote: str, passage: Evidence) -> tuple[Verdict, QuoteMatch | None]:
        source = self._source(passage.source)
        if source is None:
            return Verdict.NOT_FOUND, None
        near = (passage.spans[0][0], passage.spans[-1][1])
        check = matching.check(quote, source_texts.prepared(source.row), near=near)
        if check.verdict != Verdict.VERBATIM or check.span is None:
            return check.verdict, None
        if check.negation or not matching.find(quote, source.prepared(check.span)):
            return Verdict.ALTERED, None
        return check.verdict, QuoteMatch(source.row, check.span, f"{_citable(passage)} {quote}")

    def _anywhere(self, quote: str) -> QuoteMatch | None:
        if not self._searches_left:
            return None
        self._searches_left -= 1
        match = verification.verify(self._scope, quote, filter=self._filter)
        is_citable = match.verdict == Verdict.VERBATIM and not match.negation
        if not is_citable or match.source is None or match.locator is None:
            return None
        source = self._source(match.source)
        if source is None or source.reading.digest != match.digest:
            return None
        around = f"{match.text} {match.heading} {source.row.title}"
        return QuoteMatch(source.row, match.locator.span, around)

    def _current(self, passage: Evidence) -> "_CitedSource | None":
        """Return a passage's source if its text has not changed since."""
        source = self._source(passage.source)
        return source if source and source.reading.digest == passage.digest else None

    def _source(self, key: int) -> "_CitedSource | None":
        """Return a source with its current text, read once for an answer; None if it is gone."""
        if key not in self._sources:
            keys = {key, *(passage.source for passage in self._evidence.values())}
            missing = keys - self._sources.keys()
            visible = Source.objects.visible(self._scope)
            related = visible.select_related("collection", "video__media", "transcript")
            rows = related.in_bulk(missing)
            self._sources |= {pk: _CitedSource(rows[pk]) if pk in rows else None for pk in missing}
        return self._sources[key]


@dataclass(frozen=True)
class _CitedSource:
    """A source and its text, which is read when it is first needed."""

    row: Source

    @cached_property
    def reading(self) -> SourceText:
        return source_texts.of(self.row)

    @cached_property
    def rows(self) -> list[TableRow]:
        return list(table_rows(self.reading.text))

    def text(self, span: Span) -> str:
        return self.reading.text[span[0] : span[1]]

    def prepared(self, span: Span) -> PreparedText:
        return matching.prepare(self.text(span), has_added_stops=self.reading.has_added_stops)


def _citable(passage: Evidence) -> str:
    """Return what a claim may take from a passage: its text, heading and title."""
    return f"{passage.text} {passage.heading} {passage.origin.title}"


def _quote(source: _CitedSource, span: Span, *, number: int) -> Quote:
    reading = source.reading
    locator = reading.locate(span)
    prefix, suffix = reading.around(span)
    return Quote(
        number=number,
        source=source.row.pk,
        origin=source.row.origin,
        locator=locator,
        text=source.text(span),
        prefix=prefix,
        suffix=suffix,
        digest=reading.digest,
        heading=reading.heading_at(span[0]),
        speaker=reading.speaker_of(span),
        link=source.row.path_to(locator),
    )


# Whether a claim relates to its quote


def relates(claim: str, text: str, span: Span, rate: Rate | None) -> bool:
    """Tell whether a claim is near to the sentences of a quote or to the text around it.

    ``span`` is the quote's characters in a source's ``text``. True where that cannot be measured:
    without ``rate``, for a very short claim, and in a language other than the model's.
    """
    if rate is None or len(stems(claim)) < MIN_WORDS:
        return True
    cited = read_with(text, span)
    if not (is_in(claim, LANGUAGE) and is_in(cited[-1], LANGUAGE)):
        return True
    nearness = rate(claim, cited)
    return nearness is None or max(nearness) >= UNRELATED


def read_with(text: str, span: Span) -> list[str]:
    """Return the whole sentences that a span stands in, and the characters around it."""
    offset = border(text, span[0] - SENTENCE)
    piece = text[offset : border(text, span[1] + SENTENCE)]
    inside = [
        (first, last)
        for first, last in split(piece)
        if first + offset < span[1] and span[0] < last + offset
    ]
    around = text[border(text, span[0] - BESIDE) : border(text, span[1] + BESIDE)]
    return [piece[inside[0][0] : inside[-1][1]], around] if inside else [around]

"""Quotes are proved on the sources' own texts: what does not stand there word for word never becomes a citation."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Final, NamedTuple

from citations.answers.answer import CheckedQuote, Evidence, Quote
from citations.answers.writing.output_parser import CitedQuote
from citations.library.filters import Filter
from citations.models import Source
from citations.quotes import anchoring, matching, source_texts, verification
from citations.quotes.matching import Verdict
from citations.quotes.source_texts import SourceText
from transcripts.scope import NOTHING, Scope

AROUND: Final = 1_000  # characters on either side of a passage, in which what belongs to a sentence is looked for
MOST_LOOKED_UP: Final = (
    12  # quotes of an answer that are looked for in all the sources that were asked
)
Span = tuple[int, int]


class QuoteMatch(NamedTuple):
    """Where a quote stands: the source, the characters, what stands around them, and which of the checks found it."""

    source: Source
    span: Span
    around: str
    check: int


class Proof:
    """What was proved while an answer was made: its quotes, numbered in their order, and the verdict on each that it wanted to cite."""

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
        self._evidence = {one.number: one for one in evidence}
        self._scope, self._wanted = scope, filter
        self._sources: dict[int, _Known | None] = {}
        self._numbers: dict[tuple[int, Span], int] = {}
        self._left = MOST_LOOKED_UP

    def look_up(self, cited: CitedQuote) -> QuoteMatch | None:
        """Look a quote up in the source of the passage that was named, then in all that were asked; None where it stands nowhere. Notes the verdict."""
        started = perf_counter()
        verdict, place = self._looked_up(cited)
        passage = cited.passage if cited.passage in self._evidence else 0
        self.checks.append(CheckedQuote(quote=cited.quote, verdict=verdict, evidence=passage))
        self.milliseconds += (perf_counter() - started) * 1000
        return QuoteMatch(*place, check=len(self.checks) - 1) if place else None

    def number(self, found: QuoteMatch) -> int:
        """Make a citation of what was found, and return its number; what was cited before has the number that it had. 0 where the source is gone."""
        started = perf_counter()
        key = found.source.pk, found.span
        known = self._known(found.source.pk)
        if key not in self._numbers and known:
            self.quotes.append(_quote(known, found.span, number=len(self.quotes) + 1))
            self._numbers[key] = len(self.quotes)
        number = self._numbers.get(key, 0)
        self.checks[found.check] = replace(self.checks[found.check], number=number)
        self.milliseconds += (perf_counter() - started) * 1000
        return number

    def text(self, found: QuoteMatch) -> str:
        """Return the text of the source that a quote was found in; nothing where the source is gone."""
        known = self._known(found.source.pk)
        return known.reading.text if known else ""

    def around(self, one: Evidence) -> tuple[int, str]:
        """Return the text around a passage: at which character of its source it begins, and it; the passage's own where that was changed since."""
        known = self._known(one.source)
        if known is None or known.reading.digest != one.digest:
            return one.spans[0][0], one.text[: one.spans[0][1] - one.spans[0][0]]
        first = max(0, one.spans[0][0] - AROUND)
        return first, known.text((first, one.spans[-1][1] + AROUND))

    # Where it stands

    def _looked_up(self, cited: CitedQuote) -> tuple[Verdict, tuple[Source, Span, str] | None]:
        if not matching.is_enough(cited.quote):
            return Verdict.NOT_FOUND, None
        named = self._evidence.get(cited.passage)
        if named and (
            place := self._in_passage(cited.quote, named)
            or self._in_passage(cited.quote, named, around=AROUND)
        ):
            return Verdict.VERBATIM, place
        verdict, place = self._in_source(cited.quote, named) if named else (Verdict.NOT_FOUND, None)
        if place:
            return verdict, place
        place = next(self._in_passages(cited.quote), None) or self._anywhere(cited.quote)
        if place:
            return Verdict.VERBATIM if named is None or place[
                0
            ].pk == named.source else Verdict.MISATTRIBUTED, place
        return verdict, None

    def _in_passage(
        self, quote: str, one: Evidence, *, around: int = 0
    ) -> tuple[Source, Span, str] | None:
        """Look into the passage alone, or so many characters around it, which takes a fraction of the time that its whole source takes."""
        known = self._known(one.source)
        if known is None or known.reading.digest != one.digest:
            return None
        text, first, last = known.reading.text, one.spans[0][0], one.spans[-1][1]
        if around:
            first, last = (
                source_texts.border(text, first - around),
                source_texts.border(text, last + around),
            )
        near = (one.spans[0][0] - first, one.spans[-1][1] - first)
        span = matching.find(quote, matching.prepare(text[first:last]), near=near)
        return (known.source, (span[0] + first, span[1] + first), _around(one)) if span else None

    def _in_source(
        self, quote: str, one: Evidence
    ) -> tuple[Verdict, tuple[Source, Span, str] | None]:
        known = self._known(one.source)
        if known is None:
            return Verdict.NOT_FOUND, None
        check = matching.check(
            quote, source_texts.prepared(known.source), near=(one.spans[0][0], one.spans[-1][1])
        )
        is_true = (
            check.verdict == Verdict.VERBATIM
            and check.span is not None
            and matching.find(quote, matching.prepare(known.text(check.span)))
        )
        return check.verdict, (
            known.source,
            check.span,
            f"{_around(one)} {quote}",
        ) if is_true and check.span else None

    def _in_passages(self, quote: str) -> Iterator[tuple[Source, Span, str]]:
        return (place for one in self._evidence.values() if (place := self._in_passage(quote, one)))

    def _anywhere(self, quote: str) -> tuple[Source, Span, str] | None:
        if not self._left:
            return None
        self._left -= 1
        found = verification.verify(self._scope, quote, filter=self._wanted)
        if found.verdict != Verdict.VERBATIM or found.source is None or found.locator is None:
            return None
        known = self._known(found.source)
        if known is None or known.reading.digest != found.digest:
            return None
        return (
            known.source,
            found.locator.span,
            f"{found.text} {found.heading} {known.source.title}",
        )

    def _known(self, pk: int) -> "_Known | None":
        """Return a source with its text as it is now, read once for an answer; None where it is gone."""
        if pk not in self._sources:
            missing = {pk, *(one.source for one in self._evidence.values())} - self._sources.keys()
            rows = (
                Source.objects.visible(self._scope)
                .select_related("collection", "video", "transcript")
                .in_bulk(missing)
            )
            self._sources |= {one: _Known(rows[one]) if one in rows else None for one in missing}
        return self._sources[pk]


class _Known:
    """A source and its text, which is read when it is first needed."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._reading: SourceText | None = None

    @property
    def reading(self) -> SourceText:
        if self._reading is None:
            self._reading = source_texts.of(self.source)
        return self._reading

    def text(self, span: Span) -> str:
        return self.reading.text[span[0] : span[1]]


def _around(one: Evidence) -> str:
    """Return what a claim may take from a passage: its words, and what it is called."""
    return f"{one.text} {one.heading} {one.origin.title}"


def _quote(known: _Known, span: Span, *, number: int) -> Quote:
    reading = known.reading
    locator = reading.locate(span)
    prefix, suffix = anchoring.around(reading.text, span)
    return Quote(
        number=number,
        source=known.source.pk,
        origin=verification.origin_of(known.source),
        locator=locator,
        text=known.text(span),
        prefix=prefix,
        suffix=suffix,
        digest=reading.digest,
        heading=reading.heading_at(span[0]),
        link=verification.link_of(known.source, locator),
    )

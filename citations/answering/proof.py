"""Quotes are proved on the sources' own texts: what does not stand there word for word never becomes a citation."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from time import perf_counter
from typing import Final, NamedTuple
from urllib.parse import quote as quoted

from citations import grounding, readers
from citations.chunking import Block
from citations.grounding import Prepared, Verdict
from citations.models import Source
from citations.passages import Locator, Origin
from citations.replies import Checked, Evidence, Quote
from citations.synthesis import Cited

AROUND: Final = 100  # characters that are kept on either side of a quote
Span = tuple[int, int]


class Place(NamedTuple):
    """Where a quote stands: a passage of the source, the characters, and which of the checks found it."""

    evidence: Evidence
    span: Span
    check: int

    @property
    def around(self) -> str:
        """What may be said of it: the passage, and what it is called."""
        return f"{self.evidence.text} {self.evidence.heading} {self.evidence.origin.title}"


class Proof:
    """What was proved while an answer was made: its quotes, numbered in their order, and the verdict on each that it wanted to cite."""

    def __init__(self, evidence: Sequence[Evidence]) -> None:
        self.quotes: list[Quote] = []
        self.checks: list[Checked] = []
        self.milliseconds = 0.0
        self._evidence = {one.number: one for one in evidence}
        self._texts: dict[int, _Text | None] = {}
        self._numbers: dict[tuple[int, Span], int] = {}

    def look_up(self, cited: Cited) -> "Place | None":
        """Look a quote up in the source of the passage that was named, then in the others; None where it stands nowhere. Notes the verdict."""
        started = perf_counter()
        verdict, evidence, span = self._looked_up(cited)
        passage = cited.passage if cited.passage in self._evidence else 0
        self.checks.append(Checked(quote=cited.quote, verdict=verdict, evidence=passage))
        self.milliseconds += (perf_counter() - started) * 1000
        return Place(evidence, span, len(self.checks) - 1) if evidence and span else None

    def number(self, place: "Place") -> int:
        """Make a citation of what was found, and return its number; what was cited before has the number that it had. 0 where the source is gone."""
        one, text = place.evidence, self._text(place.evidence)
        key = one.source, place.span
        if key not in self._numbers and text:
            self.quotes.append(_quote(one, text, place.span, number=len(self.quotes) + 1))
            self._numbers[key] = len(self.quotes)
        number = self._numbers.get(key, 0)
        self.checks[place.check] = replace(self.checks[place.check], number=number)
        return number

    # Where it stands

    def _looked_up(self, cited: Cited) -> tuple[Verdict, Evidence | None, Span | None]:
        named = self._evidence.get(cited.passage)
        text = self._text(named) if named else None
        if named and text and (span := text.within(cited.quote, _reach(named))):
            return Verdict.VERBATIM, named, span
        check = grounding.check(cited.quote, text.prepared if text else None, self._others(named), near=_reach(named) if named else None)
        if check.verdict not in (Verdict.VERBATIM, Verdict.MISATTRIBUTED):
            return check.verdict, None, None
        return check.verdict, self._evidence[int(check.source)] if check.source else named, check.span

    def _others(self, named: Evidence | None) -> Iterator[tuple[str, Prepared]]:
        """Yield the texts of the other passages' sources, each called by the number of its first passage."""
        seen = {named.source} if named else set()
        for one in self._evidence.values():
            if one.source not in seen and (text := self._text(one)):
                yield str(one.number), text.prepared
            seen.add(one.source)

    def _text(self, one: Evidence) -> "_Text | None":
        """Return a source's text; None where it is no longer the one that the passage was found in."""
        if one.source not in self._texts:
            self._texts[one.source] = _read(one.source)
        text = self._texts[one.source]
        return text if text and text.digest == one.digest else None


def _reach(one: Evidence) -> Span:
    return one.spans[0][0], one.spans[-1][1]


def _quote(one: Evidence, text: "_Text", span: Span, *, number: int) -> Quote:
    locator = text.locator(span)
    return Quote(
        number=number,
        source=one.source,
        origin=one.origin,
        locator=locator,
        text=text.text[span[0] : span[1]],
        before=text.text[max(0, span[0] - AROUND) : span[0]],
        behind=text.text[span[1] : span[1] + AROUND],
        digest=text.digest,
        heading=one.heading,
        link=_link(one.origin, locator),
    )


# Texts


@dataclass(frozen=True)
class _Text:
    text: str
    digest: str
    blocks: list[Block]

    @cached_property
    def prepared(self) -> Prepared:
        return grounding.prepare(self.text)

    def within(self, quote: str, reach: Span) -> Span | None:
        """Look into a part of the text alone, which takes a fraction of the time."""
        if not grounding.is_enough(quote):
            return None
        span = grounding.find(quote, grounding.prepare(self.text[reach[0] : reach[1]]))
        return (span[0] + reach[0], span[1] + reach[0]) if span else None

    def locator(self, span: Span) -> Locator:
        offsets = [block.offset for block in self.blocks]
        first, last = (self.blocks[max(0, bisect_right(offsets, place) - 1)] for place in (span[0], span[1] - 1))
        return Locator(span=span, start=first.start, end=last.end, page=first.page, last_page=last.page)


def _read(pk: int) -> _Text | None:
    source = Source.objects.select_related("transcript").filter(pk=pk).first()
    blocks = readers.read(source) if source else []
    return _Text(readers.text_of(blocks), readers.digest_of(blocks), blocks) if blocks else None


def _link(origin: Origin, locator: Locator) -> str:
    if origin.video_pk is None:
        page = f"pages/{locator.page}/?from={locator.span[0]}&to={locator.span[1]}" if locator.page else ""
        return f"/sources/{origin.id}/{page}"
    until = f"&until={-(-locator.end // 1000)}" if locator.end else ""
    language = f"&lang={quoted(origin.language)}" if origin.language else ""
    return f"/videos/{origin.video_pk}/?t={(locator.start or 0) // 1000}s{until}{language}"

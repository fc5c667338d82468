"""Quotes checked against what is stored: where they stand, and what differs where they do not."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Final
from urllib.parse import quote as quoted
from uuid import UUID

from citations.errors import CitationNotFound, InvalidFilter, PassageNotFound
from citations.lexical import index as lexical_index
from citations.lexical.query import Query
from citations.library.filters import Filter, matching, resolve
from citations.models import Chunk, Citation, Source, SourceQuerySet
from citations.passages import Locator, PassageSource
from citations.quotes import anchoring, source_texts
from citations.quotes import matching as quote_matching
from citations.quotes.copy_artifacts import bare
from citations.quotes.matching import PreparedText, QuoteCheck, Verdict, WordDifference, prepare
from transcripts import conf
from transcripts.sanitize import clean
from transcripts.scope import Scope
from transcripts.timecodes import watch_url

MAX_QUOTE: Final = 100_000  # characters
MOST_CLAIMED: Final = 5  # sources that one reference may mean: the languages of a video
MOST_PLACES: Final = 12  # passages elsewhere that are compared with a quote

_SEARCHED = 64  # words of a quote that are searched for
_SLACK = 400  # characters beside a passage that are compared, too
_BREAK = re.compile(
    r"\r\n?|[\v\f\x1c-\x1e\x85\u2028\u2029]"
)  # what a page ends with where it is copied, too

Span = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedQuote:
    """What is known of a quote. Of one that is VERBATIM or MISATTRIBUTED: its true place, and ``text`` as it stands there, between ``prefix`` and ``suffix``.

    Of an ALTERED one: the nearest place and what differs. ``is_enough`` is False of a quote that is too short to prove anything.
    """

    verdict: Verdict
    quote: str
    source: int | None = None  # primary key
    origin: PassageSource | None = None
    locator: Locator | None = None
    text: str = ""
    prefix: str = ""
    suffix: str = ""
    heading: str = ""
    digest: str = ""
    link: str = ""  # the path of this site's page that opens exactly there
    timestamp_link: str = ""  # YouTube at that second; for others the address of the page here
    differences: tuple[WordDifference, ...] = ()
    likeness: float = 0.0  # share of the quote's words that stand there in their order, 0 to 1
    is_enough: bool = True
    milliseconds: float = 0.0


def verify(
    scope: Scope, quote: str, *, source: str = "", filter: Filter = Filter()
) -> VerifiedQuote:
    """Look a quote up: in the source that it is said to be from (an id or a video's address), then in whatever others that the filter leaves have its words.

    Without ``source``, a quote that stands anywhere is VERBATIM. Raises ``SourceNotFound`` for a source that the caller cannot see, ``InvalidFilter`` for
    a quote of more than ``MAX_QUOTE`` characters and what ``filters.resolve`` raises.
    """
    begun = perf_counter()
    if len(quote) > MAX_QUOTE:
        raise InvalidFilter(
            f"A quote has at most {MAX_QUOTE:,} characters; this one has {len(quote):,}.",
            hint="Check it in parts.",
        )
    claimed = list(_sources(scope, Filter(sources=(source,)))[:MOST_CLAIMED]) if source else []
    found = _found(scope, clean(_BREAK.sub("\n", quote), MAX_QUOTE), claimed, filter)
    return _told(
        quote, found, is_misattributed=bool(claimed) and found.place not in claimed, begun=begun
    )


def locate(source: Source, span: Span) -> Locator:
    """Say when characters of a source's text are said (start and end in milliseconds, to the word where words have times), or on which pages they stand."""
    return source_texts.of(source).locate(span)


def link_of(source: Source, locator: Locator) -> str:
    """Return the path of this site's page that opens at a place: a video plays from its start to its end, a page has it marked."""
    if source.video_id is None:
        page = (
            f"pages/{locator.page}/?from={locator.span[0]}&to={locator.span[1]}"
            if locator.page
            else ""
        )
        return f"/sources/{source.uuid}/{page}"
    until = f"&until={_seconds(locator.end)}s" if locator.end else ""
    language = f"&lang={quoted(source.language)}" if source.language else ""
    return f"/videos/{source.video_id}/?t={_seconds(locator.start or 0)}s{until}{language}"


def place_of(citation: Citation) -> Locator | None:
    """Say where a stored quote stands now; None where it does not any more, or where that is not sure."""
    source = citation.source
    reading = source_texts.of(source)
    span = (citation.span_start, citation.span_end)
    if reading.digest == citation.digest and reading.text[span[0] : span[1]] == citation.quote:
        return reading.locate(span)
    place = anchoring.find(
        citation.quote,
        reading.text,
        span=span,
        prefix=citation.prefix,
        suffix=citation.suffix,
        prepared=lambda: source_texts.prepared(source),
    )
    return reading.locate(place) if place else None


def address_of(scope: Scope, citation_id: UUID) -> str:
    """Return where a citation of an answer or of a lecture stands now, as a path of this site: what its permanent address leads to.

    Whoever may read the source may go there. Raises ``CitationNotFound``, and ``PassageNotFound`` when the quote is not there any more.
    """
    sources = Source.objects.visible(scope)
    citation = (
        Citation.objects.filter(uuid=citation_id, source__in=sources)
        .select_related("source__transcript")
        .first()
    )
    if citation is None:
        raise CitationNotFound("There is no such citation.")
    return _address(citation)


def origin_of(source: Source) -> PassageSource:
    """Return what is shown of a source; its ``collection`` and ``video`` should have been read with it."""
    return PassageSource(
        id=source.uuid,
        kind=source.kind,
        title=source.title,
        author=source.author,
        url=source.url,
        language=source.language,
        collection=source.collection.slug,
        tags=tuple(source.tags),
        key=source.video.key if source.video else "",
        video_pk=source.video_id,
    )


def _address(citation: Citation) -> str:
    place = place_of(citation)
    if place is None:
        raise PassageNotFound(
            f"What is cited does not stand in “{citation.source.title}” any more, or it is not certain where.",
            hint="Its text has changed since; search for the words.",
        )
    return link_of(citation.source, place)


def _seconds(milliseconds: int) -> str:
    """Write 12345 as 12.345, 12000 as 12."""
    return f"{milliseconds // 1000}.{milliseconds % 1000:03}".rstrip("0").rstrip(".")


# Looking


@dataclass(frozen=True, slots=True)
class _Found:
    """A check, and the source that its span counts in."""

    check: QuoteCheck
    place: Source | None = None

    @property
    def worth(self) -> tuple[int, float]:
        order = (Verdict.NOT_FOUND, Verdict.ALTERED, Verdict.VERBATIM)
        return order.index(self.check.verdict), self.check.likeness


def _sources(scope: Scope, filter: Filter) -> SourceQuerySet:
    return (
        matching(scope, filter).select_related("collection", "video", "transcript").order_by("pk")
    )


def _found(scope: Scope, quote: str, claimed: Sequence[Source], filter: Filter) -> _Found:
    """Return the best of what is known: a place where the quote stands, the claimed source's before any other, else the nearest."""
    best = _Found(QuoteCheck(verdict=Verdict.NOT_FOUND, is_enough=quote_matching.is_enough(quote)))
    if not best.check.is_enough:
        return best
    for source in claimed:
        best = max(
            best,
            _Found(quote_matching.check(quote, source_texts.prepared(source)), source),
            key=lambda one: one.worth,
        )
        if best.check.verdict == Verdict.VERBATIM:
            return best
    nearest_claimed = best.check.verdict == Verdict.ALTERED
    for other in _elsewhere(scope, quote, filter, excluded={source.pk for source in claimed}):
        if other.check.verdict == Verdict.VERBATIM:
            return other
        best = best if nearest_claimed else max(best, other, key=lambda one: one.worth)
    return best


def _elsewhere(scope: Scope, quote: str, filter: Filter, *, excluded: set[int]) -> Iterator[_Found]:
    """Compare the quote with what stands around the passages that have most of its words, the likeliest first."""
    words = " ".join(bare(quote).split()[:_SEARCHED])
    hits = lexical_index.search(
        Query(text=words, words=words), limit=MOST_PLACES, resolved=resolve(scope, filter)
    )
    chunks = Chunk.objects.exclude(source__in=excluded).in_bulk(
        [hit.position for hit in hits], field_name="position"
    )
    sources = {
        source.pk: source
        for source in _sources(scope, filter).filter(
            pk__in={chunk.source_id for chunk in chunks.values()}
        )
    }
    for hit in hits:
        chunk = chunks.get(hit.position)
        source = sources.get(chunk.source_id) if chunk else None
        if chunk and source:
            yield _compared(quote, source, (chunk.span_start, chunk.span_end))


def _compared(quote: str, source: Source, passage: Span) -> _Found:
    """Check a quote against a source's text around a passage; against all of it, where the passage is of another text."""
    reading = source_texts.of(source)
    if reading.digest != source.digest:
        return _Found(quote_matching.check(quote, source_texts.prepared(source)), source)
    reach = 2 * len(quote) + _SLACK
    first = source_texts.border(reading.text, passage[0] - reach)
    check = quote_matching.check(
        quote, _piece(reading.text, first, source_texts.border(reading.text, passage[1] + reach))
    )
    return _Found(_shifted(check, first), source)


def _piece(text: str, first: int, last: int) -> PreparedText:
    return prepare(text[first:last])


def _shifted(check: QuoteCheck, by: int) -> QuoteCheck:
    span = (check.span[0] + by, check.span[1] + by) if check.span else None
    return QuoteCheck(
        verdict=check.verdict, span=span, differences=check.differences, likeness=check.likeness
    )


# Telling


def _told(quote: str, found: _Found, *, is_misattributed: bool, begun: float) -> VerifiedQuote:
    check, source = found.check, found.place
    took = (perf_counter() - begun) * 1000
    if source is None or check.span is None:
        return VerifiedQuote(
            verdict=check.verdict,
            quote=quote,
            likeness=check.likeness,
            is_enough=check.is_enough,
            milliseconds=took,
        )
    reading = source_texts.of(source)
    locator = reading.locate(check.span)
    prefix, suffix = anchoring.around(reading.text, check.span)
    verdict = (
        Verdict.MISATTRIBUTED
        if is_misattributed and check.verdict == Verdict.VERBATIM
        else check.verdict
    )
    return VerifiedQuote(
        verdict=verdict,
        quote=quote,
        source=source.pk,
        origin=origin_of(source),
        locator=locator,
        text=reading.text[check.span[0] : check.span[1]],
        prefix=prefix,
        suffix=suffix,
        heading=reading.heading_at(check.span[0]),
        digest=reading.digest,
        link=link_of(source, locator),
        timestamp_link=_timestamp_link(source, locator),
        differences=check.differences,
        likeness=check.likeness,
        milliseconds=(perf_counter() - begun) * 1000,
    )


def _timestamp_link(source: Source, locator: Locator) -> str:
    if source.video is not None and source.video.youtube_id:
        return watch_url(source.video.youtube_id, at_ms=locator.start or 0)
    return conf.public_url() + link_of(source, locator)

"""Verify quotes against stored sources: where they occur, and what differs."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Final
from uuid import UUID

from citations.errors import CitationNotFound, InvalidFilter, PassageNotFound
from citations.lexical import index as lexical_index
from citations.lexical.query import Query
from citations.library.filters import Filter, ResolvedFilter, matching, resolve
from citations.models import Chunk, Citation, Highlight, Source, SourceQuerySet
from citations.passages import Locator, PassageSource
from citations.quotes import anchoring, source_texts
from citations.quotes import matching as quote_matching
from citations.quotes.copy_artifacts import bare
from citations.quotes.matching import QuoteCheck, Verdict, WordDifference, prepare
from citations.quotes.source_texts import SourceText
from citations.quotes.tokens import tokenize
from citations.schemas.requests import MAX_QUOTE
from citations.text.sentences import Span
from transcripts.core.lists import row_of
from transcripts.core.sanitize import clean
from transcripts.core.scope import Scope
from transcripts.text.timecodes import watch_url

MAX_CLAIMED: Final = 5  # sources of one reference: the languages of a video
MAX_ALIKE: Final = 12  # passages with most of a quote's words that are compared
MAX_WITH_PHRASE: Final = 200  # passages with one of its phrases that are compared

_SEARCHED = 64  # words of a quote in the search query
_PHRASE = 6  # words of a phrase: seldom elsewhere by chance, seldom cut by a passage's end
_SLACK = 400  # characters beside a passage that are compared
_BREAK = re.compile(r"\r\n?|[\v\f\x1c-\x1e\x85\u2028\u2029]")  # copied pages end with \f


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedQuote:
    """The verification of a quote.

    A VERBATIM or MISATTRIBUTED quote has its true location, and ``text`` as written there between
    ``prefix`` and ``suffix``. An ALTERED one has the nearest location and the differences. A quote
    that is too short to prove anything has ``is_enough`` False. ``negation`` is the word right
    before it that reverses what it says ("not").
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
    timestamp_link: str = ""  # YouTube at that second; for others the path of the page here
    differences: tuple[WordDifference, ...] = ()
    likeness: float = 0.0  # share of the quote's words that stand there in their order, 0 to 1
    is_enough: bool = True
    negation: str = ""
    milliseconds: float = 0.0


def verify(
    scope: Scope, quote: str, *, source: str = "", filter: Filter = Filter()
) -> VerifiedQuote:
    """Look up a quote in the claimed source (an id or a video's address), then in other sources of
    the filter.

    Without ``source``, a quote that occurs anywhere is VERBATIM. Raises ``SourceNotFound`` for a
    source that the caller cannot see, ``InvalidFilter`` for more than ``MAX_QUOTE`` characters, and
    what ``filters.resolve`` raises.
    """
    started = perf_counter()
    if len(quote) > MAX_QUOTE:
        raise InvalidFilter(
            f"A quote has at most {MAX_QUOTE:,} characters; this one has {len(quote):,}.",
            hint="Verify it in parts.",
        )
    claimed = list(_sources(scope, Filter(sources=(source,)))[:MAX_CLAIMED]) if source else []
    match = _best_match(scope, clean(_BREAK.sub("\n", quote), MAX_QUOTE), claimed, filter)
    verified = _verified(quote, match)
    if claimed and match.source not in claimed and verified.verdict == Verdict.VERBATIM:
        verified = replace(verified, verdict=Verdict.MISATTRIBUTED)
    return replace(verified, milliseconds=(perf_counter() - started) * 1000)


def locator_of(citation: Citation | Highlight) -> Locator | None:
    """Return where a stored quote is now; None where it is gone or uncertain."""
    return locator_in(citation, source_texts.of(citation.source))


def locator_in(citation: Citation | Highlight, reading: SourceText) -> Locator | None:
    """Return where a stored quote is in the current text of its source, which may serve many."""
    source = citation.source
    span = citation.locator.span
    if reading.digest == citation.digest and reading.text[slice(*span)] == citation.quote:
        return citation.locator
    place = anchoring.find(
        citation.quote,
        reading.text,
        prefix=citation.prefix,
        suffix=citation.suffix,
        prepared=lambda: source_texts.prepared(source),
    )
    return reading.locate(place) if place else None


def address_of(scope: Scope, citation_id: UUID) -> str:
    """Return the current path of a citation, to which its permanent address leads.

    Whoever may read the source may follow it. Raises ``CitationNotFound``, and ``PassageNotFound``
    when the quote is gone.
    """
    visible = Citation.objects.filter(source__in=Source.objects.visible(scope))
    rows = visible.select_related("source__transcript")
    citation = row_of(rows, citation_id, CitationNotFound)
    locator = locator_of(citation)
    if locator is None:
        raise PassageNotFound(
            f"The cited text is no longer in “{citation.source.title}”, or its place is uncertain.",
            hint="The source has changed; search for the words.",
        )
    return citation.source.path_to(locator)


# Matching


@dataclass(frozen=True, slots=True)
class _Match:
    """A check, and the source that its span is in."""

    check: QuoteCheck
    source: Source | None = None

    @property
    def is_proof(self) -> bool:
        return self.check.verdict == Verdict.VERBATIM and not self.check.negation

    @property
    def worth(self) -> tuple[int, float]:
        order = (Verdict.NOT_FOUND, Verdict.ALTERED, Verdict.VERBATIM)
        likeness = self.check.likeness - bool(self.check.negation)
        return order.index(self.check.verdict), likeness


def _sources(scope: Scope, filter: Filter) -> SourceQuerySet:
    sources = matching(scope, filter).select_related("collection", "video__media", "transcript")
    return sources.order_by("pk")


def _best_match(scope: Scope, quote: str, claimed: Sequence[Source], filter: Filter) -> _Match:
    """Return the best match: verbatim in a claimed source, then in another, else the nearest."""
    best = _Match(QuoteCheck(verdict=Verdict.NOT_FOUND, is_enough=quote_matching.is_enough(quote)))
    if not best.check.is_enough:
        return best
    for source in claimed:
        match = _Match(quote_matching.check(quote, source_texts.prepared(source)), source)
        best = max(best, match, key=lambda match: match.worth)
        if best.is_proof:
            return best
    nearest_claimed = best.check.verdict == Verdict.ALTERED
    for other in _elsewhere(scope, quote, filter, excluded={source.pk for source in claimed}):
        if other.is_proof:
            return other
        best = best if nearest_claimed else max(best, other, key=lambda match: match.worth)
    return best


def _elsewhere(scope: Scope, quote: str, filter: Filter, *, excluded: set[int]) -> Iterator[_Match]:
    """Compare the quote with the passages that have one of its phrases, then with those that have
    most of its words.
    """
    positions = _positions(quote, resolve(scope, filter))
    others = Chunk.objects.exclude(source__in=excluded)
    chunks = others.in_bulk(positions, field_name="position")
    keys = {chunk.source_id for chunk in chunks.values()}
    sources = {source.pk: source for source in _sources(scope, filter).filter(pk__in=keys)}
    for chunk in (chunks[position] for position in positions if position in chunks):
        if source := sources.get(chunk.source_id):
            yield _compared(quote, source, (chunk.span_start, chunk.span_end))


def _positions(quote: str, resolved: ResolvedFilter) -> list[int]:
    plain = bare(quote)
    tokens = tokenize(plain)
    words = [token.text for token in tokens if token.is_word and not token.is_filler(True)]
    last = max(0, len(words) - _PHRASE)
    hits = []
    for first in dict.fromkeys((0, last // 2, last)):
        phrase = " ".join(words[first : first + _PHRASE])
        query = Query(text=phrase, words=phrase, phrases=(phrase,))
        hits += lexical_index.search(query, limit=MAX_WITH_PHRASE, resolved=resolved)
    beginning = " ".join(plain.split()[:_SEARCHED])
    query = Query(text=beginning, words=beginning)
    hits += lexical_index.search(query, limit=MAX_ALIKE, resolved=resolved)
    return list(dict.fromkeys(hit.position for hit in hits))


def _compared(quote: str, source: Source, passage: Span) -> _Match:
    """Check a quote around a passage; in the whole text where the passage is outdated."""
    reading = source_texts.of(source)
    if reading.digest != source.digest:
        return _Match(quote_matching.check(quote, source_texts.prepared(source)), source)
    margin = 2 * len(quote) + _SLACK
    first = source_texts.border(reading.text, passage[0] - margin)
    last = source_texts.border(reading.text, passage[1] + margin)
    around = prepare(reading.text[first:last], has_added_stops=reading.has_added_stops)
    check = quote_matching.check(quote, around)
    if check.verdict != Verdict.VERBATIM and not all(mark.is_sure for mark in around.note_marks):
        # Only the whole text counts its notes.
        return _Match(quote_matching.check(quote, source_texts.prepared(source)), source)
    span = (check.span[0] + first, check.span[1] + first) if check.span else None
    return _Match(replace(check, span=span), source)


def _verified(quote: str, match: _Match) -> VerifiedQuote:
    check, source = match.check, match.source
    verified = VerifiedQuote(
        verdict=check.verdict,
        quote=quote,
        likeness=check.likeness,
        is_enough=check.is_enough,
        negation=check.negation,
        differences=check.differences,
    )
    if source is None or check.span is None:
        return verified
    reading = source_texts.of(source)
    locator = reading.locate(check.span)
    prefix, suffix = reading.around(check.span)
    link, youtube_id = source.path_to(locator), source.video and source.video.youtube_id
    return replace(
        verified,
        source=source.pk,
        origin=source.origin,
        locator=locator,
        text=reading.text[check.span[0] : check.span[1]],
        prefix=prefix,
        suffix=suffix,
        heading=reading.heading_at(check.span[0]),
        digest=reading.digest,
        link=link,
        timestamp_link=watch_url(youtube_id, at_ms=locator.start or 0) if youtube_id else link,
    )

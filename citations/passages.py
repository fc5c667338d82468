"""The results of a search: passages, their locations, and how their scores came about.

What has neither an address nor a location, such as ``Explanation`` and ``Stage``, leaves every door
as it is. ``citations.schemas.search`` has the shapes of the others.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from operator import attrgetter
from typing import Annotated, Final, NamedTuple, Protocol
from uuid import UUID

from pydantic import PlainSerializer

from transcripts.core.player import Player
from transcripts.text.timecodes import clock

PRINTED: Final = "{0} (printed {1})"
NEAREST: Final = 3  # passages that people are shown where none is likely to be relevant


class SearchMode(StrEnum):
    """The branches of a search: both, words only, or vectors only."""

    BOTH = "both"
    WORDS = "words"
    MEANING = "meaning"


@dataclass(frozen=True, slots=True, kw_only=True)
class Locator:
    """Where a passage is: milliseconds in a recording or pages in a document, and characters."""

    span: tuple[int, int]
    start: int | None = None  # ms
    end: int | None = None  # ms
    page: int | None = None  # counted from 1
    last_page: int | None = None
    is_slide: bool = False  # that is what its pages are


class PageForms(NamedTuple):
    """How the pages of a document, or the slides of a presentation, are written."""

    page: str = "page {0}"
    pages: str = "pages {0}–{1}"
    slide: str = "slide {0}"
    slides: str = "slides {0}–{1}"


ENGLISH: Final = PageForms()


class ColoredSpan(NamedTuple):
    """Characters [first, last) of a highlight; ``begins`` unless its start is cut off."""

    first: int
    last: int
    color: str
    highlight: UUID
    begins: bool = True


def colored_within(spans: Iterable[ColoredSpan], first: int, last: int) -> tuple[ColoredSpan, ...]:
    """Return the parts of spans in the text [first, last), counted from its start."""
    return tuple(
        ColoredSpan(
            first=max(span.first, first) - first,
            last=min(span.last, last) - first,
            color=span.color,
            highlight=span.highlight,
            begins=span.begins and span.first >= first,
        )
        for span in spans
        if span.first < last and span.last > first
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageSource:
    """The source of a passage, as it is shown."""

    id: UUID
    kind: str
    title: str
    author: str = ""  # a video's channel
    url: str = ""
    language: str = ""
    collection: str = ""  # slug
    tags: tuple[str, ...] = ()
    key: str = ""  # the id that a video is called by elsewhere
    video_pk: int | None = None
    player: Player = Player.NONE  # of a recording


@dataclass(frozen=True, slots=True, kw_only=True)
class TermScore:
    """What a query word adds to a BM25 score: idf · tf · (k1 + 1) / (tf + norm) · repetitions.

    Counted are all words with its stem in the passage's language.
    """

    term: str
    stem: str = ""
    frequency: int
    idf: float
    score: float


def _rounded(digits: int) -> PlainSerializer:
    return PlainSerializer(lambda number: round(number, digits), return_type=float)


@dataclass(frozen=True, slots=True)
class SignShare:
    """A sign of relevance: its value for a passage, and what it adds to the judge's sum."""

    name: str
    value: Annotated[float, _rounded(4)]
    share: Annotated[float, _rounded(4)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """How a score came about. Ranks count from 1; a branch that did not find the passage has none.

    “rrf” is the sum of “rrf_lexical” and “rrf_vector”, each 1 / (K + rank); “bm25” is the sum of
    its terms. The score comes from the judge, whose sum is “base” and the shares of its “signs”,
    and with one branch from “rrf”; “formula” has the numbers. “rerank_score” is what a
    cross-encoder gave the passage, None if it has not read it; it is one of the signs.
    """

    lexical_rank: int | None = None
    bm25: float | None = None
    terms: tuple[TermScore, ...] = ()
    vector_rank: int | None = None
    cosine: float | None = None
    rrf_lexical: float = 0.0
    rrf_vector: float = 0.0
    rrf: float = 0.0
    base: float = 0.0
    signs: tuple[SignShare, ...] = ()
    rerank_score: float | None = None
    formula: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NearDuplicate:
    """A near-duplicate that was dropped in favour of a better passage."""

    origin: PassageSource
    locator: Locator
    link: str
    similarity: float  # Jaccard, 0–1


@dataclass(frozen=True, slots=True, kw_only=True)
class PassagePart:
    """A neighbouring passage that was joined to a better one."""

    chunk: int
    locator: Locator
    text: str
    link: str
    timestamp_link: str
    opens_at: int | None = None  # ms

    @property
    def opening(self) -> Locator:
        """From where it is opened to its end."""
        return opened_at(self.opens_at, self.locator)


class DropRule(StrEnum):
    """Why a search does not list a passage by itself, or folds it away in its list."""

    FILTER = "filter"  # outside the filters
    QUERY = "query"  # without a quoted phrase, or with an excluded word
    CANDIDATES = "candidates"  # behind the candidates of both branches
    DUPLICATE = "near-duplicate"  # of a better one
    NEIGHBOUR = "neighbour"  # of a better one, and shown with it
    SHARE = "share"  # its source has enough passages
    FLOOR = "floor"  # probably not on the subject: behind those that are
    LIMIT = "limit"  # behind the last one that was asked for


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A piece of a source that answers a query; ``spans`` are the query's words in ``text``.

    ``parts`` are neighbouring passages that were found, too, in the order of the source. All else
    but ``extent``, ``opening`` and ``shown_place`` is about the passage itself, the best of them.
    ``link`` and ``timestamp_link`` open it where its sentence with the query's words is said,
    ``opens_at`` (ms); at its start if it has no such words or is no recording.
    """

    chunk: int  # the row's primary key, for marking; it changes when the source is cut again
    origin: PassageSource
    locator: Locator
    text: str
    context: str = ""
    heading: str = ""
    speaker: str = ""  # who alone says it; "": several, or not known
    score: float  # final score, 0–1, for comparing the passages of one search
    relevance: float | None = None  # how likely it is on the subject, 0–1; None: not known
    is_likely: bool = True  # listed as such: see ``search.candidates``
    folded: DropRule | None = None  # why a list of few passages folds it away
    link: str = ""  # a page of this site, as a path
    timestamp_link: str = ""  # YouTube at that second; for others the path of the page here
    opens_at: int | None = None
    spans: tuple[tuple[int, int], ...] = ()
    duplicates: tuple[NearDuplicate, ...] = ()
    parts: tuple[PassagePart, ...] = ()
    mark: bool | None = None  # what the caller marked it as, for this query
    explanation: Explanation | None = None

    @property
    def extent(self) -> Locator | None:
        """From the first of the parts to the last; None without parts."""
        if not self.parts:
            return None
        return covering([self.locator, *(part.locator for part in self.parts)])

    @property
    def opening(self) -> Locator:
        """From where it is opened to the end of its parts."""
        return opened_at(self.opens_at, self.extent or self.locator)

    @property
    def shown_place(self) -> str:
        """Where a list says that it is; see ``place_in``."""
        return place_in(place(self.opening), place(self.extent) if self.extent else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedHit:
    """What became of a passage in a search: its ``number`` in the list, and the ``rule`` by which
    it is folded away there or not listed. Ranks count from 1; None: not found so, or not so far up
    that it was compared.
    """

    chunk: int
    origin: PassageSource
    locator: Locator
    text: str
    link: str
    rule: DropRule | None = None
    number: int | None = None
    kept: int | None = None  # the chunk of the passage that is listed in its place
    similarity: float | None = None  # with that one: Jaccard, 0–1
    lexical_rank: int | None = None
    bm25: float | None = None
    vector_rank: int | None = None
    cosine: float | None = None
    fused_rank: int | None = None
    rank: int | None = None  # by the judge, or the cross-encoder

    @property
    def is_found(self) -> bool:
        """Whether words or meaning found it at all."""
        return self.lexical_rank is not None or self.vector_rank is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """A stage of a search or an answer: its duration, the number of its results, and a note."""

    name: str
    milliseconds: Annotated[float, _rounded(2)]
    count: int = 0
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """The best passages, best first; ``notes`` tell the reader what was left out and why.

    ``total`` counts them, also where only some of them were asked for. ``dropped`` are the hits
    that are not listed, if the search is to explain itself; ``traced`` is the passage whose place
    was asked for.
    """

    query: str
    mode: SearchMode
    passages: tuple[Passage, ...]
    total: int = 0
    dropped: tuple[TracedHit, ...] = ()
    traced: TracedHit | None = None
    stages: tuple[Stage, ...] = ()
    notes: tuple[str, ...] = ()
    reranked: bool = False
    hypothesis: str = ""  # HyDE's text, where one was made
    suggestion: str = ""  # the query with words corrected that occur nowhere
    nothing_relevant: bool = False  # none of the passages is likely on the subject
    milliseconds: float = field(default=0.0)


def opened_at(ms: int | None, locator: Locator) -> Locator:
    """Return a location from a time on; unchanged without one."""
    return locator if ms is None else replace(locator, start=ms)


def covering(locators: Sequence[Locator]) -> Locator:
    """Return the smallest extent over locators of one source."""

    spans, starts, ends, pages, last_pages = zip(*map(_COLUMNS, locators), strict=True)
    firsts, lasts = zip(*spans, strict=True)
    return Locator(
        span=(min(firsts), max(lasts)),
        start=min({*starts} - {None}, default=None),
        end=max({*ends, *starts} - {None}, default=None),
        page=min({*pages} - {None}, default=None),
        last_page=max({*last_pages, *pages} - {None}, default=None),
        is_slide=locators[0].is_slide,
    )


_COLUMNS = attrgetter("span", "start", "end", "page", "last_page")


class Located(Protocol):
    """Anything with a position: a locator, a chunk, a citation. Times are milliseconds."""

    @property
    def start(self) -> int | None: ...
    @property
    def end(self) -> int | None: ...
    @property
    def page(self) -> int | None: ...
    @property
    def last_page(self) -> int | None: ...
    @property
    def is_slide(self) -> bool: ...


def place(located: Located, forms: PageForms = ENGLISH) -> str:
    """Write a position: "3:28–3:41", "page 3", "slides 3–4"; "" where only characters are known."""
    times = interval(located.start, located.end)
    return times or pages(located.page, located.last_page, is_slide=located.is_slide, forms=forms)


def place_in(opening: str, extent: str = "", form: str = "{0}, in {1}") -> str:
    """Write the place that a hit opens and, if it begins before that, the extent that it is in:
    "3:31–3:41" or, with its parts, "3:31, in 3:12–3:58".
    """
    if not extent or opening == extent:
        return opening
    return form.format(opening.partition("–")[0], extent)


def interval(start: int | None, end: int | None = None) -> str:
    """Write times in milliseconds: "3:28–3:41"; "3:28" without an end or within one second."""
    if start is None:
        return ""
    first, last = clock(start), clock(end or start)
    return first if first == last else f"{first}–{last}"


def pages(
    first: int | None,
    last: int | None = None,
    *,
    is_slide: bool = False,
    forms: PageForms = ENGLISH,
) -> str:
    """Write page numbers: "page 3" or "pages 3–4", "slide 3" or "slides 3–4"."""
    if first is None:
        return ""
    several = last not in (None, first)
    return forms[2 * is_slide + several].format(first, last)


def printed_page(written: str, page: int | None, label: str | None, form: str = PRINTED) -> str:
    """Add to a written position the number that is printed on its first page, if that differs."""
    return form.format(written, label) if label and label != str(page) else written

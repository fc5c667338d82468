"""Cards of a lecture: the passages that a window cites, by rank, until the talk leaves them.

Each window keeps its own citations. A group shows up to three of its first window, each as a card.
A page that is shown is not cited again before the talk has been elsewhere for two minutes: a window
whose best passage is shown extends the group of that passage, and the new passages that it cites
are folded beneath.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from typing import Any, Final, NamedTuple

from django.db.models import OuterRef, Subquery
from django.utils import timezone

from citations.lectures.sessions import citations_of
from citations.models import Citation, Document, LectureSession, Page, Window
from citations.passages import interval, place, printed_page
from citations.providers.languages import empty_words
from citations.text.passage_text import read

AWAY: Final = 120_000  # ms after which a page that was shown is cited again
BESIDE: Final = 20  # characters between two passages that follow each other, at most


class CitedSentence(NamedTuple):
    """A sentence of a window, and where it ends: in a segment, after the text ``before`` (with
    single blanks). No segment: the window was queried by itself.
    """

    text: str
    segment: int | None = None
    before: str = ""

    @property
    def characters(self) -> int:
        """The length of ``before`` without blanks, in UTF-16 units, as scripts of a page count."""
        return len("".join(self.before.split()).encode("utf-16-le")) // 2


@dataclass(frozen=True, slots=True, kw_only=True)
class CardGroup:
    """The passages of a window in the order of their ranks, and the windows that cite on.

    ``number`` counts the groups of the lecture from 1, in the order of its speech. ``said`` is the
    sentence of the first window that is nearest to its best passage.
    """

    number: int
    windows: tuple[Window, ...]
    cards: tuple[Citation, ...]  # one to three
    others: tuple[Citation, ...]  # of later windows
    said: CitedSentence

    @property
    def first(self) -> Window:
        return self.windows[0]

    @property
    def last(self) -> Window:
        return self.windows[-1]

    @property
    def time(self) -> str:
        """When it was spoken of: "3:20–5:10" in the lecture, else the time of day."""
        if self.first.start is not None:
            return interval(self.first.start, self.last.end)
        ends = (self.first.created_at, self.last.created_at)
        times = (f"{timezone.localtime(end):%H:%M:%S}" for end in ends)
        return "–".join(dict.fromkeys(times))


def list_groups(session: LectureSession) -> list[CardGroup]:
    """Return the groups of a lecture, in order."""
    return _read(session, _drafts(session))


def groups_at(session: LectureSession, index: int) -> list[CardGroup]:
    """Return the groups that show or extend what a window cites."""
    return _read(session, [draft for draft in _drafts(session) if index in draft.windows])


def parted(text: str, groups: Iterable[CardGroup]) -> Iterator[tuple[str, tuple[CardGroup, ...]]]:
    """Cut the text of a segment, with single blanks, after each sentence that groups belong to."""
    begin = 0
    in_order = sorted(groups, key=lambda group: len(group.said.before))
    for end, own in groupby(in_order, key=lambda group: len(group.said.before)):
        yield text[begin:end], tuple(own)
        begin = end
    if text[begin:]:
        yield text[begin:], ()


def printed_place(citation: Citation) -> str:
    """Write a position, with the number that is printed on its first page if that differs."""
    label = getattr(citation, "page_label", None)
    return printed_page(place(citation), citation.page, label)


def heading_path(citation: Citation) -> str:
    """Write the headings above a citation as the document's table of contents has them, else the
    last one: "Limits › One-sided limits".
    """
    above: list[tuple[int, str]] = []
    path = citation.section_heading
    for level, title, page in getattr(citation, "outline", None) or ():
        if page > (citation.page or 0):
            break
        above = [*(entry for entry in above if entry[0] < level), (level, title)]
        if title == citation.section_heading:
            path = " › ".join(title for _, title in above)
    return path


@dataclass(slots=True)
class _Draft:
    """A group by indexes of windows and keys of citations."""

    number: int
    windows: list[int] = field(default_factory=list)
    cards: list[int] = field(default_factory=list)
    others: dict[Any, int] = field(default_factory=dict)  # by page or passage


class _Cited(NamedTuple):
    """A citation, with the time of its window and the place of its passage."""

    key: int
    window: int  # its index
    start: int | None  # ms
    end: int | None
    created_at: datetime
    page: Any  # source and number of page, else None
    passage: Any  # source, text and section
    first: int
    last: int

    def shows(self, other: "_Cited") -> bool:
        """Tell whether a reader sees both passages at one place."""
        if self.page is not None and self.page == other.page:
            return True
        gap = max(self.first, other.first) - min(self.last, other.last)
        return bool(self.passage == other.passage) and gap <= BESIDE

    def before(self, other: "_Cited") -> float:
        """Return the time from this window to another in ms: of the speech, if that is known."""
        if self.end is not None and other.start is not None:
            return other.start - self.end
        return (other.created_at - self.created_at).total_seconds() * 1000


def _drafts(session: LectureSession) -> list[_Draft]:
    drafts: list[_Draft] = []
    shown: list[tuple[_Cited, _Draft]] = []  # what was cited in the last two minutes
    for index, citations in groupby(_cited(session), lambda citation: citation.window):
        cited = list(citations)
        shown = [(each, draft) for each, draft in shown if each.before(cited[0]) < AWAY]
        leading = _showing(shown, cited[0])
        if leading is None:
            drafts.append(leading := _Draft(number=len(drafts) + 1))
        for citation in cited:
            draft = _showing(shown, citation)
            if draft is None:
                draft = leading
                if not draft.windows or draft.windows == [index]:
                    draft.cards.append(citation.key)
                else:
                    place_ = citation.page or (citation.passage, citation.first)
                    draft.others.setdefault(place_, citation.key)
            if index not in draft.windows:
                draft.windows.append(index)
            shown.append((citation, draft))
    return drafts


def _showing(shown: Iterable[tuple[_Cited, _Draft]], citation: _Cited) -> _Draft | None:
    return next((draft for each, draft in shown if each.shows(citation)), None)


def _cited(session: LectureSession) -> Iterator[_Cited]:
    rows = citations_of(session).select_related(None).order_by("window_index", "rank")
    times = ("window__start", "window__end", "window__created_at")
    columns = ("page", "source_id", "digest", "section_heading", "span_start", "span_end")
    for key, window, start, end, at, page, source, *passage, first, last in rows.values_list(
        "pk", "window_index", *times, *columns
    ):
        on = None if page is None else (source, page)
        yield _Cited(key, window, start, end, at, on, (source, *passage), first, last)


def _read(session: LectureSession, drafts: Sequence[_Draft]) -> list[CardGroup]:
    """Read groups, without those of a lecture or of sources that have been deleted meanwhile."""
    page = Page.objects.filter(document=OuterRef("source"), number=OuterRef("page"))
    document = Document.objects.filter(source=OuterRef("source"))
    citations = citations_of(session).annotate(
        page_label=Subquery(page.values("label")[:1]),
        outline=Subquery(document.values("outline")[:1]),
    )
    keys = [key for draft in drafts for key in (*draft.cards, *draft.others.values())]
    by_key = citations.in_bulk(keys)
    indexes = {index for draft in drafts for index in draft.windows}
    windows = {row.index: row for row in Window.objects.filter(session=session, index__in=indexes)}
    drafts = [draft for draft in drafts if windows.keys() >= {*draft.windows}]
    for citation in by_key.values():
        citation.window = windows.get(citation.window_index or 0)
    speech = _speech(session, [windows[draft.windows[0]] for draft in drafts])
    groups = []
    for draft in drafts:
        cards = tuple(by_key[key] for key in draft.cards if key in by_key)
        if cards:
            first = windows[draft.windows[0]]
            groups.append(
                CardGroup(
                    number=draft.number,
                    windows=tuple(windows[index] for index in draft.windows),
                    cards=cards,
                    others=tuple(by_key[key] for key in draft.others.values() if key in by_key),
                    said=_nearest(first, speech, cards[0].quote, session.language),
                )
            )
    return groups


_Speech = Mapping[int, str]  # texts of segments by number, in order


def _speech(session: LectureSession, windows: Sequence[Window]) -> _Speech:
    """Read the segments that windows cover."""
    ends = [number for row in windows for number in (row.first, row.last) if number is not None]
    if not ends:
        return {}
    rows = session.segments.filter(number__range=(min(ends), max(ends))).order_by("number")
    return {number: " ".join(text.split()) for number, text in rows.values_list("number", "text")}


def _nearest(window: Window, speech: _Speech, quote: str, language: str) -> CitedSentence:
    """Return the sentence of a window that is nearest to a quote; the last one, if none has any
    word of it: the first is in the window before, too.
    """
    text = read(" ".join(window.text.split()), language)
    telling = " ".join(read(quote, language).words - empty_words(language))
    start, stop = text.nearest_sentence(telling)
    if not read(text.text[start:stop], language).marked(telling):
        start, stop = text.sentences[-1]
    said = text.text[start:stop].rstrip()
    if window.first is None or window.last is None:
        return CitedSentence(said)
    covered = {number: speech[number] for number in speech if window.first <= number <= window.last}
    line = " ".join(covered.values())
    begin = line.find(text.text)
    end = begin + start + len(said) if begin >= 0 else len(line)
    for number, piece in covered.items():
        if end <= len(piece):
            return CitedSentence(said, number, piece[:end])
        end -= len(piece) + 1
    return CitedSentence(said, window.last)

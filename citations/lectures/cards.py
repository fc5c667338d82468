"""Cards of a lecture: what windows in a row cite, as one while their best passage stays the same.

Each window keeps its own citations. A card shows the best one of its first window; it lasts until
a window's best passage is neither that passage nor beside it in its section. The other passages
that its windows cite are folded beneath it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.db.models import OuterRef, Prefetch, Subquery
from django.utils import timezone

from citations.lectures.sessions import citations_of
from citations.models import Citation, Document, LectureSession, Page, Window
from citations.passages import interval, place, printed_page

BESIDE: Final = 20  # characters between two passages that follow each other, at most

# The least score for each name of a confidence: “First passages by their score” in
# bench/RESULTS.md.
CITATION_CONFIDENCES: Final = ((0.98, "high"), (0.9, "medium"), (0.0, "low"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """A passage, and the windows that cite it, by index.

    ``number`` counts the cards of the lecture from 1, in the order of its speech.
    """

    number: int
    windows: tuple[Window, ...]
    best: Citation
    others: tuple[Citation, ...]  # of other pages or passages, those of earlier windows first

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


def list_cards(session: LectureSession) -> list[Card]:
    """Return the cards of a lecture, in order."""
    return _read(session, dict(enumerate(_groups(session), start=1)))


def card_at(session: LectureSession, index: int) -> Card | None:
    """Return the card of a window, if it cites anything."""
    groups = enumerate(_groups(session), start=1)
    own = {number: group for number, group in groups if index in group}
    return next(iter(_read(session, own)), None)


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


def confidence(citation: Citation) -> str:
    """Return the name of how sure a citation is."""
    score = citation.relevance_score or 0.0
    return next(name for least, name in CITATION_CONFIDENCES if score >= least)


def _groups(session: LectureSession) -> list[list[int]]:
    """Return the indexes of the windows of each card, in order."""
    best = citations_of(session).select_related(None).order_by("window_index", "rank")
    columns = ("window_index", "source_id", "digest", "section_heading", "span_start", "span_end")
    groups: list[list[int]] = []
    previous: tuple[Any, ...] = ()
    for index, *passage in best.distinct("window_index").values_list(*columns):
        if previous and _is_beside(passage, previous):
            groups[-1].append(index)
        else:
            groups.append([index])
            previous = tuple(passage)
    return groups


def _is_beside(passage: Sequence[Any], previous: Sequence[Any]) -> bool:
    """Tell whether a passage is the one shown, or follows or precedes it in the same section."""
    *section, start, end = passage
    *shown_section, shown_start, shown_end = previous
    gap = max(start, shown_start) - min(end, shown_end)
    return section == shown_section and gap <= BESIDE


def _read(session: LectureSession, groups: Mapping[int, Sequence[int]]) -> list[Card]:
    page = Page.objects.filter(document=OuterRef("source"), number=OuterRef("page"))
    document = Document.objects.filter(source=OuterRef("source"))
    citations = citations_of(session).annotate(
        page_label=Subquery(page.values("label")[:1]),
        outline=Subquery(document.values("outline")[:1]),
    )
    cited = Prefetch("citations", queryset=citations.order_by("rank"), to_attr="cited")
    indexes = [index for group in groups.values() for index in group]
    windows = Window.objects.filter(session=session, index__in=indexes).prefetch_related(cited)
    by_index = {window.index: window for window in windows}
    cards = (
        _card(number, [by_index[index] for index in group if index in by_index])
        for number, group in groups.items()
    )
    return [card for card in cards if card is not None]


def _card(number: int, windows: Sequence[Any]) -> Card | None:
    """Make a card, with the first citation of each other page, or of a recording's passage; None
    if its sources have been deleted since it was looked for.
    """
    cited: dict[tuple[Any, ...], Citation] = {}
    for citation in (citation for window in windows for citation in window.cited):
        cited.setdefault(_passage(citation), citation)
    if not cited:
        return None
    best, *others = cited.values()
    return Card(number=number, windows=tuple(windows), best=best, others=tuple(others))


def _passage(citation: Citation) -> tuple[Any, ...]:
    if citation.page is not None:
        return citation.source_id, citation.page
    return citation.source_id, citation.digest, citation.span_start, citation.span_end

"""Highlights: passages of sources that a reader keeps, private or shared with its collection."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from itertools import islice
from typing import Any, Final
from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import Q
from django.utils import timezone

from citations.errors import HighlightNotFound, PassageNotFound
from citations.library.filters import CheckedFilter, find_source
from citations.models import Highlight, HighlightColor, HighlightQuerySet, Source
from citations.notebook import gaps
from citations.notebook.gaps import CardGap
from citations.passages import ColoredSpan, Locator
from citations.quotes import source_texts, verification
from citations.quotes.anchoring import SelectedText
from citations.quotes.matching import prepare
from citations.schemas.filters import MAX_TAG, HighlightFilterIn
from citations.text.sentences import Span
from transcripts.core import deleting
from transcripts.core.errors import Forbidden, InvalidInput
from transcripts.core.lists import containing, page_of, row_of, tagged
from transcripts.core.sanitize import clean
from transcripts.core.scope import Scope
from transcripts.library import reading as library

MAX_QUOTE: Final = 5_000  # characters
MAX_NOTE: Final = 10_000
MAX_TAGS: Final = 20
MAX_IN_SOURCE: Final = 2_000  # that a reader shows
AT_ONCE: Final = 50  # whose texts are in memory together

DETAILS: Final = (
    "author",
    "source__collection",
    "source__video__media",
    "source__transcript__video",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class HighlightNotes:
    """What a reader adds to a passage."""

    color: str = HighlightColor.YELLOW
    note: str = ""
    tags: Sequence[str] = ()
    is_shared: bool = False
    is_card: bool = False
    hidden_words: str = ""  # by the card; empty: chosen automatically


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedHighlight:
    """A highlight, and where it is now; None where its words are gone or uncertain."""

    row: Highlight
    locator: Locator | None

    @property
    def is_lost(self) -> bool:
        return self.locator is None

    @property
    def gap(self) -> CardGap:
        """The sentence of its card, with the words that are hidden."""
        return gaps.gap_of(self.row, self.locator)

    @property
    def link(self) -> str:
        """The path that opens its passage; of a lost one, its source, when it was said."""
        source = self.row.source
        if self.locator is not None:
            return source.path_to(self.locator)
        if source.video_id:
            return source.path_to(replace(self.row.locator, end=None))
        return source.path


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptHighlight:
    """A stored highlight; ``is_new`` unless the same passage was one already.

    ``is_changed``: that one had another place, note, colour or tags.
    """

    placed: PlacedHighlight
    is_new: bool
    is_changed: bool = False


class HighlightFilter(HighlightFilterIn, CheckedFilter):
    """Which highlights: each part that is not empty must match; days are those of the making."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HighlightPage:
    """A page of highlights, latest first; ``next`` is the next offset or None, and ``cards`` says
    how many of all are cards.
    """

    highlights: tuple[PlacedHighlight, ...]
    total: int
    cards: int
    next: int | None


def keep(
    scope: Scope,
    user: User | None,
    source: Source | UUID | str,
    selected: SelectedText,
    notes: HighlightNotes = HighlightNotes(),
    *,
    start: int | None = None,
    page: int | None = None,
    only: Collection[str] | None = None,
) -> KeptHighlight:
    """Highlight the words of a source that were selected near ``start`` (ms) or on ``page``.

    The same passage of the same reader is changed: of its notes, what ``only`` names (None: all).
    Raises ``SourceNotFound``, ``PassageNotFound`` where the words are not there,
    ``HiddenWordsNotFound``, ``InvalidInput``, and ``Forbidden`` for a shared highlight in a
    collection that is read only.
    """
    row = source if isinstance(source, Source) else find_source(scope, str(source))
    columns = _columns(scope, row, notes)
    anchor = _anchor(row, selected, start=start, page=page)
    anchored = Highlight(source=row, **anchor)
    columns["hidden_words"] = gaps.stored_words(anchored, anchored.locator, notes.hidden_words)
    span = (anchor["span_start"], anchor["span_end"])
    same = Q(span_start=span[0], span_end=span[1]) | ~Q(digest=anchor["digest"])
    others = _in_text(row, own(user).filter(same, source=row)[:MAX_IN_SOURCE])
    if other := _same(others, span, anchor["quote"]):
        named = columns if only is None else {name: columns[name] for name in only}
        is_changed = _write(other.row, {**anchor, **named})
        return KeptHighlight(placed=_place(other.row), is_new=False, is_changed=is_changed)
    highlight = Highlight.objects.create(source=row, author=user, **anchor, **columns)
    return KeptHighlight(
        placed=PlacedHighlight(row=highlight, locator=highlight.locator), is_new=True
    )


def _same(others: Iterable[PlacedHighlight], span: Span, quote: str) -> PlacedHighlight | None:
    """Return the highlight of a passage: the one there, else a lost one of the same words, which
    so gets its place back.
    """
    lost = None
    for other in others:
        if other.locator is None:
            is_alike = prepare(other.row.quote).words() == prepare(quote).words()
            lost = lost or (other if is_alike else None)
        elif other.locator.span == span:
            return other
    return lost


def change(scope: Scope, highlight: Highlight, notes: HighlightNotes) -> None:
    """Replace a highlight's colour, note, tags and hidden words. Raises ``InvalidInput`` and
    ``Forbidden``.
    """
    columns = _columns(scope, highlight.source, notes)
    hidden_words = gaps.stored_words(highlight, _place(highlight).locator, notes.hidden_words)
    _write(highlight, {**columns, "hidden_words": hidden_words})


def delete(highlight: Highlight) -> None:
    deleting.delete_row(highlight)


def find(
    scope: Scope, user: User | None, reference: UUID | str, *, write: bool = False
) -> PlacedHighlight:
    """Return a visible highlight. Raises ``HighlightNotFound``, and ``Forbidden`` to change it if
    it is another user's.
    """
    visible = Highlight.objects.readable(scope, user).select_related(*DETAILS)
    row = row_of(visible, reference, HighlightNotFound)
    if write and row.author_id != (user.pk if user else None):
        raise Forbidden(
            "This is somebody else’s highlight.", hint="Highlight the passage yourself."
        )
    return _place(row)


def own(user: User | None) -> HighlightQuerySet:
    """Return a user's highlights (None: the local user's), wherever they are."""
    return Highlight.objects.kept().filter(author=user).select_related(*DETAILS)


def matching(scope: Scope, user: User | None, filter: HighlightFilter) -> HighlightQuerySet:
    """Return the visible highlights of a filter, latest first.

    Raises ``SourceNotFound`` and ``CollectionNotFound``.
    """
    rows = Highlight.objects.readable(scope, user).select_related(*DETAILS)
    if filter.collection:
        rows = rows.filter(source__collection=library.find_collection(scope, filter.collection))
    if filter.source:
        rows = rows.filter(source=find_source(scope, filter.source))
    rows = containing(rows, filter.words, "quote", "note", "source__title")
    rows = rows.filter(tagged(filter.tag)) if filter.tag else rows
    conditions: dict[str, Any] = {"author": user} if filter.own else {}
    conditions |= {"color": filter.color} if filter.color else {}
    conditions |= {"is_card": True} if filter.cards else {}
    if filter.since:
        conditions["created_at__gte"] = timezone.make_aware(datetime.combine(filter.since, time()))
    if filter.until and filter.until < date.max:
        end = datetime.combine(filter.until + timedelta(days=1), time())
        conditions["created_at__lt"] = timezone.make_aware(end)
    return rows.filter(**conditions).order_by("-created_at", "-pk")


def list_highlights(
    scope: Scope,
    user: User | None,
    filter: HighlightFilter = HighlightFilter(),
    *,
    offset: int = 0,
    limit: int = 25,
) -> HighlightPage:
    """Return a page of highlights. Raises what ``matching`` raises."""
    rows = matching(scope, user, filter)
    page, following = page_of(rows, offset, limit)
    return HighlightPage(
        highlights=tuple(place(page)),
        total=rows.count(),
        cards=rows.filter(is_card=True).count(),
        next=following,
    )


def in_source(
    scope: Scope, user: User | None, source: Source, *, within: Span | None = None
) -> tuple[PlacedHighlight, ...]:
    """Return the highlights of a source as its text is now, in its order; lost ones last.

    ``within`` are the characters that are shown: highlights elsewhere are left out.
    """
    rows = Highlight.objects.readable(scope, user).filter(source=source)
    if within:
        # Where the text has changed since, only placing them says where they are.
        overlaps = Q(span_start__lt=within[1], span_end__gt=within[0])
        rows = rows.filter(overlaps | ~Q(digest=source.digest))
    rows = rows.select_related("author").order_by("span_start", "pk")[:MAX_IN_SOURCE]
    placed, at_the_end = _in_text(source, rows), (2**62, 0)
    spans = [(each.locator.span if each.locator else at_the_end, each) for each in placed]
    spans.sort(key=lambda pair: pair[0])
    return tuple(
        each
        for span, each in spans
        if within is None or each.is_lost or (span[0] < within[1] and span[1] > within[0])
    )


def count_in_source(scope: Scope, user: User | None, source: Source) -> int:
    return Highlight.objects.readable(scope, user).filter(source=source).count()


def colored(placed: Iterable[PlacedHighlight]) -> tuple[ColoredSpan, ...]:
    """Return where a text is marked, and in which colour."""
    return tuple(
        ColoredSpan(*highlight.locator.span, highlight.row.color, highlight.row.uuid)
        for highlight in placed
        if highlight.locator
    )


def place(rows: Iterable[Highlight]) -> Iterator[PlacedHighlight]:
    """Yield where highlights are; texts are read, of many at once, only where they have changed."""
    remaining = iter(rows)
    while batch := [*islice(remaining, AT_ONCE)]:
        changed = [row.source for row in batch if row.digest != row.source.digest]
        readings = source_texts.of_each(changed)
        for row in batch:
            reading = readings.get(row.source_id)
            locator = verification.locator_in(row, reading) if reading else row.locator
            yield PlacedHighlight(row=row, locator=locator)


def tags_of(text: str) -> tuple[str, ...]:
    """Split a field of tags at commas."""
    return tuple(filter(None, (tag.strip() for tag in text.split(","))))


def _place(row: Highlight) -> PlacedHighlight:
    return next(place([row]))


def _in_text(source: Source, rows: Iterable[Highlight]) -> list[PlacedHighlight]:
    """Compare with the text itself: the digest of a source changes only when it is indexed."""
    reading, placed = source_texts.of(source), []
    for row in rows:
        row.source = source
        placed.append(PlacedHighlight(row=row, locator=verification.locator_in(row, reading)))
    return placed


def _anchor(
    source: Source, selected: SelectedText, *, start: int | None, page: int | None
) -> dict[str, Any]:
    if len(selected.exact) > MAX_QUOTE:
        raise InvalidInput(
            f"The passage has {len(selected.exact):,} characters; at most {MAX_QUOTE:,} can be"
            " highlighted at once.",
            hint="Highlight its parts.",
        )
    if not selected.exact.strip():
        raise InvalidInput("No words are selected.", hint="Select some, or type them.")
    reading = source_texts.of(source)
    span = source_texts.find(source, selected, start=start, page=page)
    if span is None:
        raise PassageNotFound(
            f"These words are not in “{source.title}”, or in several places.",
            hint="Copy them as they are written there, with a few more words.",
        )
    at = reading.locate(span)
    prefix, suffix = reading.around(span)
    return {
        "span_start": span[0],
        "span_end": span[1],
        "start": at.start,
        "end": at.end,
        "page": at.page,
        "last_page": at.last_page,
        "quote": reading.text[slice(*span)],
        "prefix": prefix,
        "suffix": suffix,
        "digest": reading.digest,
        "section_heading": reading.heading_at(span[0]),
        "speaker": reading.speaker_of(span)[:100],
    }


def _columns(scope: Scope, source: Source, notes: HighlightNotes) -> dict[str, Any]:
    if notes.color not in HighlightColor.values:
        raise InvalidInput(
            f"There is no colour “{clean(notes.color, 40)}”.",
            hint=f"Colours: {', '.join(HighlightColor.values)}.",
        )
    if len(notes.note) > MAX_NOTE:
        raise InvalidInput(f"A note on a highlight has at most {MAX_NOTE:,} characters.")
    if notes.is_shared:
        scope.require_write(source.collection_id)
    tags = dict.fromkeys(" ".join(clean(tag, MAX_TAG).split()) for tag in notes.tags)
    tags.pop("", None)
    if len(tags) > MAX_TAGS:
        raise InvalidInput(f"A highlight has at most {MAX_TAGS} tags.")
    return {
        "color": notes.color,
        "note": clean(notes.note.replace("\r\n", "\n"), MAX_NOTE).strip(),
        "tags": [*tags],
        "is_shared": notes.is_shared,
        "is_card": notes.is_card,
    }


def _write(row: Highlight, columns: dict[str, Any]) -> bool:
    """Change a highlight where it differs; return whether it does."""
    changes = {name: value for name, value in columns.items() if getattr(row, name) != value}
    for name, value in changes.items():
        setattr(row, name, value)
    if changes:
        row.save(update_fields=[*changes, "updated_at"])
    return bool(changes)

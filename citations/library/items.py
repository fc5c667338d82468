"""The library: recordings, documents and lectures in one list, sorted, grouped and filtered.

The rows of a page are chosen by one union of three narrow queries; only these rows are then read.
"""

from collections import Counter
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final, TypeVar

from django.contrib.auth.models import User
from django.contrib.postgres.expressions import ArraySubquery
from django.contrib.postgres.fields import ArrayField
from django.db.models import (
    Case,
    Count,
    DateTimeField,
    Exists,
    F,
    Func,
    IntegerField,
    JSONField,
    Model,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    TextField,
    Value,
    When,
)
from django.db.models.functions import Cast, Coalesce, NullIf
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from citations.errors import InvalidFilter
from citations.formats import VIDEO
from citations.library.filters import in_language
from citations.library.item import KINDS, LECTURE, TABLES, ChosenRow, Item, load_items
from citations.models import LectureSession, ReadingProgress, Source, State
from citations.models.sources import TRANSCRIPT
from transcripts.core.alphabet import alphabetical
from transcripts.core.lists import containing, tagged
from transcripts.core.sanitize import clean
from transcripts.core.scope import Scope
from transcripts.models import Collection, FeedEntry, Transcript, Video
from transcripts.models.videos import SILENT

SORTS: Final = ("added", "published", "title", "length", "read")
READING: Final = (
    ("unread", _("unread")),
    ("begun", _("begun")),
    ("read", pgettext_lazy("state", "read")),
)
GROUPS: Final = ("collection", "channel", "playlist", "tag", "kind")
MS_A_CHARACTER: Final = 60  # a page of 3,000 characters is read in three minutes

_Rows = TypeVar("_Rows", bound=Model)


@dataclass(frozen=True, slots=True, kw_only=True)
class LibraryQuery:
    """What is listed, and how; an empty part restricts nothing. A ``-`` before a sort reverses it.

    New and long items and those read last come first, titles from A to Z.
    """

    words: str = ""
    collection: str = ""
    channel: str = ""
    playlist: str = ""  # its title or its id at YouTube; channels that are followed, too
    tag: str = ""
    kind: str = ""
    language: str = ""
    state: str = ""
    reading: str = ""
    sort: str = SORTS[0]
    group: str = ""

    @property
    def is_filtered(self) -> bool:
        parts = (self.words, self.collection, self.channel, self.playlist, self.tag, self.kind)
        return any((*parts, self.language, self.state, self.reading))


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemPage:
    """Some items. ``groups`` counts the items of each group; ``next`` is an offset or None."""

    items: tuple[Item, ...]
    total: int
    groups: dict[str, int]
    next: int | None


def list_items(
    scope: Scope,
    listing: LibraryQuery = LibraryQuery(),
    *,
    reader: User | None = None,
    offset: int = 0,
    limit: int = 60,
) -> ItemPage:
    """Return a page of the items that match every one of the words in title, channel or id.

    Who looks at them is the ``reader``. Raises ``InvalidFilter`` for an unknown state, kind,
    reading, sort or group, and ``CollectionNotFound``.
    """
    _check(listing)
    branches = _branches(scope, listing, reader)
    # The row before the page tells whether its first group began there.
    before = min(1, offset)
    rows: list[ChosenRow] = list(
        _chosen(branches, listing, reader)[offset - before : offset + limit + 1]
    )
    page = rows[before:]
    return ItemPage(
        items=tuple(
            load_items(
                rows[: before + limit], after=before, is_grouped=bool(listing.group), reader=reader
            )
        ),
        total=sum(branch.order_by().count() for branch in branches.values()),
        groups=_group_sizes(branches, listing),
        next=offset + limit if len(page) > limit else None,
    )


def _check(listing: LibraryQuery) -> None:
    choices = {
        "state": ("", *State.values),
        "kind": ("", *dict(KINDS)),
        "reading": ("", *dict(READING)),
        "sort": (*SORTS, *(f"-{sort}" for sort in SORTS)),
        "group": ("", *GROUPS),
    }
    for name, values in choices.items():
        if (value := getattr(listing, name)) not in values:
            raise InvalidFilter(
                f"There is no {name} “{clean(value, 40)}”.",
                hint=f"Known: {', '.join(filter(None, values))}.",
            )


# Which rows


def _branches(
    scope: Scope, listing: LibraryQuery, reader: User | None
) -> "dict[type[Model], QuerySet[Any]]":
    """Return the matching rows of each table that can have some."""
    tables: dict[type[Model], QuerySet[Any]] = {}
    if listing.kind in ("", *_SPOKEN):
        tables[Video] = _videos(scope, listing)
    if listing.kind not in (*_SPOKEN, LECTURE) and not listing.playlist:
        tables[Source] = _documents(scope, listing)
    if listing.reading:
        tables = {table: _read(table, rows, listing, reader) for table, rows in tables.items()}
    has_none = (listing.channel, listing.playlist, listing.tag, listing.state, listing.reading)
    if listing.kind in ("", LECTURE) and not any(has_none):
        tables[LectureSession] = _lectures(scope, listing)
    if listing.collection:
        collection = Collection.objects.visible(scope).named(listing.collection)
        tables = {table: rows.filter(collection=collection) for table, rows in tables.items()}
    return tables


def _videos(scope: Scope, listing: LibraryQuery) -> QuerySet[Video]:
    visible = Video.objects.visible(scope)
    rows = containing(visible, listing.words, "title", "channel", "key")
    if listing.kind:
        rows = rows.filter(SILENT if listing.kind == TRANSCRIPT else ~SILENT)
    if listing.language:
        spoken = Transcript.objects.filter(video=OuterRef("pk"))
        rows = rows.filter(Exists(spoken.filter(in_language(listing.language))))
    if listing.state:
        rows = rows.filter(Exists(Source.objects.filter(video=OuterRef("pk"), state=listing.state)))
    if name := clean(listing.playlist, 300):
        named = Q(feed__title__iexact=name) | Q(feed__youtube_id=name)
        rows = rows.filter(Exists(_entries().filter(named)))
    return _about(rows, listing, channel="channel")


def _documents(scope: Scope, listing: LibraryQuery) -> QuerySet[Source]:
    rows: QuerySet[Source] = Source.objects.visible(scope).filter(video=None)
    rows = containing(rows, listing.words, "title", "author")
    if listing.kind:
        rows = rows.filter(kind=listing.kind)
    if listing.language:
        rows = rows.filter(in_language(listing.language))
    if listing.state:
        rows = rows.filter(state=listing.state)
    return _about(rows, listing, channel="author")


def _lectures(scope: Scope, listing: LibraryQuery) -> QuerySet[LectureSession]:
    rows = containing(LectureSession.objects.visible(scope), listing.words, "title")
    return rows.filter(in_language(listing.language)) if listing.language else rows


def _entries() -> QuerySet[FeedEntry]:
    """Return the entries, in playlists of its collection, of the video of an outer query."""
    return FeedEntry.objects.filter(
        youtube_id=OuterRef("youtube_id"), feed__collection=OuterRef("collection")
    )


def _read(
    table: type[Model], rows: QuerySet[_Rows], listing: LibraryQuery, reader: User | None
) -> QuerySet[_Rows]:
    progress = _progress(table, reader)
    if listing.reading == "unread":
        return rows.exclude(Exists(progress))
    return rows.filter(Exists(progress.filter(is_finished=listing.reading == "read")))


def _progress(table: type[Model], reader: User | None) -> QuerySet[ReadingProgress]:
    return ReadingProgress.objects.filter(user=reader, **{TABLES[table]: OuterRef("pk")})


def _about(rows: QuerySet[_Rows], listing: LibraryQuery, *, channel: str) -> QuerySet[_Rows]:
    if listing.channel:
        rows = rows.filter(**{f"{channel}__iexact": clean(listing.channel, 200)})
    if listing.tag:
        rows = rows.filter(tagged(listing.tag))
    return rows


# In which order


def _chosen(
    branches: "dict[type[Model], QuerySet[Any]]", listing: LibraryQuery, reader: User | None
) -> Any:
    """Return all rows in order, as a query that can be sliced."""
    if not branches:
        return []
    narrow = [
        rows.order_by()
        .annotate(
            table=_text(TABLES[table]),
            group=_group(table, listing.group),
            rank=_rank(table, listing.sort.removeprefix("-"), reader),
            place=alphabetical(_group(table, listing.group)),
        )
        .values_list("table", "pk", "group", "rank", "place")
        for table, rows in branches.items()
    ]
    union = narrow[0].union(*narrow[1:], all=True) if len(narrow) > 1 else narrow[0]
    rank = F("rank")
    is_upward = listing.sort == "title" or listing.sort.startswith("-") and listing.sort != "-title"
    ranked = rank.asc(nulls_last=True) if is_upward else rank.desc(nulls_last=True)
    groups = (F("place").asc(nulls_last=True), F("group").asc(nulls_last=True))
    return union.order_by(*groups, ranked, "table", "-pk")


def _group(table: type[Model], group: str) -> Any:
    """Return the heading that a row stands under; NULL for none."""
    if not group:
        return _text(None)
    if group == "collection":
        return Cast("collection__name", TextField())
    if group == "kind":
        return _KINDS_OF[table]
    if table is LectureSession:
        return _text(None)
    if group == "channel":
        return NullIf(Cast(_AUTHOR[table], TextField()), _text(""))
    # A row without tags or playlists has one place, too; one with several stands under each.
    if group == "playlist":
        return _playlists() if table is Video else _text(None)
    some = Case(
        When(tags=[], then=Value([None], output_field=JSONField())),
        default=F("tags"),
        output_field=JSONField(),
    )
    return Func(
        some, function="jsonb_array_elements_text", output_field=TextField(), set_returning=True
    )


def _playlists() -> Func:
    names = Coalesce(NullIf("feed__title", _text("")), "feed__youtube_id")
    titles = ArraySubquery(_entries().order_by().values_list(Cast(names, TextField())).distinct())
    texts = ArrayField(TextField())
    some = Case(
        When(Exists(_entries()), then=titles),
        default=Value([None], output_field=texts),
        output_field=texts,
    )
    return Func(some, function="unnest", output_field=TextField(), set_returning=True)


def _text(value: str | None) -> Value:
    return Value(value, output_field=TextField())


def _rank(table: type[Model], sort: str, reader: User | None) -> Any:
    if sort == "added":
        return _replayed_at() if table is LectureSession else F("created_at")
    if sort == "title":
        return alphabetical("title")
    absent = Value(None, output_field=DateTimeField())
    if sort == "read":
        is_lecture = table is LectureSession
        return absent if is_lecture else Subquery(_progress(table, reader).values("read_at"))
    if sort == "published":
        return absent if table is LectureSession else F("published_at")
    if table is Source:
        return Cast(F("characters") * MS_A_CHARACTER, IntegerField())
    return Cast("position" if table is LectureSession else "duration", IntegerField())


def _replayed_at() -> Case:
    """When a lecture was added; a replay that has not ended stands behind its recording."""
    is_begun = Q(transcript__isnull=False, ended_at=None)
    recorded_at = F("transcript__video__created_at") - Value(timedelta(seconds=1))
    return Case(When(is_begun, then=recorded_at), default=F("created_at"))


def _group_sizes(
    branches: "dict[type[Model], QuerySet[Any]]", listing: LibraryQuery
) -> dict[str, int]:
    sizes: Counter[str] = Counter()
    for table, rows in branches.items() if listing.group else ():
        grouped = rows.order_by().annotate(group=_group(table, listing.group))
        for name, size in grouped.values_list("group").annotate(Count("pk")):
            sizes[name or ""] += size
    return dict(sizes)


_SPOKEN: Final = (VIDEO, TRANSCRIPT)
_KINDS_OF: Final[dict[type[Model], Any]] = {
    Video: Case(When(SILENT, then=_text(TRANSCRIPT)), default=_text(VIDEO)),
    Source: Cast("kind", TextField()),
    LectureSession: _text(LECTURE),
}
_AUTHOR: Final[dict[type[Model], str]] = {Video: "channel", Source: "author"}

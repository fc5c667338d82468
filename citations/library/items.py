"""The library: recordings, documents and lectures in one list, sorted, grouped and filtered.

The rows of a page are chosen by one union of three narrow queries; only these rows are then read.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any, Final, TypeVar

from django.contrib.auth.models import User
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
    Prefetch,
    Q,
    QuerySet,
    Subquery,
    TextField,
    Value,
    When,
)
from django.db.models.functions import Cast, Lower, NullIf

from citations.errors import InvalidFilter
from citations.library import reading_progress
from citations.models import Deletion, LectureSession, ReadingProgress, Source, SourceKind, State
from transcripts.models import Collection, Transcript, Video
from transcripts.sanitize import clean
from transcripts.scope import Scope
from transcripts.tokenizer import MAX_QUERY_CHARACTERS

LECTURE: Final = "lecture"
KINDS: Final = (*SourceKind.choices, (LECTURE, "lecture"))
SORTS: Final = ("added", "published", "title", "length", "read")
READING: Final = (("unread", "unread"), ("begun", "begun"), ("read", "read"))
GROUPS: Final = ("collection", "channel", "tag", "kind")
MAX_WORDS: Final = 10  # that count; each is a condition
MS_A_CHARACTER: Final = 60  # a page of 3,000 characters is read in three minutes

_Rows = TypeVar("_Rows", bound=Model)
_Chosen = tuple[str, int, str | None, Any]  # table, key, group, sort key


@dataclass(frozen=True, slots=True, kw_only=True)
class LibraryQuery:
    """What is listed, and how; an empty part restricts nothing. A ``-`` before a sort reverses it.

    New and long items and those read last come first, titles from A to Z.
    """

    words: str = ""
    collection: str = ""
    channel: str = ""
    tag: str = ""
    kind: str = ""
    language: str = ""
    state: str = ""
    reading: str = ""
    sort: str = SORTS[0]
    group: str = ""

    @property
    def is_filtered(self) -> bool:
        parts = (self.words, self.collection, self.channel, self.tag, self.kind)
        return any((*parts, self.language, self.state, self.reading))


@dataclass(frozen=True, kw_only=True)
class Item:
    """A recording, a document or a lecture. ``row`` is a Video, a Source or a LectureSession."""

    row: Any
    group: str | None = None  # the heading above it, where it is the first below that
    sources: Sequence[Source] = field(default_factory=tuple)
    progress: ReadingProgress | None = None  # of the user who looks at it

    @property
    def kind(self) -> str:
        kinds = {Video: SourceKind.VIDEO.value, LectureSession: LECTURE}
        return str(kinds.get(type(self.row)) or self.row.kind)

    @property
    def reference(self) -> str:
        """Its id among all items, such as ``video-12``."""
        return f"{TABLES[type(self.row)]}-{self.row.pk}"

    @property
    def title(self) -> str:
        return str(self.row)

    @property
    def address(self) -> str:
        """The path of its page."""
        if isinstance(self.row, Video):
            return f"/videos/{self.row.pk}/"
        folder = "lectures" if isinstance(self.row, LectureSession) else "sources"
        return f"/{folder}/{self.row.uuid}/"

    @property
    def author(self) -> str:
        return str(getattr(self.row, "channel", "") or getattr(self.row, "author", ""))

    @property
    def tags(self) -> list[str]:
        return list(getattr(self.row, "tags", ()))

    @property
    def published_at(self) -> datetime | None:
        return getattr(self.row, "published_at", None)

    @cached_property
    def languages(self) -> list[str]:
        if isinstance(self.row, Video):
            return sorted({transcript.language or "?" for transcript in self.row.transcripts.all()})
        return [self.row.language] if self.row.language else []

    @property
    def duration(self) -> int:
        """Milliseconds of a recording or lecture, 0 if they are unknown."""
        return int(getattr(self.row, "duration", 0) or getattr(self.row, "position", 0))

    @property
    def pages(self) -> int:
        """The pages of a document, 0 before it is read."""
        document = getattr(self.row, "document", None) if isinstance(self.row, Source) else None
        return document.page_count if document else 0

    @property
    def percent_read(self) -> int:
        """How far its reader is, 0 to 100."""
        length = self.duration or self.pages
        return min(100, 100 * self.progress.position // length) if self.progress and length else 0

    @property
    def problem(self) -> Source | None:
        """The source whose indexing failed or has not ended, the worst first."""
        states = [State.FAILED, State.PENDING, State.WORDS]
        late = [source for source in self.sources if source.state in states]
        return min(late, key=lambda source: states.index(State(source.state)), default=None)


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
    rows: list[_Chosen] = list(
        _chosen(branches, listing, reader)[offset - before : offset + limit + 1]
    )
    shown = rows[before:]
    return ItemPage(
        items=tuple(
            _items(
                rows[: before + limit], after=before, is_grouped=bool(listing.group), reader=reader
            )
        ),
        total=sum(branch.order_by().count() for branch in branches.values()),
        groups=_group_sizes(branches, listing),
        next=offset + limit if len(shown) > limit else None,
    )


def _check(listing: LibraryQuery) -> None:
    known = {
        "state": ("", *State.values),
        "kind": ("", *dict(KINDS)),
        "reading": ("", *dict(READING)),
        "sort": (*SORTS, *(f"-{sort}" for sort in SORTS)),
        "group": ("", *GROUPS),
    }
    for name, values in known.items():
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
    if listing.kind in ("", SourceKind.VIDEO):
        tables[Video] = _videos(scope, listing)
    if listing.kind != SourceKind.VIDEO and listing.kind != LECTURE:
        tables[Source] = _documents(scope, listing)
    if listing.reading:
        tables = {table: _read(table, rows, listing, reader) for table, rows in tables.items()}
    has_none = listing.channel or listing.tag or listing.state or listing.reading
    if listing.kind in ("", LECTURE) and not has_none:
        tables[LectureSession] = _lectures(scope, listing)
    if listing.collection:
        shelf = Collection.objects.visible(scope).named(listing.collection)
        tables = {table: rows.filter(collection=shelf) for table, rows in tables.items()}
    hidden = Deletion.objects.hidden()
    return {table: rows.exclude(pk__in=hidden[TABLES[table]]) for table, rows in tables.items()}


def _videos(scope: Scope, listing: LibraryQuery) -> QuerySet[Video]:
    visible = Video.objects.visible(scope)
    rows = _with_words(visible, listing.words, "title", "channel", "key")
    if listing.language:
        spoken = Transcript.objects.filter(video=OuterRef("pk"))
        rows = rows.filter(Exists(spoken.filter(_language(listing.language))))
    if listing.state:
        rows = rows.filter(Exists(Source.objects.filter(video=OuterRef("pk"), state=listing.state)))
    return _about(rows, listing, channel="channel")


def _documents(scope: Scope, listing: LibraryQuery) -> QuerySet[Source]:
    rows: QuerySet[Source] = Source.objects.visible(scope).filter(video=None)
    rows = _with_words(rows, listing.words, "title", "author")
    if listing.kind:
        rows = rows.filter(kind=listing.kind)
    if listing.language:
        rows = rows.filter(_language(listing.language))
    if listing.state:
        rows = rows.filter(state=listing.state)
    return _about(rows, listing, channel="author")


def _lectures(scope: Scope, listing: LibraryQuery) -> QuerySet[LectureSession]:
    rows = _with_words(LectureSession.objects.visible(scope), listing.words, "title")
    return rows.filter(_language(listing.language)) if listing.language else rows


def _read(
    table: type[Model], rows: QuerySet[_Rows], listing: LibraryQuery, reader: User | None
) -> QuerySet[_Rows]:
    progress = _progress(table, reader)
    if listing.reading == "unread":
        return rows.exclude(Exists(progress))
    return rows.filter(Exists(progress.filter(is_finished=listing.reading == "read")))


def _progress(table: type[Model], reader: User | None) -> QuerySet[ReadingProgress]:
    """Return the reader's progress in the row of an outer query."""
    return ReadingProgress.objects.filter(user=reader, **{TABLES[table]: OuterRef("pk")})


def _with_words(rows: QuerySet[_Rows], words: str, *fields: str) -> QuerySet[_Rows]:
    for word in clean(words, MAX_QUERY_CHARACTERS).split()[:MAX_WORDS]:
        contains = Q()
        for name in fields:
            contains |= Q(**{f"{name}__icontains": word})
        rows = rows.filter(contains)
    return rows


def _about(rows: QuerySet[_Rows], listing: LibraryQuery, *, channel: str) -> QuerySet[_Rows]:
    if listing.channel:
        rows = rows.filter(**{f"{channel}__iexact": clean(listing.channel, 200)})
    if listing.tag:
        rows = rows.filter(tags__contains=[clean(listing.tag, 100)])
    return rows


def _language(code: str) -> Q:
    code = clean(code, 35)
    return Q(language__iexact=code) | Q(language__istartswith=f"{code}-")


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
        )
        .values_list("table", "pk", "group", "rank")
        for table, rows in branches.items()
    ]
    union = narrow[0].union(*narrow[1:], all=True) if len(narrow) > 1 else narrow[0]
    rank = F("rank")
    is_upward = listing.sort == "title" or listing.sort.startswith("-") and listing.sort != "-title"
    ranked = rank.asc(nulls_last=True) if is_upward else rank.desc(nulls_last=True)
    return union.order_by(F("group").asc(nulls_last=True), ranked, "table", "-pk")


def _group(table: type[Model], group: str) -> Any:
    """Return the heading that a row stands under; NULL for none."""
    if not group:
        return _text(None)
    if group == "collection":
        return Cast("collection__name", TextField())
    if group == "kind":
        return Cast("kind", TextField()) if table is Source else _text(_KIND_OF[table])
    if table is LectureSession:
        return _text(None)
    if group == "channel":
        return NullIf(Cast(_AUTHOR[table], TextField()), _text(""))
    # A row without tags has one place, too; one with several stands under each.
    some = Case(
        When(tags=[], then=Value([None], output_field=JSONField())),
        default=F("tags"),
        output_field=JSONField(),
    )
    return Func(
        some, function="jsonb_array_elements_text", output_field=TextField(), set_returning=True
    )


def _text(value: str | None) -> Value:
    return Value(value, output_field=TextField())


def _rank(table: type[Model], sort: str, reader: User | None) -> Any:
    if sort == "added":
        return F("created_at")
    if sort == "title":
        return Lower(Cast("title", TextField()))
    absent = Value(None, output_field=DateTimeField())
    if sort == "read":
        is_lecture = table is LectureSession
        return absent if is_lecture else Subquery(_progress(table, reader).values("read_at"))
    if sort == "published":
        return absent if table is LectureSession else F("published_at")
    if table is Source:
        return Cast(F("characters") * MS_A_CHARACTER, IntegerField())
    return Cast("position" if table is LectureSession else "duration", IntegerField())


def _group_sizes(
    branches: "dict[type[Model], QuerySet[Any]]", listing: LibraryQuery
) -> dict[str, int]:
    sizes: Counter[str] = Counter()
    for table, rows in branches.items() if listing.group else ():
        grouped = rows.order_by().annotate(group=_group(table, listing.group))
        for name, size in grouped.values_list("group").annotate(Count("pk")):
            sizes[name or ""] += size
    return dict(sizes)


# What is shown of them


def _items(
    chosen: "Sequence[_Chosen]", *, after: int, is_grouped: bool, reader: User | None
) -> Iterator[Item]:
    """Yield the items of the rows from ``after`` on, and the heading where a group begins."""
    keys: dict[str, list[int]] = {name: [] for name in TABLES.values()}
    for table, key, *_ in chosen[after:]:
        keys[table].append(key)
    rows: dict[str, dict[int, Any]] = {
        "video": _video_rows(keys["video"]),
        "document": _document_rows(keys["document"]),
        "lecture": LectureSession.objects.select_related("collection").in_bulk(keys["lecture"]),
    }
    progress = (
        reading_progress.of_items(reader, videos=keys["video"], documents=keys["document"])
        if reader
        else {}
    )
    for place, (table, key, group, _) in enumerate(chosen[after:], start=after):
        if row := rows[table].get(key):  # else it was deleted meanwhile
            is_first = is_grouped and (place == 0 or chosen[place - 1][2] != group)
            sources = tuple(row.sources.all()) if isinstance(row, Video) else _own(row)
            yield Item(
                row=row,
                group=(group or "") if is_first else None,
                sources=sources,
                progress=progress.get((table, key)),
            )


def _own(row: Any) -> tuple[Source, ...]:
    return (row,) if isinstance(row, Source) else ()


def _video_rows(keys: list[int]) -> dict[int, Video]:
    rows = Video.objects.select_related("collection").defer("description", "chapters", "languages")
    parts = Prefetch("transcripts", queryset=Transcript.objects.light()), "sources"
    return rows.prefetch_related(*parts).in_bulk(keys)


def _document_rows(keys: list[int]) -> dict[int, Source]:
    rows = Source.objects.select_related("collection", "document")
    return rows.defer("document__outline", "document__note").in_bulk(keys)


TABLES: Final[dict[type[Model], str]] = {
    Video: "video",
    Source: "document",
    LectureSession: "lecture",
}
_KIND_OF: Final = {Video: SourceKind.VIDEO.value, LectureSession: LECTURE}
_AUTHOR: Final = {Video: "channel", Source: "author"}

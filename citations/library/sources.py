"""List sources and their progress, always within a Scope, and page through their chunks."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Count, F, Q
from django.db.models.functions import Coalesce, Length

from citations import conf
from citations.errors import DocumentBroken, DocumentEncrypted, DocumentWithoutText, InvalidFilter
from citations.library.filters import Filter, matching
from citations.models import Chunk, Source, SourceQuerySet, State
from transcripts.core.alphabet import alphabetical
from transcripts.core.lists import containing, page_of
from transcripts.core.sanitize import MAX_QUERY_CHARACTERS, clean
from transcripts.core.scope import Scope
from transcripts.models import Job

ID_LENGTH = 6  # characters by which the start of an id differs from a word

MAX_FAILED = 5  # sources of a job that are named
UNREADABLE = frozenset((DocumentBroken.code, DocumentEncrypted.code, DocumentWithoutText.code))


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """The number of sources in each state."""

    pending: int = 0
    words: int = 0
    ready: int = 0
    failed: int = 0

    @property
    def total(self) -> int:
        return self.pending + self.words + self.ready + self.failed

    @property
    def unfinished(self) -> int:
        return self.pending + self.words


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcePage:
    """Some sources, newest first; ``next`` is the next offset, None at the end.

    ``total`` counts all sources of the request, ``counts`` the same in every state, whatever state
    the request names.
    """

    sources: tuple[Source, ...]
    total: int
    counts: Counts
    next: int | None


def list_sources(
    scope: Scope,
    filter: Filter = Filter(),
    *,
    words: str = "",
    state: str = "",
    offset: int = 0,
    limit: int = 25,
) -> SourcePage:
    """Return a page of sources that match every one of ``words`` in title, author, video id or the
    start of their own id.

    Raises ``InvalidFilter`` for an unknown state, ``SourceNotFound`` and ``CollectionNotFound``.
    """
    if state and state not in State.values:
        raise InvalidFilter(
            f"There is no state “{clean(state, 40)}”.", hint=f"States: {', '.join(State.values)}."
        )
    sources = containing(
        matching(scope, filter), words, "title", "author", "video__key", otherwise=_by_id
    )
    counts = count(sources)
    if state:
        sources = sources.filter(state=state)
    rows, following = page_of(_shown(sources), offset, limit)
    total = getattr(counts, state) if state else counts.total
    return SourcePage(sources=rows, total=total, counts=counts, next=following)


def titled(scope: Scope, beginning: str, *, limit: int) -> list[Source]:
    """Return the sources whose titles begin with a text: the shortest title first."""
    text = clean(beginning, MAX_QUERY_CHARACTERS)
    rows = _shown(Source.objects.visible(scope).filter(title__istartswith=text))
    return list(rows.order_by(Length("title"), alphabetical("title"), "pk")[:limit])


def split_otherwise(among: SourceQuerySet) -> SourceQuerySet:
    """Keep the indexed sources that were split with other values of the settings."""
    indexed = among.filter(chunk_count__gt=0, state__in=(State.READY, State.FAILED))
    return indexed.exclude(split_by=str(conf.chunk_sizes()))


def of_videos(scope: Scope, videos: Iterable[int]) -> dict[int, tuple[Source, ...]]:
    """Return the sources of videos (by primary key), ordered by language."""
    by_video: dict[int, list[Source]] = defaultdict(list)
    visible = Source.objects.visible(scope).filter(video__in=[*videos])
    for source in _shown(visible).order_by("language", "pk"):
        by_video[source.video_id or 0].append(source)
    return {video: tuple(sources) for video, sources in by_video.items()}


def find_document(scope: Scope, reference: str) -> Source | None:
    """Return the document with that id, or None."""
    try:
        key = UUID(reference)
    except ValueError:
        return None
    return _shown(Source.objects.visible(scope)).filter(uuid=key, video=None).first()


def count(sources: SourceQuerySet) -> Counts:
    return Counts(**dict(sources.order_by().values_list("state").annotate(Count("pk"))))


def _shown(sources: SourceQuerySet) -> SourceQuerySet:
    videos = ("video__description", "video__chapters", "video__languages")
    rows = sources.select_related("collection", "video__media", "document")
    return rows.defer(*videos, "document__outline")


def _by_id(word: str) -> Q:
    return Q(uuid__istartswith=word) if len(word) >= ID_LENGTH else Q()


# Chunks


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkPage:
    """Some chunks of a source; ``previous`` and ``next`` are offsets, None at either end."""

    chunks: tuple[Chunk, ...]
    previous: int | None
    next: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """The number of chunks before a place in a source, and the primary keys of those there."""

    offset: int = 0
    chunks: frozenset[int] = frozenset()


def list_chunks(source: Source, *, offset: int = 0, limit: int = 50) -> ChunkPage:
    chunks, following = page_of(source.chunks.order_by("ordinal"), offset, limit)
    previous = max(0, offset - limit) if offset else None
    return ChunkPage(chunks=chunks, previous=previous, next=following)


def find_page(source: Source, number: int) -> Spot:
    """Return the chunks on a page of a document, from 1; the start where it has no such page."""
    on_page = Q(page__lte=number) & Q(last__gte=number)
    rows = list(
        source.chunks.annotate(last=Coalesce(F("last_page"), F("page")))
        .filter(on_page)
        .order_by("ordinal")
        .values_list("pk", "ordinal")
    )
    if not rows:
        return Spot()
    return Spot(
        offset=source.chunks.filter(ordinal__lt=rows[0][1]).count(),
        chunks=frozenset(pk for pk, _ in rows),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class JobSources:
    """How many sources there are in each state, some that ``failed``, and the ids of documents,
    some of them ``unreadable``.
    """

    counts: Counts = Counts()
    failed: tuple[Source, ...] = ()
    documents: frozenset[str] = frozenset()
    unreadable: frozenset[str] = frozenset()


def of_jobs(scope: Scope, jobs: Sequence[Job]) -> dict[int, JobSources]:
    """Return the sources of each job, by its primary key: of videos, all their languages.

    A video whose source is still to come counts as one that waits.
    """
    videos = frozenset().union(*(job.video_keys for job in jobs))
    documents = frozenset().union(*(job.document_ids for job in jobs))
    sources: dict[int | str, list[Source]] = defaultdict(list)
    if videos or documents:
        rows = Source.objects.visible(scope).filter(Q(video__in=videos) | Q(uuid__in=documents))
        shown = ("uuid", "video", "state", "title", "error", "error_code", "hint")
        for source in rows.only(*shown).order_by("pk"):
            sources[source.video_id or str(source.uuid)].append(source)
    return {job.pk: _of(job, sources) for job in jobs}


def _of(job: Job, sources: dict[int | str, list[Source]]) -> JobSources:
    keys: tuple[int | str, ...] = (*job.video_keys, *job.document_ids)
    own = [source for key in keys for source in sources.get(key, ())]
    count = {state: sum(source.state == state for source in own) for state in State.values}
    count[State.PENDING] += sum(key not in sources for key in job.video_keys & job.items)
    return JobSources(
        counts=Counts(**count),
        failed=tuple(source for source in own if source.state == State.FAILED)[:MAX_FAILED],
        documents=frozenset(id for id in job.document_ids if id in sources),
        unreadable=frozenset(str(source.uuid) for source in own if source.error_code in UNREADABLE),
    )

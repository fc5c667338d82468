"""The read side of sources: which there are, and how far each is indexed; always within a Scope."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Count, Q

from citations.errors import InvalidFilter
from citations.library.filters import Filter, matching
from citations.models import Source, SourceQuerySet, State
from transcripts.sanitize import clean
from transcripts.scope import Scope
from transcripts.tokenizer import MAX_QUERY_CHARACTERS

MAX_WORDS = 10  # of a listing's search; each is a condition on every field
ID_LENGTH = 6  # characters of an id's beginning that tell it from a word


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """How many sources there are in each state."""

    pending: int = 0
    words: int = 0
    ready: int = 0
    failed: int = 0

    @property
    def total(self) -> int:
        """All of them."""
        return self.pending + self.words + self.ready + self.failed

    @property
    def unfinished(self) -> int:
        """Those that are still being indexed."""
        return self.pending + self.words


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcePage:
    """Some sources, newest first; ``next`` goes on after the last one, None at the end.

    ``total`` counts all that were asked for, ``counts`` the same in every state, whichever state was asked for.
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
    """Return a page of sources in whose title, author or video's id every one of ``words`` occurs, or whose own id begins with it.

    Raises ``InvalidFilter`` for a state there is none of, ``SourceNotFound`` and ``CollectionNotFound``.
    """
    if state and state not in State.values:
        raise InvalidFilter(
            f"There is no state “{clean(state, 40)}”.", hint=f"States: {', '.join(State.values)}."
        )
    found = _containing(matching(scope, filter), words)
    counts = count(found)
    if state:
        found = found.filter(state=state)
    rows = tuple(_shown(found)[offset : offset + limit + 1])
    total = getattr(counts, state) if state else counts.total
    return SourcePage(
        sources=rows[:limit],
        total=total,
        counts=counts,
        next=offset + limit if len(rows) > limit else None,
    )


def of_videos(scope: Scope, videos: Iterable[int]) -> dict[int, tuple[Source, ...]]:
    """Return the sources of videos (by primary key), in the order of their languages; a video without one is left out."""
    found: dict[int, list[Source]] = defaultdict(list)
    for source in _shown(Source.objects.visible(scope).filter(video__in=[*videos])).order_by(
        "language", "pk"
    ):
        found[source.video_id or 0].append(source)
    return {video: tuple(sources) for video, sources in found.items()}


def find_document(scope: Scope, reference: str) -> Source | None:
    """Return the document of that id, if it is one."""
    try:
        wanted = UUID(reference)
    except ValueError:
        return None
    return _shown(Source.objects.visible(scope)).filter(uuid=wanted, video=None).first()


def count(found: SourceQuerySet) -> Counts:
    """Count sources by their state."""
    return Counts(**dict(found.order_by().values_list("state").annotate(Count("pk"))))


def _shown(found: SourceQuerySet) -> SourceQuerySet:
    shown = found.select_related("collection", "video", "document")
    return shown.defer(
        "video__description",
        "video__chapters",
        "video__languages",
        "document__outline",
        "document__note",
    )


def _containing(found: SourceQuerySet, words: str) -> SourceQuerySet:
    for word in clean(words, MAX_QUERY_CHARACTERS).split()[:MAX_WORDS]:
        found = found.filter(
            Q(title__icontains=word)
            | Q(author__icontains=word)
            | Q(video__key__icontains=word)
            | _identified(word)
        )
    return found


def _identified(word: str) -> Q:
    """Match ids by their beginning: short words, such as “bad”, are words."""
    return Q(uuid__istartswith=word) if len(word) >= ID_LENGTH else Q()

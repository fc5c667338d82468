"""Store the guides to sources, find those that are missing, and read what they offer."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import chain, zip_longest
from typing import Any, Final
from uuid import UUID

from django.db.models import Exists, F, OuterRef, Q
from django.db.models.functions import Now
from django.utils.translation import get_language

from citations.guide import builder
from citations.guide.builder import Meanwhile
from citations.guide.items import KINDS, GuideItem, SourceGuide
from citations.models import Guide, Source, SourceQuerySet, State
from citations.text.words import UNKNOWN, function_words
from transcripts.core.scope import Scope
from transcripts.text.stemming import primary_language

VERSION: Final = 13  # of the rules; a greater one rebuilds every guide
MAX_GUIDES: Final = 40  # guides among which questions are suggested
SHORT_SOURCE: Final = 2_000  # characters, below which hardly a source has anything certain to show


class Absence(StrEnum):
    """Why a source has no guide, or an empty one."""

    INDEXING = "indexing"
    WAITING = "waiting"  # for its turn
    MAKING = "making"
    SHORT = "short"
    LANGUAGE = "language"
    NOTHING = "nothing"
    UNREADABLE = "unreadable"  # what it is shown for is said elsewhere


TO_COME: Final = (Absence.INDEXING, Absence.WAITING, Absence.MAKING)


@dataclass(frozen=True, slots=True, kw_only=True)
class SuggestedQuestion:
    """A question that a source answers."""

    question: str
    source: UUID
    title: str
    language: str  # "" where it is not known


def of(source: Source) -> SourceGuide | None:
    """Return the guide to a source as its text is now; None before it is made."""
    row = Guide.objects.made().filter(source=source, digest=source.digest).first()
    if row is None:
        return None
    guide = SourceGuide.from_json(row.items)

    def linked(item: GuideItem) -> GuideItem:
        return replace(item, link=source.path_to(item.locator, marked=True))

    return SourceGuide(**{kind: tuple(map(linked, getattr(guide, kind))) for kind in KINDS})


def absence(source: Source, guide: SourceGuide | None) -> Absence | None:
    """Say why a source has no guide to show; None if it has one."""
    if guide and not guide.is_empty:
        return None
    if guide is None and source.is_unfinished:
        return Absence.INDEXING
    if source.state == State.FAILED or not source.chunk_count:
        return Absence.UNREADABLE
    if guide is None:
        row = Guide.objects.filter(source=source, **_text_of(source)).first()
        if row and row.is_held():
            return Absence.MAKING
        if not (row and row.failed_at):  # or it was made this moment
            return Absence.WAITING
    if function_words(source.language) == UNKNOWN:
        return Absence.LANGUAGE
    return Absence.SHORT if source.characters < SHORT_SOURCE else Absence.NOTHING


def suggested(
    scope: Scope, *, sources: Collection[str] = (), collection: str = "", limit: int = 4
) -> list[SuggestedQuestion]:
    """Return questions that sources answer which the scope may read: those in the language of the
    interface first, then those of the newest sources.

    One of each source, unless these are too few. ``sources`` are the ids of the only ones,
    ``collection`` is the slug of theirs.
    """
    visible = Source.objects.visible(scope)
    if collection:
        visible = visible.filter(collection__slug=collection)
    if sources:
        visible = visible.filter(uuid__in=sources)
    guides = Guide.objects.made().filter(source__in=visible, digest=F("source__digest"))
    rows = guides.exclude(items__questions=[]).order_by("-source__created_at")
    latest = list(rows.select_related("source")[:MAX_GUIDES])
    own = primary_language(get_language() or "")
    latest.sort(key=lambda row: primary_language(row.source.language) != own)
    offered = [
        [
            SuggestedQuestion(
                question=GuideItem.from_json(item).title,
                source=row.source.uuid,
                title=row.source.title,
                language=primary_language(row.source.language),
            )
            for item in row.items.get("questions", ())
        ]
        for row in latest
    ]
    turns = filter(None, chain.from_iterable(zip_longest(*offered)))
    return list(dict.fromkeys(turns))[:limit]


def missing() -> SourceQuerySet:
    """Return the indexed sources without a guide to their text: those that were opened last first,
    then those that were added last.
    """
    own = Guide.objects.filter(source=OuterRef("pk"), digest=OuterRef("digest"), version=VERSION)
    complete, waiting = ~Q(made_at=None) | ~Q(failed_at=None), Q(run_after__gt=Now())
    indexed = Source.objects.filter(state=State.READY, chunk_count__gt=0)
    lacking = indexed.filter(~Exists(own.filter(complete | waiting)))
    return lacking.order_by(F("wanted_at").desc(nulls_last=True), "-pk")


def missing_of_opened() -> SourceQuerySet:
    """Return those of them that somebody opened."""
    return missing().exclude(wanted_at=None)


def put_first(sources: SourceQuerySet) -> int:
    """Have the missing guides to these made before others from now on; return how many they are."""
    return sources.filter(pk__in=missing().values("pk")).update(wanted_at=Now())


def request(source: Source) -> Guide:
    """Return the guide to the text of a source as it is now, to be made unless it is complete."""
    now = _text_of(source)
    guide, _ = Guide.objects.get_or_create(source=source, defaults=now)
    if (guide.digest, guide.version) != tuple(now.values()):
        guide.restart(made_at=None, failed_at=None, **now)
    return guide


def make(source: Source, *, meanwhile: Meanwhile | None = None) -> bool:
    """Make the guide to a source unless another process does; return whether it was made.

    An error is recorded with the guide.
    """
    if not missing().filter(pk=source.pk).exists():
        return False
    guide = request(source)
    with guide.attempt(Guide.objects.to_make()) as is_begun:
        if is_begun:
            try:
                guide.finish(builder.build(source, meanwhile=meanwhile).as_json())
            finally:
                Source.objects.filter(pk=source.pk).update(wanted_at=None)
    return guide.made_at is not None and is_begun


def _text_of(source: Source) -> dict[str, Any]:
    return {"digest": source.digest, "version": VERSION}

"""Store the guides to sources, find those that are missing, and read what they offer."""

import logging
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final
from uuid import UUID

from django.db.models import Exists, F, OuterRef
from django.db.models.functions import Now
from django.utils.translation import get_language

from citations.guide import builder
from citations.guide.builder import Meanwhile
from citations.guide.items import KINDS, GuideItem, SourceGuide
from citations.models import Guide, Source, SourceQuerySet, State
from citations.text.function_words import UNKNOWN, function_words
from transcripts import clock, locks
from transcripts.errors import KnowledgeBaseError
from transcripts.locks import Lock
from transcripts.scope import Scope
from transcripts.stemming import primary_language

VERSION: Final = 13  # of the rules; a greater one rebuilds every guide
TRIES: Final = 3  # at one text; each may have ended with its process
MAX_GUIDES: Final = 40  # guides among which questions are suggested
SHORT_SOURCE: Final = 2_000  # characters, below which hardly a source has anything certain to show

logger = logging.getLogger(__name__)


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
    row = Guide.objects.filter(source=source, digest=source.digest).exclude(made_at=None).first()
    if row is None:
        return None
    guide = SourceGuide.from_json(row.items)
    kinds = {kind: getattr(guide, kind) for kind in KINDS}
    return SourceGuide(
        **{
            kind: tuple(
                replace(item, link=source.path_to(item.locator, marked=True)) for item in items
            )
            for kind, items in kinds.items()
        }
    )


def absence(source: Source, guide: SourceGuide | None) -> Absence | None:
    """Say why a source has no guide to show; None if it has one."""
    if guide and not guide.is_empty:
        return None
    if guide is None and source.is_unfinished:
        return Absence.INDEXING
    if source.state == State.FAILED or not source.chunk_count:
        return Absence.UNREADABLE
    if guide is None and locks.is_held(Lock.GUIDE, source.pk):
        return Absence.MAKING
    if guide is None and not _is_given_up(source):  # or it was made this moment
        return Absence.WAITING
    if function_words(primary_language(source.language) or "en") == UNKNOWN:
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
    guides = Guide.objects.filter(source__in=visible, digest=F("source__digest"))
    rows = guides.exclude(made_at=None).exclude(items__questions=[]).order_by("-source__created_at")
    latest = list(rows.select_related("source")[:MAX_GUIDES])
    own = primary_language(get_language() or "")
    latest.sort(key=lambda row: primary_language(row.source.language) != own)
    offered = [_suggestions(row) for row in latest]
    turns: Iterable[SuggestedQuestion] = (
        questions[number]
        for number in range(builder.QUESTIONS)
        for questions in offered
        if number < len(questions)
    )
    return list(dict.fromkeys(turns))[:limit]


def missing() -> SourceQuerySet:
    """Return the indexed sources without a guide to their text: those that were opened last first,
    then those that were added last.
    """
    current = Guide.objects.filter(source=OuterRef("pk"), digest=OuterRef("digest"))
    guides = current.filter(version=VERSION).exclude(made_at=None)
    given_up = current.filter(version=VERSION, tries__gte=TRIES)
    indexed = Source.objects.filter(state=State.READY, chunk_count__gt=0)
    lacking = indexed.filter(~Exists(guides), ~Exists(given_up))
    return lacking.order_by(F("wanted_at").desc(nulls_last=True), "-pk")


def _is_given_up(source: Source) -> bool:
    tried = Guide.objects.filter(source=source, digest=source.digest, version=VERSION)
    return tried.filter(tries__gte=TRIES, made_at=None).exists()


def wanted() -> SourceQuerySet:
    """Return those of them that somebody opened."""
    return missing().exclude(wanted_at=None)


def put_first(sources: SourceQuerySet) -> int:
    """Have the missing guides to these made before others from now on; return how many they are."""
    return sources.filter(pk__in=missing().values("pk")).update(wanted_at=Now())


def make(source: Source, *, meanwhile: Meanwhile | None = None) -> bool:
    """Make the guide to a source unless another process does; return whether it was made.

    A failure is logged, and tried again ``TRIES`` times until the text changes.
    """
    with locks.hold(Lock.GUIDE, source.pk) as mine:
        if not mine or not missing().filter(pk=source.pk).exists():
            return False
        row = _begun(source)
        try:
            guide = builder.build(source, meanwhile=meanwhile)
        except KnowledgeBaseError as error:
            logger.warning("source %s has no guide: %s", source.pk, error)
            is_made = False
        else:
            made = Guide.objects.filter(pk=row.pk)
            is_made = bool(made.update(items=guide.as_json(), made_at=clock.now()))
        Source.objects.filter(pk=source.pk).update(wanted_at=None)
        return is_made


def _begun(source: Source) -> Guide:
    """Record an attempt, so that a text that kills its process is given up."""
    row, _ = Guide.objects.get_or_create(
        source=source, defaults={"digest": source.digest, "version": VERSION}
    )
    if (row.digest, row.version) != (source.digest, VERSION):
        row.digest, row.version, row.tries, row.made_at = source.digest, VERSION, 0, None
    row.tries += 1
    row.save()
    return row


def _suggestions(row: Guide) -> list[SuggestedQuestion]:
    items = map(GuideItem.from_json, row.items.get("questions", ()))
    return [
        SuggestedQuestion(
            question=item.title,
            source=row.source.uuid,
            title=row.source.title,
            language=primary_language(row.source.language),
        )
        for item in items
    ]

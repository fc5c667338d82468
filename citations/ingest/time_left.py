"""How long it takes until everything that was added is ready."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from django.db.models import Avg, Count, F, Q, Sum
from django.db.models.functions import Now

from citations.formats import VIDEO
from citations.models import UNFINISHED, Source, State
from transcripts import conf
from transcripts.core import clock, locks
from transcripts.core.scope import Scope
from transcripts.library.activity import Activity
from transcripts.models import Job

# Sources by which the pace is told, and the length of a recording to come.
RECENT_SOURCES: Final = 20

MIN_CHARACTERS: Final = 50_000  # characters to tell a pace by: half an hour of speech

_UNITS: Final = (("day", 86_400), ("hour", 3_600), ("minute", 60))  # the largest first
_FROM: Final = 5 / 6  # of a unit, from which on a time is told in it


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedText:
    """A text that was indexed between two times (seconds)."""

    characters: int
    began: float
    ended: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TextInWork:
    """A text that is being indexed, and how far the ``step`` is that its source reports."""

    characters: int
    step: str
    done: int
    total: int

    @property
    def left(self) -> float:
        """The characters that are left to do."""
        part = min(1.0, self.done / self.total) if self.total else 0.0
        return self.characters * (1 - part if self.step == "embedding" else 1.0)


def characters_per_second(texts: Iterable[IndexedText]) -> float | None:
    """Return the pace of the times in which one of these texts was worked on, several perhaps at
    once; None if they are too few to tell.
    """
    characters, seconds, until = 0, 0.0, float("-inf")
    for text in sorted(texts, key=lambda text: text.began):
        characters += text.characters
        seconds += max(0.0, text.ended - max(text.began, until))
        until = max(until, text.ended)
    return characters / seconds if characters >= MIN_CHARACTERS and seconds else None


def rounded(seconds: float) -> tuple[str, int]:
    """Return a time as people tell it, such as ``("minute", 4)``; 0 minutes are less than one.

    From ten on they are told in steps of five.
    """
    for unit, length in _UNITS:
        if seconds >= _FROM * length:
            count = max(1, round(seconds / length))
            return unit, count if count < 10 else 5 * round(count / 5)
    return "minute", 0


def seconds_left(scope: Scope, now: Activity) -> float | None:
    """Estimate when all is ready that the scope may read, by the pace of this installation.

    None where that cannot be told: hardly anything was indexed yet, no worker runs, something waits
    for a server or for YouTube, or a playlist or files are still to be read.
    """
    if not now.worker_is_alive:
        return None
    done = Source.objects.exclude(ready_at=None).filter(begun_at__lt=F("ready_at"))
    rows = done.order_by("-ready_at").values_list("characters", "begun_at", "ready_at")[
        :RECENT_SOURCES
    ]
    indexed = [
        IndexedText(characters=characters, began=began.timestamp(), ended=ended.timestamp())
        for characters, began, ended in rows
        if began and ended  # as the query asks
    ]
    pace = characters_per_second([*indexed, *_being_indexed()])
    fetched = _characters_left(scope)
    if pace is None or fetched is None:
        return None
    if not now.unfinished:
        return fetched / pace
    recordings = Source.objects.visible(scope).filter(kind=VIDEO)
    latest = recordings.order_by("-pk").values("pk")[:RECENT_SOURCES]
    length = Source.objects.filter(pk__in=latest).aggregate(mean=Avg("size"))["mean"]
    videos = _videos_to_fetch(scope, now)
    if videos is None or length is None:
        return None
    return float(max((fetched + videos * length) / pace, videos * conf.pacing_seconds()))


def _being_indexed() -> list[IndexedText]:
    """Return what was done so far of the sources in work: their pace is that of this moment."""
    held = Source.objects.filter(pk__in=locks.held_keys(Source.LOCK), state=State.WORDS)
    until = clock.now().timestamp()
    return [
        IndexedText(
            characters=round(source.size - _in_work(source).left),
            began=source.begun_at.timestamp(),
            ended=until,
        )
        for source in held
        if source.begun_at  # it is held before that is written
    ]


def _characters_left(scope: Scope) -> float | None:
    """Return how many characters are left to index; None if any of them wait for something."""
    unfinished = Source.objects.visible(scope).filter(state__in=UNFINISHED)
    waiting = unfinished.aggregate(
        characters=Sum("size", filter=Q(step="")),
        postponed=Count("pk", filter=Q(run_after__gt=Now())),
    )
    if waiting["postponed"]:
        return None
    begun = unfinished.exclude(step="")
    return (waiting["characters"] or 0) + sum(_in_work(source).left for source in begun)


def _in_work(source: Source) -> TextInWork:
    return TextInWork(
        characters=source.size, step=source.step, done=source.done, total=source.total
    )


def _videos_to_fetch(scope: Scope, now: Activity) -> int | None:
    """Count them; None while YouTube pauses, or while others may come to them."""
    if now.gate.state != "open":
        return None
    jobs = Job.objects.visible(scope).unfinished()
    if jobs.exclude(kind=Job.Kind.VIDEO).exists():
        return None
    return now.unfinished

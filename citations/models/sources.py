"""Sources, which can be cited."""

import uuid
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final, Self
from urllib.parse import quote

from django.conf import settings
from django.core.exceptions import EmptyResultSet
from django.db import models
from django.db.models import CheckConstraint, Index, Q, UniqueConstraint
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from citations.formats import VIDEO, kind_choices
from citations.passages import Locator, PassageSource
from transcripts.core import clock
from transcripts.core.errors import KnowledgeBaseError
from transcripts.core.locks import Lock
from transcripts.core.player import Player
from transcripts.core.scope import Scope
from transcripts.core.site_path import site_path
from transcripts.core.work.models import (
    NO_ERROR,
    PROGRESS,
    RESTARTED,
    QueuedWork,
    QueuedWorkQuerySet,
    error_columns,
)
from transcripts.models import Collection, Deletable, Transcript, Video, video_path

TRANSCRIPT: Final = "transcript"  # how a recording is shown of which nothing plays


def shown_kind(kind: str, player: Player) -> str:
    """Return the kind that pages show: captions alone are no recording."""
    is_silent = kind == VIDEO and player == Player.NONE
    return TRANSCRIPT if is_silent else kind


class State(models.TextChoices):
    """How far a source has come: each state can do all that the one before it can."""

    PENDING = "pending", _("waiting")
    WORDS = "words", _("found by words")
    READY = "ready", _("found by words and meaning")
    FAILED = "failed", _("failed")


UNFINISHED: Final = (State.PENDING, State.WORDS)
_ANEW: Final[dict[str, Any]] = {
    "state": State.PENDING,
    "digest": "",
    "step": "",
    "done": 0,
    "total": 0,
    "wanted_at": None,
}


class Chunking(models.TextChoices):
    """How a source was chunked: at sentences, or where the subject changes."""

    SENTENCES = "sentences", _("at sentences")
    MEANING = "meaning", _("where the subject changes")


class SourceQuerySet(QueuedWorkQuerySet["Source"]):
    def visible(self, scope: Scope) -> Self:
        """Keep the rows that the scope may read and that are not being deleted. A video that moved
        a moment ago counts, too.
        """
        own = Q(video=None) | Q(video__collection__in=scope.readable, video__deletion=None)
        return self.filter(own, collection__in=scope.readable, deletion=None)

    def waiting(self) -> "SourceQuerySet":
        """Keep those with due work that no search, or only a search by words, finds yet."""
        return self.due().filter(state__in=UNFINISHED)

    def start_anew(self) -> int:
        """Ingest them again as ``Source.start_anew`` does; return how many."""
        return self.update(updated_at=timezone.now(), **_ANEW, **RESTARTED)


class Source(Deletable, QueuedWork):
    """A recording in one language, or a document. Its row records the state of its ingest."""

    LOCK = Lock.SOURCE
    MAX_CRASHES = 10

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    collection = models.ForeignKey(Collection, models.CASCADE, related_name="sources")
    kind = models.CharField(max_length=10, choices=kind_choices)
    video = models.ForeignKey(
        Video,
        models.CASCADE,
        null=True,
        blank=True,
        related_name="sources",
        verbose_name="recording",
    )
    transcript = models.OneToOneField(
        Transcript, models.CASCADE, null=True, blank=True, related_name="source"
    )
    title = models.CharField(max_length=300)
    author = models.CharField("author or channel", max_length=200, blank=True)
    url = models.CharField(max_length=2048, blank=True)
    language = models.CharField(max_length=35, blank=True)
    tags = models.JSONField(default=list, blank=True)
    has_slides = models.BooleanField(default=False, help_text="Its pages are slides.")
    edited = models.JSONField(
        default=list, blank=True, help_text="Fields that a person changed: reading keeps them."
    )
    published_at = models.DateTimeField(null=True, blank=True)
    digest = models.CharField(max_length=64, blank=True, help_text="Of the chunked text.")
    chunking = models.CharField(
        "way of splitting",
        max_length=10,
        blank=True,
        choices=Chunking.choices,
        help_text="How it was chunked.",
    )
    split_by = models.CharField(
        max_length=40,
        default="500/150/80",
        help_text="Size, overlap and percentile that it was chunked with.",
    )
    fingerprint = models.CharField(max_length=32, blank=True, help_text="Of its transcript.")
    contexts_digest = models.CharField(
        max_length=64, blank=True, help_text="Of the text whose chunks have contexts."
    )
    characters = models.PositiveIntegerField(default=0)
    size = models.PositiveIntegerField(
        default=0, help_text="Its characters, estimated from its file until they are read."
    )
    added_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    begun_at = models.DateTimeField(
        null=True, blank=True, editable=False, help_text="When an attempt last began."
    )
    ready_at = models.DateTimeField(
        null=True, blank=True, editable=False, help_text="When it was last found by meaning."
    )
    wanted_at = models.DateTimeField(
        null=True,
        blank=True,
        editable=False,
        help_text="When somebody opened it or put it first, until it has its index and its guide.",
    )
    chunk_count = models.PositiveIntegerField(default=0)
    cut_count = models.PositiveIntegerField(
        default=0, help_text="Chunks that were cut to fit the embedding model."
    )
    state = models.CharField(max_length=10, choices=State.choices, default=State.PENDING)
    step = models.CharField(max_length=60, blank=True)
    refreshed_at = models.DateTimeField(
        null=True, blank=True, help_text="The recording's updated_at, when last copied."
    )
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    objects = SourceQuerySet.as_manager()

    class Meta:
        ordering = ("-created_at", "-pk")
        constraints = (
            CheckConstraint(condition=Q(video=None) | Q(kind=VIDEO), name="source_video"),
            CheckConstraint(condition=Q(state__in=State.values), name="source_state"),
            UniqueConstraint(
                fields=("video", "language"),
                condition=Q(video__isnull=False),
                name="source_once_a_language",
            ),
        )
        indexes = (
            Index(
                fields=("state", "id"),
                condition=Q(state__in=("pending", "words")),
                name="source_waiting",
            ),
            Index(fields=("collection", "-created_at", "-id"), name="source_newest"),
            Index(fields=("collection", "added_by", "begun_at"), name="source_lane"),
            Index(
                fields=("deletion",), condition=Q(deletion__isnull=False), name="source_deletion"
            ),
            Index(
                fields=("wanted_at",), condition=Q(wanted_at__isnull=False), name="source_wanted"
            ),
            Index(fields=("ready_at",), name="source_ready"),
        )

    def __str__(self) -> str:
        return self.title

    @property
    def origin(self) -> PassageSource:
        """What is shown of it; fetch its ``collection`` and ``video__media`` with it."""
        return PassageSource(
            id=self.uuid,
            kind=self.kind,
            title=self.title,
            author=self.author,
            url=self.url,
            language=self.language,
            collection=self.collection.slug,
            tags=tuple(self.tags),
            key=self.video.key if self.video else "",
            video_pk=self.video_id,
            player=self.video.player if self.video else Player.NONE,
        )

    @property
    def shown_kind(self) -> str:
        """The kind that pages show; fetch its ``video__media`` with it."""
        return shown_kind(self.kind, self.video.player if self.video else Player.NONE)

    @property
    def cut_note(self) -> str:
        """What is to be known of texts that the embedding model does not take whole."""
        count, cut = self.chunk_count, self.cut_count
        note = f"{cut} of {count} passages were cut to fit the embedding model."
        return note if cut else ""

    @property
    def note(self) -> str:
        """What is to be known of how it was read and embedded; fetch its ``document`` with it."""
        document = getattr(self, "document", None)
        return " ".join(filter(None, (document and document.note, self.cut_note)))

    @property
    def path(self) -> str:
        """The path of its page, of a recording in its language."""
        if self.video_id is None:
            return site_path(f"/sources/{self.uuid}/")
        language = f"?lang={quote(self.language)}" if self.language else ""
        return f"{video_path(self.video_id)}{language}"

    def path_to(self, locator: Locator, *, marked: bool = False) -> str:
        """Return the path that opens a location here; see ``citations.models.path_to``."""
        language = self.language
        return path_to(self.uuid, self.video_id, locator, language=language, marked=marked)

    @property
    def is_unfinished(self) -> bool:
        """Whether no search finds it yet, or only one by words."""
        return self.state in UNFINISHED

    @property
    def is_in_work(self) -> bool:
        """Whether a step of its ingest has begun."""
        return bool(self.step or self.total)

    @property
    def is_waiting(self) -> bool:
        """Whether it waits for its turn."""
        return self.is_unfinished and not self.is_in_work

    def start(self, **values: Any) -> None:
        """Record that an attempt begins."""
        super().start(begun_at=clock.now(), **values)

    def report(self, *, step: str, done: int = 0, total: int = 0) -> None:
        """Record the progress; once anything is done, earlier attempts no longer count."""
        self.change(step=step[:60], done=done, total=total, **(PROGRESS if done else {}))

    def reach(self, state: State) -> None:
        """Record that the ingest got to this state, and forget the progress and earlier errors."""
        is_new = state == State.READY and self.state != state
        ready = {"ready_at": clock.now()} if is_new else {}
        self.change(
            state=state, step="", done=0, total=0, attempts=0, crashes=0, **NO_ERROR, **ready
        )

    def fail(self, error: KnowledgeBaseError) -> None:
        """Record that the ingest ended without success, and why."""
        self.change(state=State.FAILED, run_after=None, **error_columns(error))

    def start_anew(self) -> None:
        """Ingest it again from its text on; indexed passages are found until they are replaced."""
        self.restart(**_ANEW)

    def change(self, **values: Any) -> None:
        """Write only these columns, and when they changed."""
        super().change(updated_at=timezone.now(), **values)


def path_to(
    source: uuid.UUID, video: int | None, locator: Locator, *, language: str, marked: bool = False
) -> str:
    """Return the path that opens a location here: a page marks it; a video plays it, or plays on
    from it and has its words ``marked``.
    """
    first, last = locator.span
    if video is None:
        page = f"pages/{locator.page}/?from={first}&to={last}" if locator.page else ""
        return site_path(f"/sources/{source}/{page}")
    until = f"&until={_seconds(locator.end)}s" if locator.end else ""
    words = f"&from={first}&to={last}" if marked else until
    lang = f"&lang={quote(language)}" if language else ""
    return f"{video_path(video)}?t={_seconds(locator.start or 0)}s{words}{lang}"


def _seconds(milliseconds: int) -> str:
    """Write 12345 ms as 12.345, 12000 as 12."""
    return f"{milliseconds // 1000}.{milliseconds % 1000:03}".rstrip("0").rstrip(".")


@lru_cache(maxsize=256)
def visible_sources_sql(scope: Scope) -> tuple[str, Mapping[str, int]]:
    """Return ``SourceQuerySet.visible`` as SQL that selects ids, and its named parameters.

    Every raw statement that returns text of sources must restrict them with it.
    """
    try:
        sql, values = Source.objects.visible(scope).values("pk").order_by().query.sql_with_params()
    except EmptyResultSet:
        return "SELECT NULL::bigint WHERE false", {}
    names = [f"visible_{number}" for number in range(len(values))]
    return sql % tuple(f"%({name})s" for name in names), dict(zip(names, values, strict=True))

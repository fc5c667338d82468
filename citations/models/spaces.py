"""Embedding spaces: the model a library is locked to, the one it migrates to, and the vectors of each."""

from django.db import models
from django.db.models import Q
from pgvector.django import HalfVectorField

from citations.models.sources import Chunk, Source
from transcripts import locks
from transcripts.locks import Lock
from transcripts.work.models import QueuedWork, QueuedWorkQuerySet


class SpaceState(models.TextChoices):
    """What a space is for."""

    BUILDING = "building", "being built"
    ACTIVE = "active", "searched"
    RETIRED = "retired", "replaced"


class EmbeddingSpaceQuerySet(QueuedWorkQuerySet["EmbeddingSpace"]):
    """Embedding spaces, and the one that is being built."""

    def building(self) -> "EmbeddingSpaceQuerySet":
        """Keep the space that is being built."""
        return self.filter(state=SpaceState.BUILDING)


class EmbeddingSpace(QueuedWork):
    """Vectors of one model. The active one is the library's lock; at most one other is being built beside it."""

    LOCK = Lock.SPACE

    provider = models.CharField(max_length=20)
    model = models.CharField(max_length=200)
    dimensions = models.PositiveIntegerField()
    state = models.CharField(max_length=10, choices=SpaceState.choices)
    guarded = models.BooleanField(
        default=False,
        help_text="Do not switch when the hits that people marked would be found worse.",
    )
    max_distance = models.FloatField(
        null=True,
        blank=True,
        help_text="Squared L2 distance from which on a lecture's window cites nothing; empty: not calibrated.",
    )
    calibrated_at = models.DateTimeField(null=True, blank=True)
    calibration = models.JSONField(
        default=dict, blank=True, help_text="How that distance was found."
    )
    created_at = models.DateTimeField(auto_now_add=True)
    activated_at = models.DateTimeField(null=True, blank=True)

    objects = EmbeddingSpaceQuerySet.as_manager()

    class Meta:
        ordering = ("-pk",)
        constraints = (
            models.CheckConstraint(condition=Q(state__in=SpaceState.values), name="space_state"),
            models.CheckConstraint(
                condition=Q(dimensions__gte=1, dimensions__lte=4000), name="space_dimensions"
            ),  # the most that a halfvec index takes
            models.UniqueConstraint(
                fields=("state",), condition=Q(state="active"), name="space_one_active"
            ),
            models.UniqueConstraint(
                fields=("state",), condition=Q(state="building"), name="space_one_building"
            ),
        )

    def __str__(self) -> str:
        return f"{self.provider} · {self.model} · {self.dimensions} dimensions"

    @property
    def index_name(self) -> str:
        """The name of its nearest-neighbour index, where it has one."""
        return f"citations_embedding_space_{self.pk}"


class Embedding(models.Model):
    """The vector of one chunk in one space, of length 1. ``digest`` says of which text: it differs from the chunk's when that changed since."""

    # The database deletes it with its chunk; Django, which need not load every chunk then, with its source.
    chunk = models.ForeignKey(Chunk, on_delete=models.DO_NOTHING, related_name="embeddings")
    space = models.ForeignKey(EmbeddingSpace, on_delete=models.CASCADE, related_name="embeddings")
    source = models.ForeignKey(Source, on_delete=models.CASCADE, related_name="+", db_index=False)
    digest = models.BinaryField(max_length=32)
    vector = HalfVectorField()

    class Meta:
        constraints = (models.UniqueConstraint(fields=("chunk", "space"), name="embedding_once"),)
        indexes = (
            models.Index(fields=("source", "space"), name="embedding_of_source"),
            models.Index(fields=("space", "digest"), name="embedding_of_text"),
        )

    def __str__(self) -> str:
        return f"{self.chunk_id} in {self.space_id}"


def keep_switch_out() -> None:
    """Prevent a switch to another space until this transaction ends, so that it misses no write."""
    locks.hold_for_transaction(Lock.SPACE_SWITCH, shared=True)


def keep_writers_out() -> None:
    """Wait for transactions that write chunks or vectors; block new ones until this one ends."""
    locks.hold_for_transaction(Lock.SPACE_SWITCH)

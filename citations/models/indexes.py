"""The indexes of chunks: the lexicon, and embedding spaces with their vectors.

The lexicon is the inverted index of all chunks. A chunk's position is its number in the whole
library; positions ascend and are never reused. Each source has an entry with its chunks' terms. A
merge gathers entries into packs of 65,536 positions: one block per term, and the chunks' lengths.
"""

from django.db import models
from django.db.models import CheckConstraint, Index, Q, UniqueConstraint
from django.utils.translation import gettext_lazy as _
from pgvector.django import HalfVectorField

from citations.models.chunks import Chunk
from citations.models.sources import Source
from transcripts.core import locks
from transcripts.core.locks import Lock
from transcripts.core.work.models import QueuedWork, QueuedWorkQuerySet


class LexEntry(models.Model):
    """The terms of a source's chunks at positions ``first`` to ``first + count − 1``.

    A merged entry has no ``data``: the packs have it. An entry without a source is a tombstone: the
    source was deleted or has a newer entry, and its postings, even if merged, no longer count.
    """

    source = models.OneToOneField(Source, models.SET_NULL, null=True, related_name="+")
    first = models.BigIntegerField(unique=True)
    count = models.PositiveIntegerField()
    tokens = models.BigIntegerField()
    code = models.CharField(max_length=8, help_text="Of the stemmer of its language.")
    merged = models.BooleanField(default=False, help_text="Its postings are in the packs.")
    tokenizer_version = models.PositiveSmallIntegerField()
    data = models.BinaryField()

    class Meta:
        ordering = ("first",)
        # Every search reads these: entries not in the packs yet, tombstones, and what another
        # version has indexed.
        indexes = (
            Index(fields=("id",), condition=Q(merged=False) | Q(source=None), name="lexentry_open"),
            Index(fields=("tokenizer_version",), name="lexentry_version"),
        )

    def __str__(self) -> str:
        return f"places {self.first} to {self.first + self.count - 1}"


class LexPack(models.Model):
    """65,536 consecutive positions: the count, total and individual lengths of its chunks.

    The count and total are without the ``dead`` chunks: runs of positions whose postings are still
    in the blocks. ``version`` is that of the merge that wrote the lengths. Versions of a pack or
    block are never reused, so that they can be cached. ``codes`` are those of the stemmers that its
    entries have, or had, with blanks between.
    """

    pack = models.PositiveIntegerField(primary_key=True)
    version = models.BigIntegerField()
    count = models.PositiveIntegerField()
    tokens = models.BigIntegerField()
    codes = models.TextField()
    data = models.BinaryField()
    dead = models.BinaryField(default=b"")

    def __str__(self) -> str:
        return f"pack {self.pack}"


class LexBlock(models.Model):
    """The postings of a term in one pack; ``skyline`` bounds their scores (see ``postings``)."""

    pk = models.CompositePrimaryKey("term", "pack")
    term = models.TextField(db_collation="C")
    pack = models.PositiveIntegerField()
    version = models.BigIntegerField()
    count = models.PositiveIntegerField()
    skyline = models.BinaryField()
    data = models.BinaryField()

    def __str__(self) -> str:
        return f"{self.term} in pack {self.pack}"


class SpaceState(models.TextChoices):
    BUILDING = "building", _("being built")
    ACTIVE = "active", _("searched")
    RETIRED = "retired", _("replaced")


class EmbeddingSpaceQuerySet(QueuedWorkQuerySet["EmbeddingSpace"]):
    def building(self) -> "EmbeddingSpaceQuerySet":
        """Keep the space that is being built."""
        return self.filter(state=SpaceState.BUILDING)


class EmbeddingSpace(QueuedWork):
    """The vectors of one model. One space is active; at most one other is being built."""

    LOCK = Lock.SPACE

    provider = models.CharField(max_length=20)
    model = models.CharField(max_length=200)
    dimensions = models.PositiveIntegerField()
    state = models.CharField(max_length=10, choices=SpaceState.choices)
    guarded = models.BooleanField(default=False, help_text="Do not switch to worse ranks.")
    created_at = models.DateTimeField(auto_now_add=True)
    activated_at = models.DateTimeField(null=True, blank=True)
    overrules = models.JSONField(
        default=list,
        blank=True,
        help_text="Settings that the migration overrules: provider, model, dimensions.",
    )

    objects = EmbeddingSpaceQuerySet.as_manager()

    class Meta:
        ordering = ("-pk",)
        constraints = (
            CheckConstraint(condition=Q(state__in=SpaceState.values), name="space_state"),
            CheckConstraint(
                condition=Q(dimensions__gte=1, dimensions__lte=4000), name="space_dimensions"
            ),  # the most that a halfvec index takes
            UniqueConstraint(
                fields=("state",), condition=Q(state="active"), name="space_one_active"
            ),
            UniqueConstraint(
                fields=("state",), condition=Q(state="building"), name="space_one_building"
            ),
        )

    def __str__(self) -> str:
        return f"{self.provider} · {self.model} · {self.dimensions} dimensions"

    @property
    def identity(self) -> tuple[str, str, int]:
        """Provider, model and dimensions."""
        return self.provider, self.model, self.dimensions

    @property
    def vectors(self) -> int:
        """The number of its vectors."""
        return self.embeddings.count()

    @property
    def index_name(self) -> str:
        """The name of its HNSW index."""
        return f"citations_embedding_space_{self.pk}"


class Embedding(models.Model):
    """The vector, of length 1, of a chunk in a space, for the text with that ``digest``."""

    # DO_NOTHING: the database deletes it with its chunk, so Django need not load the chunks.
    chunk = models.ForeignKey(Chunk, models.DO_NOTHING, related_name="embeddings")
    space = models.ForeignKey(EmbeddingSpace, models.CASCADE, related_name="embeddings")
    source = models.ForeignKey(Source, models.CASCADE, related_name="+", db_index=False)
    digest = models.BinaryField(max_length=32)
    vector = HalfVectorField()
    is_cut = models.BooleanField(db_default=False, help_text="It is of the text's beginning.")

    class Meta:
        constraints = (UniqueConstraint(fields=("chunk", "space"), name="embedding_once"),)
        indexes = (
            Index(fields=("source", "space"), name="embedding_of_source"),
            Index(fields=("space", "digest"), name="embedding_of_text"),
            Index(fields=("space", "source"), condition=Q(is_cut=True), name="embedding_cut"),
        )

    def __str__(self) -> str:
        return f"{self.chunk_id} in {self.space_id}"


def keep_switch_out() -> None:
    """Prevent a switch to another space until this transaction ends."""
    locks.hold_for_transaction(Lock.SPACE_SWITCH, shared=True)


def keep_writers_out() -> None:
    """Wait for writers of chunks or vectors, and block new ones until this transaction ends."""
    locks.hold_for_transaction(Lock.SPACE_SWITCH)

"""The summary tree of each source and its guide, made from its own sentences, and topics that span
sources.
"""

import uuid
from typing import Self

from django.db import models
from django.db.models import CheckConstraint, F, Index, Q, UniqueConstraint
from django.utils.translation import gettext_lazy as _
from pgvector.django import HalfVectorField

from citations.models.chunks import LocatedRow
from citations.models.indexes import EmbeddingSpace
from citations.models.sources import Source
from citations.text.sentences import ends_with_stop
from transcripts.core import clock
from transcripts.core.errors import KnowledgeBaseError
from transcripts.core.locks import Lock
from transcripts.core.work.models import NO_ERROR, QueuedWork, QueuedWorkQuerySet, error_columns
from transcripts.models import Collection


class Level(models.IntegerChoices):
    """Levels of the summary tree. Level 0 is the chunks."""

    GROUP = 1, _("paragraphs")
    SECTION = 2, _("section")
    DOCUMENT = 3, _("document")


class Node(LocatedRow):
    """A node of the summary tree.

    ``text`` joins the sentences at ``spans`` of the source's text with blanks. The children of
    a group are the chunks ``first`` to ``last``, of other nodes those whose ``parent`` it is.
    ``vector``, of length 1, points where the mean of its chunks' vectors in ``space`` does.
    """

    source = models.ForeignKey(Source, models.CASCADE, related_name="nodes")
    level = models.PositiveSmallIntegerField(choices=Level.choices)
    ordinal = models.PositiveIntegerField(help_text="Among the source's nodes of this level.")
    parent = models.ForeignKey(
        "self", models.DO_NOTHING, null=True, blank=True, related_name="children"
    )
    title = models.CharField(
        max_length=300, blank=True, help_text="A heading, chapter or distinctive words."
    )
    text = models.TextField(help_text="The summary: verbatim sentences.")
    spans = models.JSONField(default=list, help_text="[first, last) characters of each sentence.")
    abstract = models.TextField(blank=True, help_text="The summary by a language model.")
    first = models.PositiveIntegerField("first chunk")
    last = models.PositiveIntegerField("last chunk")
    digest = models.BinaryField(max_length=32, help_text="SHA-256 of its input.")
    space = models.ForeignKey(
        EmbeddingSpace, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    vector = HalfVectorField(null=True, blank=True)

    class Meta:
        ordering = ("source_id", "-level", "ordinal")
        constraints = (
            UniqueConstraint(
                fields=("source", "level", "ordinal"),
                name="node_once",
                deferrable=models.Deferrable.DEFERRED,
            ),
            CheckConstraint(condition=Q(level__in=Level.values), name="node_level"),
            CheckConstraint(condition=Q(span_end__gt=F("span_start")), name="node_not_empty"),
            CheckConstraint(condition=Q(last__gte=F("first")), name="node_chunks"),
        )
        indexes = (Index(fields=("space", "level"), name="node_of_space"),)

    @property
    def sentences(self) -> list[str]:
        """The sentences of the summary, each with a capital and, where it has no stop, an ellipsis.

        In the source they may follow a “so”, and captions may have no stops.
        """
        own: list[str] = []
        start = 0
        for first, last in self.spans:
            sentence = self.text[start : start + last - first]
            start += last - first + 1
            ending = "" if ends_with_stop(sentence) else " …"
            own.append(f"{sentence[:1].upper()}{sentence[1:]}{ending}")
        return own

    @property
    def summary(self) -> str:
        """The abstract, or else the sentences."""
        return self.abstract or " ".join(self.sentences)

    def __str__(self) -> str:
        return f"{self.source_id} · {self.get_level_display()} {self.ordinal}"


class Topic(models.Model):
    """What sections of a collection have in common. A section may belong to several topics."""

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    collection = models.ForeignKey(Collection, models.CASCADE, related_name="topics")
    space = models.ForeignKey(EmbeddingSpace, models.CASCADE, related_name="+")
    label = models.CharField(max_length=200)
    terms = models.JSONField(default=list)
    vector = HalfVectorField()
    size = models.PositiveIntegerField(default=0, help_text="Sections at the last update.")
    size_at_rebuild = models.PositiveIntegerField(
        default=0, help_text="Sections at the last rebuild."
    )
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ("collection_id", "label")

    def __str__(self) -> str:
        return self.label


class TopicMember(models.Model):
    """A section's share in a topic, above 0 and at most 1; a section's shares add up to 1."""

    # DO_NOTHING: the database deletes it with either, so Django need not load the nodes.
    topic = models.ForeignKey(Topic, models.DO_NOTHING, related_name="members")
    node = models.ForeignKey(Node, models.DO_NOTHING, related_name="topics")
    weight = models.FloatField()

    class Meta:
        constraints = (
            UniqueConstraint(fields=("topic", "node"), name="topic_member_once"),
            CheckConstraint(condition=Q(weight__gt=0, weight__lte=1), name="topic_member_weight"),
        )

    def __str__(self) -> str:
        return f"{self.topic_id} · {self.node_id}"


class GuideQuerySet(QueuedWorkQuerySet["Guide"]):
    def made(self) -> Self:
        """Keep those that are complete."""
        return self.exclude(made_at=None)

    def to_make(self) -> Self:
        """Keep those that are neither complete nor given up."""
        return self.filter(made_at=None, failed_at=None)


class Guide(QueuedWork):
    """The guide to a source; ``items`` are those of ``citations.guide.items``, by their kind.

    It belongs to the text with this ``digest``, and to the ``version`` of the rules by which it was
    made. ``made_at`` is empty until it is complete, ``failed_at`` unless it is given up.
    """

    LOCK = Lock.GUIDE
    MAX_CRASHES = 3

    source = models.OneToOneField(Source, models.CASCADE, related_name="guide")
    digest = models.CharField(max_length=64, help_text="Of the text that it was made from.")
    version = models.PositiveSmallIntegerField(help_text="Of the rules that it was made by.")
    items = models.JSONField(default=dict)
    made_at = models.DateTimeField(null=True, blank=True)
    failed_at = models.DateTimeField(null=True, blank=True)

    objects = GuideQuerySet.as_manager()

    class Meta:
        ordering = ("-pk",)

    def __str__(self) -> str:
        return f"{self.source_id} · guide"

    def finish(self, items: object) -> None:
        """Record that it is complete, unless its text changed meanwhile."""
        values = {"items": items, "made_at": clock.now(), **NO_ERROR}
        same = Guide.objects.filter(pk=self.pk, digest=self.digest, version=self.version)
        if same.update(**values):
            self.made_at = values["made_at"]

    def fail(self, error: KnowledgeBaseError) -> None:
        """Record that it is given up until the text or the rules change, and why."""
        self.change(failed_at=clock.now(), run_after=None, **error_columns(error))


class AbstractsRequest(QueuedWork):
    """The request for the abstracts that the outline of a source lacks, until they are written."""

    LOCK = Lock.ABSTRACTS

    source = models.OneToOneField(Source, models.CASCADE, related_name="+")

    objects = QueuedWorkQuerySet["AbstractsRequest"].as_manager()

    class Meta:
        ordering = ("pk",)

    def __str__(self) -> str:
        return f"{self.source_id} · abstracts"

"""Levels of detail: the summary tree of each source, and the topics that sections of several sources share."""

import uuid

from django.db import models
from django.db.models import F, Q
from pgvector.django import HalfVectorField

from citations.models.sources import Source
from citations.models.spaces import EmbeddingSpace
from transcripts.models import Collection


class Level(models.IntegerChoices):
    """How much of a source a node tells of. Level 0 are the chunks themselves."""

    GROUP = 1, "paragraphs"
    SECTION = 2, "section"
    DOCUMENT = 3, "document"


class Node(models.Model):
    """A part of a source in a few of its own sentences: ``text`` are those at ``spans`` of the source's text, in order, joined by blanks.

    Its children are the nodes whose ``parent`` it is; those of a group are the chunks ``first`` to ``last``. ``vector``, of length 1, is the direction of the
    mean of its chunks' in ``space``.
    """

    source = models.ForeignKey(Source, on_delete=models.CASCADE, related_name="nodes")
    level = models.PositiveSmallIntegerField(choices=Level.choices)
    ordinal = models.PositiveIntegerField(help_text="Among the source's nodes of this level.")
    parent = models.ForeignKey(
        "self", on_delete=models.DO_NOTHING, null=True, blank=True, related_name="children"
    )
    title = models.CharField(
        max_length=300,
        blank=True,
        help_text="The heading or chapter; for others the words that tell it from its neighbours.",
    )
    text = models.TextField(help_text="Its summary, verbatim sentences.")
    spans = models.JSONField(
        default=list, help_text="[first, last) characters of each sentence in the source's text."
    )
    abstract = models.TextField(
        blank=True,
        help_text="Its summary in a language model's words; empty: none was asked for yet.",
    )
    first = models.PositiveIntegerField(
        "first chunk", help_text="Ordinal of the first chunk below it."
    )
    last = models.PositiveIntegerField("last chunk")
    span_start = models.PositiveIntegerField()
    span_end = models.PositiveIntegerField()
    start = models.PositiveIntegerField("start (ms)", null=True, blank=True)
    end = models.PositiveIntegerField("end (ms)", null=True, blank=True)
    page = models.PositiveIntegerField(null=True, blank=True)
    last_page = models.PositiveIntegerField(null=True, blank=True)
    digest = models.BinaryField(
        max_length=32,
        help_text="SHA-256 of what it was made from: one that would be made from the same stays.",
    )
    space = models.ForeignKey(
        EmbeddingSpace, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    vector = HalfVectorField(null=True, blank=True)

    class Meta:
        ordering = ("source_id", "-level", "ordinal")
        constraints = (
            models.UniqueConstraint(
                fields=("source", "level", "ordinal"),
                name="node_once",
                deferrable=models.Deferrable.DEFERRED,
            ),
            models.CheckConstraint(condition=Q(level__in=Level.values), name="node_level"),
            models.CheckConstraint(
                condition=Q(span_end__gt=F("span_start")), name="node_not_empty"
            ),
            models.CheckConstraint(condition=Q(last__gte=F("first")), name="node_chunks"),
        )
        indexes = (models.Index(fields=("space", "level"), name="node_of_space"),)

    def __str__(self) -> str:
        return f"{self.source_id} · {self.get_level_display()} {self.ordinal}"


class Topic(models.Model):
    """What sections of a collection have in common. A section may belong to several."""

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="topics")
    space = models.ForeignKey(EmbeddingSpace, on_delete=models.CASCADE, related_name="+")
    label = models.CharField(max_length=200)
    terms = models.JSONField(default=list)
    vector = HalfVectorField()
    size = models.PositiveIntegerField(
        default=0,
        help_text="Sections that it was last told from; another number than it has now means that some are gone.",
    )
    size_at_rebuild = models.PositiveIntegerField(
        default=0,
        help_text="Sections that it had when all topics of the collection were last found.",
    )
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ("collection_id", "label")

    def __str__(self) -> str:
        return self.label


class TopicMember(models.Model):
    """A section's part in a topic: ``weight`` 0 to 1, and those of one section add up to 1."""

    # The database deletes it with either; Django need not load every node of what is deleted then.
    topic = models.ForeignKey(Topic, on_delete=models.DO_NOTHING, related_name="members")
    node = models.ForeignKey(Node, on_delete=models.DO_NOTHING, related_name="topics")
    weight = models.FloatField()

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("topic", "node"), name="topic_member_once"),
            models.CheckConstraint(
                condition=Q(weight__gt=0, weight__lte=1), name="topic_member_weight"
            ),
        )

    def __str__(self) -> str:
        return f"{self.topic_id} · {self.node_id}"

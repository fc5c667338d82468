"""The summary tree of each source, and topics that span sources."""

import uuid

from django.db import models
from django.db.models import CheckConstraint, F, Index, Q, UniqueConstraint
from django.utils.translation import gettext_lazy as _
from pgvector.django import HalfVectorField

from citations.models.sources import LocatedRow, Source
from citations.models.spaces import EmbeddingSpace
from citations.text.sentences import ends_with_stop
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

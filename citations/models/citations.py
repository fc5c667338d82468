"""Citations: what was cited, anchored to its quote in the source, so that it outlives chunks and vectors."""

import uuid

from django.db import models
from django.db.models import F, Q

from citations.models.lectures import LectureSession, Window
from citations.models.sources import Chunk, Source
from transcripts.scope import Scope


class CitationQuerySet(models.QuerySet["Citation"]):
    """Citations, as far as a scope reaches: into the session as well as into the source."""

    def visible(self, scope: Scope) -> "CitationQuerySet":
        """Keep those whose session and source are both in collections that the scope may read."""
        return self.filter(
            session__collection__in=scope.readable, source__in=Source.objects.visible(scope)
        )


class Citation(models.Model):
    """A place in a source that belongs beside what was said. ``quote`` is exactly the source's text from ``span_start`` to ``span_end`` in ``digest``."""

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    session = models.ForeignKey(LectureSession, on_delete=models.CASCADE, related_name="citations")
    window = models.ForeignKey(Window, on_delete=models.CASCADE, related_name="citations")
    window_index = models.PositiveIntegerField()
    rank = models.PositiveSmallIntegerField()
    source = models.ForeignKey(Source, on_delete=models.CASCADE, related_name="citations")
    chunk = models.ForeignKey(
        Chunk, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    page = models.PositiveIntegerField(null=True, blank=True)
    last_page = models.PositiveIntegerField(null=True, blank=True)
    start = models.PositiveIntegerField("start (ms)", null=True, blank=True)
    end = models.PositiveIntegerField("end (ms)", null=True, blank=True)
    section_heading = models.CharField(max_length=300, blank=True)
    quote = models.TextField(help_text="The whole passage.")
    span_start = models.PositiveIntegerField()
    span_end = models.PositiveIntegerField()
    digest = models.CharField(
        max_length=64, help_text="Of the source's text that the span counts in."
    )
    snippet = models.TextField(help_text="100 to 200 characters of it, to be shown.")
    relevance_score = models.FloatField(help_text="0 to 1.")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = CitationQuerySet.as_manager()

    class Meta:
        ordering = ("session_id", "window_index", "rank")
        constraints = (
            models.UniqueConstraint(
                fields=("session", "window_index", "rank"), name="citation_once"
            ),
            models.CheckConstraint(condition=Q(rank__gte=1, rank__lte=3), name="citation_rank"),
            models.CheckConstraint(
                condition=Q(relevance_score__gte=0, relevance_score__lte=1), name="citation_score"
            ),
            models.CheckConstraint(
                condition=Q(span_end__gt=F("span_start")), name="citation_not_empty"
            ),
        )

    def __str__(self) -> str:
        return f"{self.session_id} · {self.window_index}.{self.rank}"

    @property
    def path(self) -> str:
        """The page that shows what is cited: a document's page, or a recording at its second."""
        if self.source.video_id is not None:
            return f"/videos/{self.source.video_id}/?t={(self.start or 0) // 1000}s"
        return f"/sources/{self.source.uuid}/pages/{self.page or 1}/?citation={self.uuid}"

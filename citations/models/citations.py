"""Citations: quotes of a source, in an answer or beside a lecture."""

import uuid

from django.db import models
from django.db.models import CheckConstraint, F, Q, UniqueConstraint

from citations.models.answers import Answer
from citations.models.chunks import Chunk, LocatedRow
from citations.models.lectures import LectureSession, Window
from citations.models.sources import Source
from transcripts.core.scope import Scope
from transcripts.core.site_path import site_path


class CitationQuerySet(models.QuerySet["Citation"]):
    def visible(self, scope: Scope) -> "CitationQuerySet":
        """Keep those whose source, and lecture if they belong to one, the scope may read."""
        return self.filter(
            Q(session=None) | Q(session__collection__in=scope.readable, session__deletion=None),
            source__in=Source.objects.visible(scope),
        )

    def in_answers(self) -> "CitationQuerySet":
        return self.filter(answer__isnull=False)

    def in_lectures(self) -> "CitationQuerySet":
        return self.filter(session__isnull=False)


class Citation(LocatedRow):
    """A verbatim quote of a source: ``quote`` is its text with that ``digest`` in the span.

    A citation belongs either to an answer, where it has a number, or to a window of a lecture,
    where it has a rank. It is anchored in the text as W3C's TextQuoteSelector and
    TextPositionSelector do it, so it outlives chunks and vectors.
    """

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    answer = models.ForeignKey(
        Answer, models.DO_NOTHING, null=True, blank=True, related_name="citations"
    )  # the database deletes it with its answer
    number = models.PositiveSmallIntegerField(null=True, blank=True)
    session = models.ForeignKey(
        LectureSession, models.CASCADE, null=True, blank=True, related_name="citations"
    )
    window = models.ForeignKey(
        Window, models.CASCADE, null=True, blank=True, related_name="citations"
    )
    window_index = models.PositiveIntegerField(null=True, blank=True)
    rank = models.PositiveSmallIntegerField(null=True, blank=True)
    source = models.ForeignKey(Source, models.CASCADE, related_name="citations")
    chunk = models.ForeignKey(Chunk, models.SET_NULL, null=True, blank=True, related_name="+")
    section_heading = models.CharField(max_length=300, blank=True)
    speaker = models.CharField(
        max_length=100,
        blank=True,
        help_text="In an answer: who says it, if captions name speakers.",
    )
    quote = models.TextField(help_text="In a lecture: the whole passage.")
    prefix = models.CharField(max_length=100, blank=True)
    suffix = models.CharField(max_length=100, blank=True)
    digest = models.CharField(max_length=64, help_text="Of the text that the span refers to.")
    snippet = models.TextField("passage", blank=True, help_text="In a lecture.")
    relevance_score = models.FloatField(null=True, blank=True, help_text="In a lecture: 0 to 1.")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = CitationQuerySet.as_manager()

    class Meta:
        ordering = ("session_id", "window_index", "rank", "answer_id", "number")
        constraints = (
            CheckConstraint(
                condition=Q(
                    answer__isnull=False,
                    number__isnull=False,
                    session__isnull=True,
                    window__isnull=True,
                    window_index__isnull=True,
                    rank__isnull=True,
                    relevance_score__isnull=True,
                )
                | Q(
                    answer__isnull=True,
                    number__isnull=True,
                    session__isnull=False,
                    window__isnull=False,
                    window_index__isnull=False,
                    rank__isnull=False,
                    relevance_score__isnull=False,
                ),
                name="citation_of_answer_or_lecture",
            ),
            UniqueConstraint(fields=("answer", "number"), name="citation_number_once"),
            UniqueConstraint(fields=("session", "window_index", "rank"), name="citation_once"),
            CheckConstraint(condition=Q(rank__gte=1, rank__lte=3), name="citation_rank"),
            CheckConstraint(
                condition=Q(relevance_score__gte=0, relevance_score__lte=1), name="citation_score"
            ),
            CheckConstraint(condition=Q(span_end__gt=F("span_start")), name="citation_not_empty"),
        )

    def __str__(self) -> str:
        if self.answer_id:
            return f"{self.answer_id} · [{self.number}]"
        return f"{self.session_id} · {self.window_index}.{self.rank}"

    @property
    def permalink(self) -> str:
        """The path that leads to it wherever its source has its words by then."""
        return site_path(f"/citations/{self.uuid}/")

    @property
    def path(self) -> str:
        """The path of the page that shows it: a document's page, or the recording where it is."""
        if self.source.video_id is not None:
            return self.source.path_to(self.locator)
        page = f"/sources/{self.source.uuid}/pages/{self.page or 1}/"
        return site_path(f"{page}?citation={self.uuid}")

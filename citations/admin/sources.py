"""Sources, their chunks, relevance judgments, outlines, topics and guides."""

from typing import Any, ClassVar

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _

from citations.lexical import index as lexical_index
from citations.lexical.query import parse
from citations.library.filters import ResolvedFilter
from citations.models import Chunk, Guide, Mark, Node, Source, Topic
from citations.tasks import dispatch
from transcripts.admin import RecordAdmin
from transcripts.admin.tables import QUEUED_AT_ONCE, FilledFilter
from transcripts.core.sanitize import MAX_QUERY_CHARACTERS
from transcripts.core.translation import translated
from transcripts.text.timecodes import clock

LONG_VIDEO = ("video__description", "video__chapters", "video__languages", "video__tags")
FOUND_AT_MOST = 500  # chunks per search


class PositionAdmin(RecordAdmin):
    """Rows with a start in ms, and perhaps a text."""

    @admin.display(description=_("Where"), ordering="start")
    def at(self, row: Any) -> str:
        return "–" if row.start is None else clock(row.start)

    @admin.display(description=_("Begins with"))
    def beginning(self, row: Any) -> str:
        return str(row.text[:100])


@admin.register(Source)
class SourceAdmin(RecordAdmin):
    """Sources and their state. They are made from transcripts and deleted with them."""

    list_display = (
        *("title", "kind", "collection", "language", "state", "progress", "chunk_count"),
        *("error_code", "updated_at"),
    )
    list_filter = (
        "state",
        "kind",
        ("error_code", FilledFilter),
        "chunking",
        "collection",
        "created_at",
    )
    search_fields = ("title", "author", "video__key")
    search_help_text = _("Title, author or id")
    exclude: ClassVar[Any] = ("video", "transcript", "fingerprint")
    readonly_fields = ("progress",)
    actions = ("index_again", "try_again")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Skip the long columns of videos."""
        rows: QuerySet[Any] = super().get_queryset(request)
        return rows.select_related("video", "collection").defer(*LONG_VIDEO)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Allow it for documents: a recording is deleted with its video."""
        is_document = obj is not None and obj.video_id is None
        return is_document and super().has_delete_permission(request, obj)

    @admin.display(description=_("Progress"), ordering="done")
    def progress(self, source: Any) -> str:
        bar = '<progress max="100" value="{0}">{0}%</progress> {1}'
        return format_html(bar, source.percent, translated(source.step)) if source.step else "–"

    @admin.action(description=_("Index again, from the text on"), permissions=["work"])
    def index_again(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        anew = Source.start_anew
        self.work_on(
            request, queryset, anew, outcome=_("will be indexed again"), most=QUEUED_AT_ONCE
        )
        dispatch()

    @admin.action(description=_("Try again now"), permissions=["work"])
    def try_again(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        count = queryset.update(run_after=None, sent_at=None)
        message = _("%(count)s will be tried at once.") % {"count": count}
        self.message_user(request, message, messages.SUCCESS)
        dispatch()


@admin.register(Chunk)
class ChunkAdmin(PositionAdmin):
    """The passages that a search finds."""

    list_display = ("__str__", "source", "at", "page", "beginning", "has_context")
    list_filter = ("source__kind", "source__collection")
    list_select_related = ("source",)
    search_fields = ("text",)
    search_help_text = _("Words of the text, best first")
    ordering = ("source_id", "ordinal")
    exclude: ClassVar[Any] = ("digest",)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Allow it for nobody: chunks are deleted with their source."""
        return False

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Search with the index, as comparing every text would be slow."""
        if not search_term.strip():
            return queryset, False
        everything = ResolvedFilter(sources=None, chunks=1)
        hits = lexical_index.search(
            parse(search_term[:MAX_QUERY_CHARACTERS]), limit=FOUND_AT_MOST, resolved=everything
        )
        return queryset.filter(position__in=[hit.position for hit in hits]), False

    @admin.display(description=_("context"), boolean=True)
    def has_context(self, chunk: Any) -> bool:
        """Whether a language model has written its context."""
        return bool(chunk.context)


@admin.register(Mark)
class MarkAdmin(PositionAdmin):
    list_display = ("query", "right", "source", "user", "at", "created_at")
    list_filter = ("right", "created_at", "source__collection")
    list_select_related = ("source", "user")
    search_fields = ("query", "source__title", "user__username")


class BuiltAdmin(RecordAdmin):
    """Rows that are deleted only with what they are built from."""

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Node)
class NodeAdmin(PositionAdmin, BuiltAdmin):
    list_display = ("title", "level", "source", "at", "page", "beginning", "is_told")
    list_filter = ("level", "source__kind", "source__collection")
    list_select_related = ("source",)
    search_fields = ("title", "source__title")
    search_help_text = _("Title, or that of the source")
    ordering = ("source_id", "-level", "ordinal")
    exclude: ClassVar[Any] = ("digest", "vector")

    @admin.display(description=_("abstract"), boolean=True)
    def is_told(self, node: Any) -> bool:
        """Whether a language model has written its abstract."""
        return bool(node.abstract)


@admin.register(Topic)
class TopicAdmin(BuiltAdmin):
    list_display = ("label", "collection", "size", "updated_at")
    list_filter = ("collection",)
    list_select_related = ("collection",)
    search_fields = ("label",)
    exclude: ClassVar[Any] = ("vector",)


@admin.register(Guide)
class GuideAdmin(BuiltAdmin):
    list_display = ("source", "version", "attempts", "made_at", "failed_at")
    list_filter = ("source__kind", "source__collection")
    list_select_related = ("source",)
    search_fields = ("source__title",)

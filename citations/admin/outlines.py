"""Summary trees, topics and guides. They are built from sources and deleted with them."""

from typing import Any, ClassVar

from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from citations.admin.positions import PositionAdmin
from citations.models import Guide, Node, Topic
from transcripts.admin import RecordAdmin


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

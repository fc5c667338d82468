"""Levels of detail and topics: what sources are told in. They are built from chunks, and go with them."""

from typing import Any, ClassVar

from django.contrib import admin
from django.http import HttpRequest

from citations.models import Node, Topic
from transcripts.admin import RecordAdmin
from transcripts.timecodes import clock


class Built(RecordAdmin):
    """What is built from something else: nobody deletes it here."""

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Nobody: whoever deletes what it is built from needs the right to delete it."""
        return False


@admin.register(Node)
class NodeAdmin(Built):
    """A part of a source in a few of its own sentences."""

    list_display = ("title", "level", "source", "at", "page", "beginning", "is_told")
    list_filter = ("level", "source__kind", "source__collection")
    list_select_related = ("source",)
    search_fields = ("title", "source__title")
    search_help_text = "Title, or the source's"
    ordering = ("source_id", "-level", "ordinal")
    exclude: ClassVar[Any] = ("digest", "vector")

    @admin.display(ordering="start")
    def at(self, node: Any) -> str:
        """Show when it is said."""
        return clock(node.start) if node.start is not None else "–"

    @admin.display
    def beginning(self, node: Any) -> str:
        """Show how it begins."""
        return str(node.text[:100])

    @admin.display(boolean=True)
    def is_told(self, node: Any) -> bool:
        """Show whether a language model told of it in its own words."""
        return bool(node.abstract)


@admin.register(Topic)
class TopicAdmin(Built):
    """What sections of a collection have in common."""

    list_display = ("label", "collection", "size", "updated_at")
    list_filter = ("collection",)
    list_select_related = ("collection",)
    search_fields = ("label",)
    exclude: ClassVar[Any] = ("vector",)

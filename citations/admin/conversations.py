"""Conversations, their answers, notes and highlights."""

from django.contrib import admin

from citations.models import Answer, Conversation, Highlight, Note
from transcripts.admin import RecordAdmin
from transcripts.admin.tables import FilledFilter


@admin.register(Conversation)
class ConversationAdmin(RecordAdmin):
    list_display = ("title", "collection", "shared_with", "owner", "created_at", "updated_at")
    list_filter = ("collection", "shared_with", "updated_at")
    list_select_related = ("collection", "shared_with", "owner")
    search_fields = ("title", "owner__username")


@admin.register(Answer)
class AnswerAdmin(RecordAdmin):
    list_display = (
        *("question", "conversation", "state", "confidence", "feedback", "model"),
        *("milliseconds", "created_at"),
    )
    list_filter = (
        *("state", "feedback", ("model", FilledFilter)),
        *("conversation__collection", "created_at"),
    )
    list_select_related = ("conversation",)
    search_fields = ("question", "conversation__title")


@admin.register(Note)
class NoteAdmin(RecordAdmin):
    list_display = ("title", "collection", "author", "created_at", "updated_at")
    list_filter = ("collection", "updated_at")
    list_select_related = ("collection", "author")
    search_fields = ("title", "text", "author__username")


@admin.register(Highlight)
class HighlightAdmin(RecordAdmin):
    list_display = ("quote", "source", "author", "color", "is_shared", "created_at")
    list_filter = ("color", "is_shared", "is_card", "source__collection", "created_at")
    list_select_related = ("source", "author")
    search_fields = ("quote", "note", "source__title", "author__username")

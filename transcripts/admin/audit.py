"""The admin of the audit trail, which nobody can change."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from transcripts.admin.tables import RecordAdmin
from transcripts.models import AuditEntry


@admin.register(AuditEntry)
class AuditEntryAdmin(RecordAdmin):
    list_display = (
        *("at", "actor", "token", "door", "address"),
        *("action", "kind", "thing", "collection", "details"),
    )
    list_filter = ("at", "door", "action", "kind")
    search_fields = ("actor", "thing", "collection")

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

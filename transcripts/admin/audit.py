"""The admin of the audit trail, which nobody can change."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from transcripts.core.admin.tables import RecordAdmin
from transcripts.models import AuditEntry


@admin.register(AuditEntry)
class AuditEntryAdmin(RecordAdmin):
    list_display = ("at", "who", "what", "collection", "details")
    list_filter = ("at", "door", "action", "kind")
    search_fields = ("actor", "thing", "collection")

    @admin.display(description=_("actor"), ordering="actor")
    def who(self, entry: AuditEntry) -> str:
        """Show the user with the token, the door, and where the request came from."""
        return " · ".join(filter(None, (entry.actor, entry.token, entry.door, entry.address)))

    @admin.display(description=_("action"), ordering="action")
    def what(self, entry: AuditEntry) -> str:
        return f"{entry.get_action_display()} {_(entry.kind)} {entry.thing}"

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

"""Columns that several lists of the admin share."""

from typing import Any

from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from transcripts.admin import RecordAdmin
from transcripts.text.timecodes import clock


class PositionAdmin(RecordAdmin):
    """Rows with a start in ms, and perhaps a text."""

    @admin.display(description=_("Where"), ordering="start")
    def at(self, row: Any) -> str:
        return "–" if row.start is None else clock(row.start)

    @admin.display(description=_("Begins with"))
    def beginning(self, row: Any) -> str:
        return str(row.text[:100])

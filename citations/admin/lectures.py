"""Live lectures, their segments, windows and citations."""

from collections.abc import Callable
from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import Count, OuterRef, Q, QuerySet, Subquery
from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html, format_html_join
from django.utils.translation import gettext_lazy as _

from citations.admin.sources import PositionAdmin
from citations.lectures import report as lecture_report
from citations.models import Citation, LectureSession, Segment, Window, WindowOutcome
from transcripts.admin import RecordAdmin


def _share_column(outcome: WindowOutcome) -> Callable[[Any], str]:
    """Return a column with the share of a lecture's windows that had this outcome."""

    @admin.display(description=outcome.label, ordering=f"n_{outcome}")
    def share(session: Any) -> str:
        total = sum(getattr(session, f"n_{each}") for each in lecture_report.LOOKED_UP)
        return f"{getattr(session, f'n_{outcome}') / total:.0%}" if total else "–"

    share.__name__ = f"share_{outcome}"
    return share


@admin.register(LectureSession)
class LectureSessionAdmin(RecordAdmin):
    """Lectures, with the share of windows that cite and that each check skipped."""

    list_display = (
        *("title", "collection", "owner", "windows_", "waiting"),
        *map(_share_column, lecture_report.LOOKED_UP),
        *("citations_", "ended_at", "created_at"),
    )
    list_filter = ("collection", "created_at", "ended_at")
    list_select_related = ("collection", "owner")
    search_fields = ("title", "owner__username")
    exclude: ClassVar[Any] = ("buffer", "sources")
    readonly_fields = ("outcomes", "stage_times", "notes")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows: QuerySet[Any] = super().get_queryset(request).defer("buffer")
        names = WindowOutcome.values
        counts = {f"n_{name}": _count(Window, Q(outcome=name)) for name in names}
        counted: QuerySet[Any] = rows.annotate(
            n_windows=_count(Window, Q()), n_citations=_count(Citation, Q()), **counts
        )
        return counted

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        figures = lecture_report.statistics()
        stages = ", ".join(
            f"{stage.name} {stage.p50:.0f}/{stage.p95:.0f}"
            for stage in (*figures.stages, *([figures.total] if figures.total else []))
        )
        shares = ", ".join(
            f"{each.label} {figures.share(each):.0%}" for each in lecture_report.LOOKED_UP
        )
        subtitle = (
            f"All lectures: {figures.windows:,} windows, {figures.waiting:,} waiting; {shares}"
            + (f"; p50/p95 ms: {stages}" if stages else "")
        )
        return super().changelist_view(request, {**(extra_context or {}), "subtitle": subtitle})

    @admin.display(description=_("windows"), ordering="n_windows")
    def windows_(self, session: Any) -> int:
        return int(session.n_windows)

    @admin.display(ordering="n_waiting")
    def waiting(self, session: Any) -> int:
        return int(session.n_waiting)

    @admin.display(description=_("citations"), ordering="n_citations")
    def citations_(self, session: Any) -> int:
        return int(session.n_citations)

    @admin.display(description=_("outcomes of its windows"))
    def outcomes(self, session: Any) -> str:
        counts = lecture_report.statistics(session).outcomes
        counted = ((label, counts.get(value)) for value, label in WindowOutcome.choices)
        return ", ".join(f"{label}: {count:,}" for label, count in counted if count) or "–"

    @admin.display(description=_("stages (ms)"))
    def stage_times(self, session: Any) -> str:
        figures = lecture_report.statistics(session)
        rows = [
            (stage.name, f"{stage.p50:.1f}", f"{stage.p95:.1f}", stage.count)
            for stage in (*figures.stages, *([figures.total] if figures.total else []))
        ]
        body = format_html_join("", "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>", rows)
        head = "<tr><th>stage</th><th>p50</th><th>p95</th><th>windows</th></tr>"
        return format_html(f"<table>{head}{{}}</table>", body) if rows else "–"

    @admin.display(description=_("notes of its windows"))
    def notes(self, session: Any) -> str:
        notes = lecture_report.statistics(session).notes
        rows = [(count, note) for note, count in notes.items()]
        return format_html_join("", "{}× {}<br>", rows) or "–"


@admin.register(Segment)
class SegmentAdmin(PositionAdmin):
    list_display = ("session", "number", "at", "text")
    list_filter = ("session__collection", "created_at")
    list_select_related = ("session",)
    search_fields = ("session__title",)


@admin.register(Window)
class WindowAdmin(PositionAdmin):
    list_display = (
        *("session", "index", "at", "outcome", "off_topic", "distance", "milliseconds"),
        *("note", "created_at"),
    )
    list_filter = ("outcome", "session__collection", "created_at")
    list_select_related = ("session",)
    search_fields = ("session__title", "note")


@admin.register(Citation)
class CitationAdmin(PositionAdmin):
    list_display = (
        *("quoted", "source", "page", "at", "answer", "number", "session", "window_index"),
        *("rank", "relevance_score", "created_at"),
    )
    list_filter = ("rank", "source__kind", "source__collection", "created_at")
    list_select_related = ("answer", "session", "source")
    search_fields = ("quote", "source__title", "session__title", "answer__question")
    exclude: ClassVar[Any] = ("chunk",)

    @admin.display(description=_("quote"), ordering="quote")
    def quoted(self, citation: Citation) -> str:
        return citation.snippet or citation.quote


def _count(model: Any, condition: Q) -> Subquery:
    rows = model.objects.filter(condition, session=OuterRef("pk")).order_by().values("session")
    return _Counted(rows.annotate(count=Count("pk")).values("count"))


class _Counted(Subquery):
    template = "COALESCE((%(subquery)s), 0)"

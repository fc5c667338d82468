"""Live lectures: what was said, what became of its windows and how long that took, and what was cited."""

from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import Count, OuterRef, Q, QuerySet, Subquery
from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html, format_html_join

from citations.lectures import sessions
from citations.models import Citation, LectureSession, Segment, Window, WindowOutcome
from transcripts.admin import RecordAdmin
from transcripts.timecodes import clock

SHOWN = (
    (WindowOutcome.CITED, "cited"),
    (WindowOutcome.OFF_TOPIC, "gate"),
    (WindowOutcome.TOO_FAR, "distance"),
    (WindowOutcome.TOO_WEAK, "threshold"),
    (WindowOutcome.FAILED, "failed"),
)


@admin.register(LectureSession)
class LectureSessionAdmin(RecordAdmin):
    """Lectures, with the shares of windows that cite and that each check left out."""

    list_display = (
        "title",
        "collection",
        "owner",
        "windows_",
        "waiting",
        *(name for _, name in SHOWN),
        "citations_",
        "ended_at",
        "created_at",
    )
    list_filter = ("collection", "created_at", "ended_at")
    list_select_related = ("collection", "owner")
    search_fields = ("title", "owner__username")
    exclude: ClassVar[Any] = ("buffer", "sources")
    readonly_fields = ("outcomes", "stage_times", "notes")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Count windows by their outcome."""
        rows: QuerySet[Any] = super().get_queryset(request).defer("buffer")
        counts = {
            f"n_{outcome}": _count(Window, Q(outcome=outcome)) for outcome in WindowOutcome.values
        }
        counted: QuerySet[Any] = rows.annotate(
            n_windows=_count(Window, Q()), n_citations=_count(Citation, Q()), **counts
        )
        return counted

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        """Show the list, under the figures of all lectures."""
        figures = sessions.statistics()
        stages = ", ".join(
            f"{one.name} {one.p50:.0f}/{one.p95:.0f}"
            for one in (*figures.stages, *([figures.total] if figures.total else []))
        )
        shares = f"cited {figures.cited:.0%}, gate {figures.off_topic:.0%}, distance {figures.too_far:.0%}, threshold {figures.too_weak:.0%}"
        told = (
            f"All lectures: {figures.windows:,} windows, {figures.waiting:,} waiting; {shares}"
            + (f"; p50/p95 ms: {stages}" if stages else "")
        )
        return super().changelist_view(request, {**(extra_context or {}), "subtitle": told})

    @admin.display(description="windows", ordering="n_windows")
    def windows_(self, session: Any) -> int:
        """Show how many there are."""
        return int(session.n_windows)

    @admin.display(ordering="n_waiting")
    def waiting(self, session: Any) -> int:
        """Show how many of them are not finished."""
        return int(session.n_waiting)

    @admin.display(description="citations", ordering="n_citations")
    def citations_(self, session: Any) -> int:
        """Show how many there are."""
        return int(session.n_citations)

    @admin.display(ordering="n_cited")
    def cited(self, session: Any) -> str:
        """Show the share of windows that cite something."""
        return _share(session, WindowOutcome.CITED)

    @admin.display(description="skipped: gate", ordering="n_off_topic")
    def gate(self, session: Any) -> str:
        """Show the share that the gate left out."""
        return _share(session, WindowOutcome.OFF_TOPIC)

    @admin.display(description="skipped: distance", ordering="n_too_far")
    def distance(self, session: Any) -> str:
        """Show the share that is too far from everything."""
        return _share(session, WindowOutcome.TOO_FAR)

    @admin.display(description="skipped: threshold", ordering="n_too_weak")
    def threshold(self, session: Any) -> str:
        """Show the share for which nothing was relevant enough."""
        return _share(session, WindowOutcome.TOO_WEAK)

    @admin.display(ordering="n_failed")
    def failed(self, session: Any) -> str:
        """Show the share that failed."""
        return _share(session, WindowOutcome.FAILED)

    @admin.display(description="what became of its windows")
    def outcomes(self, session: Any) -> str:
        """Show counts."""
        counts = sessions.statistics(session).outcomes
        return (
            ", ".join(
                f"{label}: {counts[value]:,}"
                for value, label in WindowOutcome.choices
                if value in counts
            )
            or "–"
        )

    @admin.display(description="stages (ms)")
    def stage_times(self, session: Any) -> str:
        """Show how long each stage took."""
        figures = sessions.statistics(session)
        rows = [
            (one.name, f"{one.p50:.1f}", f"{one.p95:.1f}", one.count)
            for one in (*figures.stages, *([figures.total] if figures.total else []))
        ]
        body = format_html_join("", "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>", rows)
        return (
            format_html(
                "<table><tr><th>stage</th><th>p50</th><th>p95</th><th>windows</th></tr>{}</table>",
                body,
            )
            if rows
            else "–"
        )

    @admin.display(description="notes of its windows")
    def notes(self, session: Any) -> str:
        """Show what was noted most often."""
        return (
            format_html_join(
                "",
                "{}× {}<br>",
                [(count, note) for note, count in sessions.statistics(session).notes.items()],
            )
            or "–"
        )


@admin.register(Segment)
class SegmentAdmin(RecordAdmin):
    """What was said."""

    list_display = ("session", "number", "at", "text")
    list_filter = ("session__collection", "created_at")
    list_select_related = ("session",)
    search_fields = ("session__title",)

    @admin.display(ordering="start")
    def at(self, segment: Any) -> str:
        """Show when it was said."""
        return _clock(segment.start)


@admin.register(Window)
class WindowAdmin(RecordAdmin):
    """What was looked up, and what became of it."""

    list_display = (
        "session",
        "index",
        "at",
        "outcome",
        "off_topic",
        "distance",
        "milliseconds",
        "note",
        "created_at",
    )
    list_filter = ("outcome", "session__collection", "created_at")
    list_select_related = ("session",)
    search_fields = ("session__title", "note")

    @admin.display(ordering="start")
    def at(self, window: Any) -> str:
        """Show when it was said."""
        return _clock(window.start)


@admin.register(Citation)
class CitationAdmin(RecordAdmin):
    list_display = (
        "quoted",
        "source",
        "page",
        "at",
        "answer",
        "number",
        "session",
        "window_index",
        "rank",
        "relevance_score",
        "created_at",
    )
    list_filter = ("rank", "source__kind", "source__collection", "created_at")
    list_select_related = ("answer", "session", "source")
    search_fields = ("quote", "source__title", "session__title", "answer__question")
    exclude: ClassVar[Any] = ("chunk",)

    @admin.display(description="quote", ordering="quote")
    def quoted(self, citation: Citation) -> str:
        return citation.snippet or citation.quote

    @admin.display(ordering="start")
    def at(self, citation: Citation) -> str:
        return _clock(citation.start)


def _clock(start: int | None) -> str:
    return "–" if start is None else clock(start)


def _share(session: Any, outcome: str) -> str:
    looked_up = sum(getattr(session, f"n_{one}") for one, _ in SHOWN)
    return f"{getattr(session, f'n_{outcome}') / looked_up:.0%}" if looked_up else "–"


def _count(model: Any, wanted: Q) -> Subquery:
    rows = (
        model.objects.filter(wanted, session=OuterRef("pk"))
        .order_by()
        .values("session")
        .annotate(count=Count("pk"))
        .values("count")
    )
    return _Counted(rows)


class _Counted(Subquery):
    """A count; 0 where there are no rows."""

    template = "COALESCE((%(subquery)s), 0)"

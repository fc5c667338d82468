"""A lecture's transcript and citations as Markdown, and statistics of its windows."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from django.db import connection
from django.db.models import Count
from django.utils import timezone

from citations.models import Citation, LectureSession, Window, WindowOutcome
from citations.passages import place
from citations.text.markdown import escape_markdown
from transcripts import audit, conf
from transcripts.audit import Action
from transcripts.scope import Scope

SKIPPED: Final = (
    WindowOutcome.OFF_TOPIC,
    WindowOutcome.TOO_FAR,
    WindowOutcome.TOO_WEAK,
)  # by the gate, the distance, the relevance
MAX_NOTES: Final = 10  # the most frequent ones


@dataclass(frozen=True, slots=True, kw_only=True)
class StageTime:
    """The median and 95th percentile of a stage's duration in ms, over ``count`` windows."""

    name: str
    p50: float
    p95: float
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LectureStatistics:
    """Outcomes and durations (ms) of windows; ``total`` is that of whole windows.

    Shares, 0 to 1, are of finished windows that had documents to cite.
    """

    windows: int
    citations: int
    outcomes: Mapping[str, int]
    stages: tuple[StageTime, ...]
    total: StageTime | None
    notes: Mapping[str, int] = field(default_factory=dict)

    @property
    def waiting(self) -> int:
        return self.outcomes.get(WindowOutcome.WAITING, 0)

    @property
    def cited(self) -> float:
        return self._share(WindowOutcome.CITED)

    @property
    def off_topic(self) -> float:
        return self._share(WindowOutcome.OFF_TOPIC)

    @property
    def too_far(self) -> float:
        return self._share(WindowOutcome.TOO_FAR)

    @property
    def too_weak(self) -> float:
        return self._share(WindowOutcome.TOO_WEAK)

    def _share(self, outcome: str) -> float:
        looked_up = sum(
            self.outcomes.get(skipped, 0)
            for skipped in (*SKIPPED, WindowOutcome.CITED, WindowOutcome.FAILED)
        )
        return self.outcomes.get(outcome, 0) / looked_up if looked_up else 0.0


def statistics(session: LectureSession | None = None) -> LectureStatistics:
    """Compute the statistics of a session; without one, of all."""
    windows = Window.objects.filter(session=session) if session else Window.objects.all()
    citations = Citation.objects.in_lectures()
    citations = citations.filter(session=session) if session else citations
    outcomes = dict(windows.order_by().values_list("outcome").annotate(Count("pk")))
    noted = windows.exclude(note="").order_by().values_list("note")
    notes = noted.annotate(times=Count("pk")).order_by("-times", "note")
    times = _times(session.pk if session else None)
    return LectureStatistics(
        windows=sum(outcomes.values()),
        citations=citations.count(),
        outcomes=outcomes,
        stages=tuple(times[name] for name in times if name != _TOTAL),
        total=times.get(_TOTAL),
        notes=dict(notes[:MAX_NOTES]),
    )


def export(session: LectureSession) -> str:
    """Write a session as Markdown: the transcript, with citations as footnotes."""
    audit.record(Action.EXPORT, "lecture", session.uuid, collection=session.collection)
    visible = Citation.objects.visible(Scope(readable=frozenset({session.collection_id}))).filter(
        session=session
    )
    rows = list(visible.select_related("source", "window").order_by("window_index", "rank"))
    parts = [
        f"{timezone.localtime(session.created_at):%Y-%m-%d %H:%M}",
        escape_markdown(session.collection.name),
    ]
    if session.transcript is not None:
        parts.append(f"replay of {escape_markdown(session.transcript.video.title)}")
    lines = [f"# {escape_markdown(session.title)}", "", " · ".join(parts), ""]
    lines += _transcript(session, rows)
    lines += (
        ["## Citations", "", *(_footnote(citation) for citation in rows)]
        if rows
        else ["*Nothing was cited.*"]
    )
    return "\n".join(lines).rstrip() + "\n"


_TOTAL: Final = "total"
_TIMES = """
    SELECT stage, percentile_cont(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY ms), count(*) FROM (
        SELECT each.key AS stage, each.value::float AS ms
        FROM citations_window w, jsonb_each_text(w.stages) each
        WHERE %(session)s::bigint IS NULL OR w.session_id = %(session)s
        UNION ALL
        SELECT 'total', w.milliseconds FROM citations_window w
        WHERE w.milliseconds IS NOT NULL
            AND (%(session)s::bigint IS NULL OR w.session_id = %(session)s)
    ) times GROUP BY stage ORDER BY min(stage)
"""


def _times(session: int | None) -> dict[str, StageTime]:
    with connection.cursor() as cursor:
        cursor.execute(_TIMES, {"session": session})
        return {
            name: StageTime(name=name, p50=p50, p95=p95, count=count)
            for name, (p50, p95), count in cursor.fetchall()
        }


def _transcript(session: LectureSession, citations: Iterable[Citation]) -> list[str]:
    """Return paragraphs that end with the windows' footnote marks."""
    marks: dict[int, list[str]] = {}
    alone: list[str] = []  # of windows queried directly, which have no segments
    for citation in citations:
        last = citation.window.last if citation.window else None
        (alone if last is None else marks.setdefault(last, [])).append(_footnote_mark(citation))
    lines: list[str] = []
    paragraph: list[str] = []
    for number, text in session.segments.order_by("number").values_list("number", "text"):
        paragraph.append(escape_markdown(text))
        if number in marks:
            lines += [" ".join(paragraph) + "".join(marks[number]), ""]
            paragraph = []
    lines += [" ".join(paragraph), ""] if paragraph else []
    for window in session.windows.filter(last=None, text__gt="").order_by("index"):
        refs = [mark for mark in alone if mark.startswith(f"[^{window.index + 1}-")]
        lines += [escape_markdown(window.text) + "".join(refs), ""]
    return ["## Transcript", "", *lines] if lines else []


def _footnote_mark(citation: Citation) -> str:
    return f"[^{(citation.window_index or 0) + 1}-{citation.rank}]"


def _footnote(citation: Citation) -> str:
    parts = [f"**{escape_markdown(citation.source.title)}**", place(citation)]
    if citation.section_heading:
        parts.append(escape_markdown(citation.section_heading))
    where, quote = ", ".join(filter(None, parts)), escape_markdown(citation.quote)
    return f"{_footnote_mark(citation)}: {where}. “{quote}” <{conf.absolute(citation.path)}>\n"

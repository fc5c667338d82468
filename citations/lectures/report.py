"""What is left of a lecture: its notes as Markdown, each window with what it cites; and how its windows fared."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from django.db import connection
from django.db.models import Count
from django.utils import timezone

from citations.models import Citation, LectureSession, Window, WindowOutcome
from citations.passages import place
from citations.text.markdown import escape_markdown
from transcripts import conf
from transcripts.scope import Scope

SKIPPED: Final = (
    WindowOutcome.OFF_TOPIC,
    WindowOutcome.TOO_FAR,
    WindowOutcome.TOO_WEAK,
)  # by the gate, the distance, the relevance
NOTES: Final = 10  # of the notes of windows, the most frequent ones


@dataclass(frozen=True, slots=True, kw_only=True)
class StageTime:
    """How long a stage took: milliseconds, half and 95 % of the windows in less; over how many windows."""

    name: str
    p50: float
    p95: float
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LectureStatistics:
    """How windows fared. Shares are of those that are finished and had documents to cite, 0 to 1; times in ms, ``total`` those of whole windows."""

    windows: int
    citations: int
    outcomes: Mapping[str, int]
    stages: tuple[StageTime, ...]
    total: StageTime | None
    notes: Mapping[str, int] = field(default_factory=dict)

    @property
    def waiting(self) -> int:
        """Windows that are not finished."""
        return self.outcomes.get(WindowOutcome.WAITING, 0)

    @property
    def cited(self) -> float:
        """The share of windows that cite something."""
        return self._share(WindowOutcome.CITED)

    @property
    def off_topic(self) -> float:
        """The share that the gate left out."""
        return self._share(WindowOutcome.OFF_TOPIC)

    @property
    def too_far(self) -> float:
        """The share that is too far from everything there is."""
        return self._share(WindowOutcome.TOO_FAR)

    @property
    def too_weak(self) -> float:
        """The share for which the cross-encoder found nothing relevant enough."""
        return self._share(WindowOutcome.TOO_WEAK)

    def _share(self, outcome: str) -> float:
        looked_up = sum(
            self.outcomes.get(one, 0)
            for one in (*SKIPPED, WindowOutcome.CITED, WindowOutcome.FAILED)
        )
        return self.outcomes.get(outcome, 0) / looked_up if looked_up else 0.0


def statistics(session: LectureSession | None = None) -> LectureStatistics:
    """Count what became of a session's windows and how long their stages took; of all sessions when none is named."""
    windows = Window.objects.filter(session=session) if session else Window.objects.all()
    citations = (
        Citation.objects.filter(session=session) if session else Citation.objects.in_lectures()
    )
    outcomes = dict(windows.order_by().values_list("outcome").annotate(Count("pk")))
    said = (
        windows.exclude(note="")
        .order_by()
        .values_list("note")
        .annotate(times=Count("pk"))
        .order_by("-times", "note")
    )
    times = _times(session.pk if session else None)
    return LectureStatistics(
        windows=sum(outcomes.values()),
        citations=citations.count(),
        outcomes=outcomes,
        stages=tuple(times[name] for name in times if name != _TOTAL),
        total=times.get(_TOTAL),
        notes=dict(said[:NOTES]),
    )


def export(session: LectureSession) -> str:
    """Write what was said in a session as Markdown, with what was cited as footnotes: the documents' names and pages, and the passages themselves."""
    cited = Citation.objects.visible(Scope(readable=frozenset({session.collection_id}))).filter(
        session=session
    )
    rows = list(
        cited.select_related("source", "source__video", "window").order_by("window_index", "rank")
    )
    lines = [f"# {escape_markdown(session.title)}", "", _about(session), ""]
    lines += _said(session, rows)
    lines += (
        ["## Citations", "", *(_footnote(one) for one in rows)]
        if rows
        else ["*Nothing was cited.*"]
    )
    return "\n".join(lines).rstrip() + "\n"


# Times

_TOTAL: Final = "total"
_TIMES = """
    SELECT stage, percentile_cont(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY ms), count(*) FROM (
        SELECT each.key AS stage, each.value::float AS ms FROM citations_window w, jsonb_each_text(w.stages) each
            WHERE %(session)s::bigint IS NULL OR w.session_id = %(session)s
        UNION ALL
        SELECT 'total', w.milliseconds FROM citations_window w
            WHERE w.milliseconds IS NOT NULL AND (%(session)s::bigint IS NULL OR w.session_id = %(session)s)
    ) times GROUP BY stage ORDER BY min(stage)
"""


def _times(session: int | None) -> dict[str, StageTime]:
    with connection.cursor() as cursor:
        cursor.execute(_TIMES, {"session": session})
        return {
            name: StageTime(name=name, p50=p50, p95=p95, count=count)
            for name, (p50, p95), count in cursor.fetchall()
        }


# Markdown


def _about(session: LectureSession) -> str:
    parts = [
        f"{timezone.localtime(session.created_at):%Y-%m-%d %H:%M}",
        escape_markdown(session.collection.name),
    ]
    if session.transcript is not None:
        parts.append(f"replay of {escape_markdown(session.transcript.video.title)}")
    return " · ".join(parts)


def _said(session: LectureSession, cited: Iterable[Citation]) -> list[str]:
    """Return the paragraphs: what was said up to the end of each window, with the marks of its footnotes."""
    marks: dict[int, list[str]] = {}
    alone: list[str] = []  # of windows that were asked for, and are made of no segments
    for one in cited:
        last = one.window.last if one.window else None
        (alone if last is None else marks.setdefault(last, [])).append(_mark(one))
    lines: list[str] = []
    open_: list[str] = []
    for number, text in session.segments.order_by("number").values_list("number", "text"):
        open_.append(escape_markdown(text))
        if number in marks:
            lines += [" ".join(open_) + "".join(marks[number]), ""]
            open_ = []
    lines += [" ".join(open_), ""] if open_ else []
    for window in session.windows.filter(last=None, text__gt="").order_by("index"):
        refs = [mark for mark in alone if mark.startswith(f"[^{window.index + 1}-")]
        lines += [escape_markdown(window.text) + "".join(refs), ""]
    return ["## Transcript", "", *lines] if lines else []


def _mark(one: Citation) -> str:
    return f"[^{(one.window_index or 0) + 1}-{one.rank}]"


def _footnote(one: Citation) -> str:
    where = [f"**{escape_markdown(one.source.title)}**", place(one)]
    if one.section_heading:
        where.append(escape_markdown(one.section_heading))
    return f"{_mark(one)}: {', '.join(filter(None, where))}. “{escape_markdown(one.quote)}” <{conf.public_url()}{one.path}>\n"

"""A lecture's transcript and citations as Markdown, and statistics of its windows."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from django.db import connection
from django.db.models import Count
from django.utils import timezone

from citations.lectures.cards import CardGroup, heading_path, list_groups, parted, printed_place
from citations.models import Citation, LectureSession, Window, WindowOutcome
from citations.text.markdown import escape_markdown
from transcripts import conf
from transcripts.core import audit
from transcripts.core.audit import Action

LOOKED_UP: Final = (
    WindowOutcome.CITED,
    WindowOutcome.OFF_TOPIC,
    WindowOutcome.TOO_FAR,
    WindowOutcome.TOO_WEAK,
    WindowOutcome.FAILED,
)
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
        return self.share(WindowOutcome.CITED)

    @property
    def off_topic(self) -> float:
        return self.share(WindowOutcome.OFF_TOPIC)

    @property
    def too_far(self) -> float:
        return self.share(WindowOutcome.TOO_FAR)

    @property
    def too_weak(self) -> float:
        return self.share(WindowOutcome.TOO_WEAK)

    def share(self, outcome: str) -> float:
        """Return the share of the windows that were looked up which had this outcome, 0 to 1."""
        looked_up = sum(self.outcomes.get(each, 0) for each in LOOKED_UP)
        return self.outcomes.get(outcome, 0) / looked_up if looked_up else 0.0


def statistics(session: LectureSession | None = None) -> LectureStatistics:
    """Compute the statistics of a session; without one, of all."""
    windows = Window.objects.filter(session=session) if session else Window.objects.all()
    citations = Citation.objects.in_lectures()
    citations = citations.filter(session=session) if session else citations
    outcomes = dict(windows.order_by().values_list("outcome").annotate(Count("pk")))
    noted = windows.exclude(note="").order_by().values_list("note")
    notes = noted.annotate(times=Count("pk")).order_by("-times", "note")
    with connection.cursor() as cursor:
        cursor.execute(_TIMES, {"session": session.pk if session else None})
        times = {
            name: StageTime(name=name, p50=p50, p95=p95, count=count)
            for name, (p50, p95), count in cursor.fetchall()
        }
    total = times.pop("total", None)
    return LectureStatistics(
        windows=sum(outcomes.values()),
        citations=citations.count(),
        outcomes=outcomes,
        stages=tuple(times.values()),
        total=total,
        notes=dict(notes[:MAX_NOTES]),
    )


def export(session: LectureSession) -> str:
    """Write a session as Markdown: the transcript, with a footnote for each group of cards."""
    audit.record(Action.EXPORT, "lecture", session.uuid, collection=session.collection)
    groups = list_groups(session)
    parts = [
        f"{timezone.localtime(session.created_at):%Y-%m-%d %H:%M}",
        escape_markdown(session.collection.name),
    ]
    if session.transcript is not None:
        parts.append(f"recording: {escape_markdown(session.transcript.video.title)}")
    lines = [f"# {escape_markdown(session.title)}", "", " · ".join(parts), ""]
    lines += _transcript(session, groups)
    lines += ["## Citations", "", *map(_footnote, groups)] if groups else ["*Nothing was cited.*"]
    return "\n".join(lines).rstrip() + "\n"


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


def _transcript(session: LectureSession, groups: Iterable[CardGroup]) -> list[str]:
    """Return paragraphs that end with the footnote marks of their citations."""
    spoken: dict[int, list[CardGroup]] = {}
    alone: dict[int, str] = {}  # of windows queried directly, which have no segments
    for group in groups:
        if group.said.segment is None:
            alone[group.first.index] = _mark(group)
        else:
            spoken.setdefault(group.said.segment, []).append(group)
    lines: list[str] = []
    paragraph: list[str] = []
    for number, text in session.segments.order_by("number").values_list("number", "text"):
        for part, own in parted(" ".join(text.split()), spoken.get(number, ())):
            paragraph.append(escape_markdown(part.strip()))
            if own:
                lines += [" ".join(paragraph) + "".join(map(_mark, own)), ""]
                paragraph = []
    lines += [" ".join(paragraph), ""] if paragraph else []
    for window in session.windows.filter(last=None, text__gt="").order_by("index"):
        lines += [escape_markdown(window.text) + alone.get(window.index, ""), ""]
    return ["## Transcript", "", *lines] if lines else []


def _mark(group: CardGroup) -> str:
    return f"[^{group.number}]"


def _footnote(group: CardGroup) -> str:
    """Write a group; its later passages are folded where the reader renders HTML."""
    lines = [f"{_mark(group)}: {group.time}: {_cited(group.cards[0])}", ""]
    lines += [f"    {_cited(citation)}\n" for citation in group.cards[1:]]
    if group.others:
        count = len(group.others)
        summary = f"{count} more passage{'s' * (count > 1)}"
        lines += [f"    <details><summary>{summary}</summary>", ""]
        lines += [f"    - {_cited(citation)}" for citation in group.others]
        lines += ["", "    </details>", ""]
    return "\n".join(lines)


def _cited(citation: Citation) -> str:
    parts = [f"**{escape_markdown(citation.source.title)}**", printed_place(citation)]
    if headings := heading_path(citation):
        parts.append(escape_markdown(headings))
    where, quote = ", ".join(filter(None, parts)), escape_markdown(citation.quote)
    return f"{where}. “{quote}” <{conf.absolute(citation.path)}>"

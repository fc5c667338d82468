"""What `kb eval` does: measure, print, keep and compare."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from citations.errors import InvalidGold
from citations.evaluation import search_quality
from citations.evaluation.search_quality import Approach, ApproachChange, QualityReport, Question
from citations.library.filters import Filter
from citations.providers import registry
from kbsite.cli.terminal import err, note, print_json, table
from kbsite.settings import OPTIONS
from transcripts.errors import Conflict, InvalidInput
from transcripts.scope import Scope

MAX_BYTES = 200_000_000
# What a search reads when it runs. Another embedding model needs a migration, which has a guard of its own.
TRIED = (
    "RERANKER",
    "RERANK_CANDIDATES",
    "DISABLE_HYDE",
    "LLM_PROVIDER",
    "LLM_MODEL",
    "LLM_BASE_URL",
)
COLUMNS = ("", "nDCG@10", "hit@1", "hit@5", "recall@5", "recall@10", "MRR@10", "ms")


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalOptions:
    """How to measure, and what to do with the result; ``changed`` holds NAME=VALUE."""

    modes: tuple[str, ...] = ()
    limit: int = 10
    collection: str = ""
    save: Path | None = None
    against: Path | None = None
    changed: tuple[str, ...] = ()
    as_json: bool = False


def questions(scope: Scope, *, gold: Path | None, user: str = "") -> list[Question]:
    """Return the questions of a file, or those of marked hits. Raises ``InvalidGold``."""
    if gold is not None:
        return search_quality.from_file(_read(gold))
    found = search_quality.from_marks(scope, user=user)
    if not found:
        raise InvalidGold(
            "No hit is marked as right yet.",
            hint="Mark hits on the Search page, then measure with them.",
        )
    return found


def measure(scope: Scope, asked: Sequence[Question], wishes: EvalOptions) -> None:
    """Measure and print. Raises ``Conflict`` when a comparison is lost, and what ``evaluation.evaluate`` raises."""
    before = (
        search_quality.from_json(_read(wishes.against).decode(errors="replace"))
        if wishes.against
        else None
    )
    changed = _settings(wishes.changed)
    reports = [_measured(scope, asked, wishes, label="as it is")]
    if changed:
        with trying(changed):
            reports.append(_measured(scope, asked, wishes, label=" ".join(wishes.changed)))
    compared = [(before, reports[0])] if before else []
    compared += [(reports[0], reports[1])] if changed else []
    changes = [change for one, other in compared for change in search_quality.compare(one, other)]
    _show(reports, changes, wishes)
    if wishes.save:
        _write(wishes.save, reports[-1])
    lost = [change for change in changes if change.loses]
    if lost:
        raise Conflict(
            f"This loses: {'; '.join(map(str, lost))}.", hint="Keep the settings as they were."
        )


@contextmanager
def trying(changed: dict[str, Any]) -> Iterator[None]:
    """Search with other settings, in this process and while the block runs."""
    before = {name: getattr(settings, name) for name in changed}
    try:
        _set(changed)
        yield
    finally:
        _set(before)


def _set(values: dict[str, Any]) -> None:
    for name, value in values.items():
        setattr(settings, name, value)
    registry.reset()


def _settings(changed: Sequence[str]) -> dict[str, Any]:
    return dict(_setting(*text.partition("=")) for text in changed)


def _setting(name: str, sign: str, text: str) -> tuple[str, Any]:
    name = name.strip().upper()
    if name.startswith("EMBEDDING_"):
        raise InvalidInput(
            f"{name} cannot be tried in passing.",
            hint="`kb db migrate-embeddings --to PROVIDER --guarded` compares before it switches.",
        )
    if not sign or name not in TRIED:
        raise InvalidInput(f"--with takes NAME=VALUE, where NAME is one of {', '.join(TRIED)}.")
    kind = type(OPTIONS[name].default)
    if kind is bool:
        return name, text.strip().casefold() in ("true", "1", "yes", "on")
    if kind is int:
        if not text.strip().isdecimal() or not 1 <= int(text) <= 200:
            raise InvalidInput(
                f"{name} cannot be {text!r}: a whole number from 1 to 200 is expected."
            )
        return name, int(text)
    return name, text.strip()


def _measured(
    scope: Scope, asked: Sequence[Question], wishes: EvalOptions, *, label: str
) -> QualityReport:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=err(), transient=True, disable=wishes.as_json) as progress:
        bar = progress.add_task(f"Asking, {label}", total=None)
        return search_quality.evaluate(
            scope,
            asked,
            modes=[Approach(mode) for mode in wishes.modes],
            limit=wishes.limit,
            filter=Filter(collections=(wishes.collection,) if wishes.collection else ()),
            tell=lambda done, total: progress.update(bar, completed=done, total=total),
        )


def _show(
    reports: Sequence[QualityReport], changes: Sequence[ApproachChange], wishes: EvalOptions
) -> None:
    if wishes.as_json:
        print_json(
            {
                "reports": [report.as_json() for report in reports],
                "changes": [change.as_json() for change in changes],
            }
        )
        return
    labels = ("", *(" ".join(wishes.changed) for _ in reports[1:]))
    for report, label in zip(reports, labels, strict=True):
        rows = (
            (
                row.approach,
                *(f"{value:.3f}" for value in astuple(row.scores)),
                f"{row.milliseconds:.1f}",
            )
            for row in report.rows
        )
        table(COLUMNS, rows, title=label)
        note(
            f"{report.questions} questions"
            + (f"; {report.skipped} more have no answer in this library" if report.skipped else "")
        )
    for change in changes:
        note(
            f"{change} [{change.difference.low:+.3f} to {change.difference.high:+.3f}]: {'worse' if change.loses else 'no loss'}"
        )


def _read(path: Path) -> bytes:
    try:
        if path.stat().st_size > MAX_BYTES:
            raise InvalidInput(f"{path} has more than {MAX_BYTES:,} bytes.")
        return path.read_bytes()
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}.") from None


def _write(path: Path, report: QualityReport) -> None:
    try:
        path.write_text(
            json.dumps(report.as_json(), ensure_ascii=False, indent=2) + "\n", encoding="utf-8"
        )
    except OSError as error:
        raise InvalidInput(f"{path} cannot be written: {error.strerror}.") from None

"""`kb eval`: measure search or answers, print, save and compare."""

import json
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from citations.errors import InvalidGold
from citations.evaluation import answer_quality, search_quality
from citations.evaluation import questions as gold_questions
from citations.evaluation.questions import Question
from citations.evaluation.search_quality import Approach, ApproachChange, QualityReport
from citations.library.filters import Filter
from citations.providers import registry
from kbsite.cli.options import InCollection, Json, Many, argument, option
from kbsite.cli.terminal import note, print_json, progress_bar, table, writing
from kbsite.library.database import open_library
from kbsite.settings.options import OPTIONS
from transcripts.core.errors import Conflict, InvalidInput
from transcripts.core.scope import Scope

MAX_BYTES = 200_000_000
MAX_LISTED = 20  # lines of a gold file that cannot be used
# Settings that a search reads when it runs. An embedding model has a guarded migration instead.
VARIABLE_SETTINGS = ["RERANKER", "RERANK_CANDIDATES", "DISABLE_HYDE"]
VARIABLE_SETTINGS += ["LLM_PROVIDER", "LLM_MODEL", "LLM_BASE_URL"]
VARIABLE_SETTINGS += ["BM25_K1", "BM25_B", "SEARCH_CANDIDATES", "RRF_K", "DUPLICATE_SIMILARITY"]
# Settings that sources are split by: those of the questions are split again for the measurement.
CHUNK_SETTINGS = ["CHUNK_SIZE", "CHUNK_OVERLAP", "CHUNKING", "CHUNK_PERCENTILE"]
COLUMNS = ("", "nDCG@10", "hit@1", "hit@5", "recall@5", "recall@10", "MRR@10", "ms")


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalOptions:
    """How to measure, and what to do with the result; ``changed`` holds NAME=VALUE."""

    modes: tuple[Approach, ...] = ()
    limit: int = 10
    filter: Filter
    save: Path | None = None
    against: Path | None = None
    changed: tuple[str, ...] = ()
    as_json: bool = False
    rejected: tuple[str, ...] = ()  # messages on lines of the gold file that cannot be used


def evaluate(
    gold: Annotated[
        Path | None,
        argument(
            "GOLD.jsonl",
            'Questions, one JSON object per line: {"query": …, "video" or "source": ID,'
            ' "gold": [\\[start, end], …] in seconds or "pages": \\[page, …]}.',
            exists=True,
            dir_okay=False,
            readable=True,
        ),
    ] = None,
    marked: Annotated[
        bool, typer.Option("--marked", help="Use the hits marked as right as questions instead.")
    ] = False,
    user: Annotated[
        str, option(metavar="NAME", help="With --marked, only hits marked by this user.")
    ] = "",
    modes: Annotated[
        list[Approach] | None, option("--mode", "-m", help="Only this search mode; repeatable.")
    ] = None,
    limit: Annotated[
        int,
        typer.Option(
            "--limit", "-n", min=1, max=50, help="Number of passages per search that count."
        ),
    ] = 10,
    collection: InCollection = "",
    save: Annotated[
        Path | None, option(metavar="FILE", dir_okay=False, help="Save the measurement as JSON.")
    ] = None,
    against: Annotated[
        Path | None,
        option(
            metavar="FILE",
            exists=True,
            dir_okay=False,
            readable=True,
            help="Compare with a saved measurement; fail if this one is worse.",
        ),
    ] = None,
    changed: Annotated[
        Many,
        option(
            "--with",
            metavar="NAME=VALUE",
            help="Also measure with this setting, and fail if it is worse; repeatable.",
        ),
    ] = None,
    answers: Annotated[
        bool,
        typer.Option(
            "--answers", help="Measure answers instead: citations, refusals and confidence."
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Measure search quality or answer quality.

    Search is measured by nDCG@10, hit@1, hit@5, recall@5, recall@10 and MRR@10. A passage is a hit
    if at least half of it, or half of the gold answer, overlaps. Fails if a comparison is worse.
    """
    if (gold is None) is not marked:
        raise InvalidInput(
            "Give either a file of questions or --marked.",
            hint="kb eval GOLD.jsonl, or kb eval --marked",
        )
    scope = open_library()
    options = EvalOptions(
        modes=tuple(modes or ()),
        limit=limit,
        filter=Filter(collections=(collection,) if collection else ()),
        save=save,
        against=against,
        changed=tuple(changed or ()),
        as_json=as_json,
    )
    if gold:
        questions, rejected = gold_questions.from_file(_read(gold))
        for error in rejected[:MAX_LISTED]:
            note(error.message, "yellow")
        if rejected:
            note(f"Lines left out: {len(rejected)}. {rejected[0].hint}", "yellow")
        options = replace(options, rejected=tuple(error.message for error in rejected))
    elif not (questions := gold_questions.from_marks(scope, user=user)):
        raise InvalidGold(
            "No hit is marked as right yet.",
            hint="Mark hits on the Search page, then measure with them.",
        )
    if answers:
        _measure_answers(scope, questions, options)
    else:
        _measure_search(scope, questions, options)


def _measure_answers(scope: Scope, questions: Sequence[Question], options: EvalOptions) -> None:
    report = answer_quality.appraise(scope, questions, filter=options.filter)
    if options.as_json:
        print_json({**report.as_json(), "rejected": options.rejected})
        return
    counts = (report.questions, report.answered)
    shares = (f"{report.first_right:.0%}", f"{report.any_right:.0%}")
    times = (f"{report.milliseconds:.0f}", f"{report.grounding_milliseconds:.1f}")
    columns = ("questions", "answered", "first citation right", "any right", "ms", "ms to check")
    table(columns, [(*counts, *shares, *times)])
    rows = [
        (f"{bin.low:.1f}–{bin.high:.1f}", bin.answers, f"{bin.estimated:.2f}", f"{bin.right:.2f}")
        for bin in report.reliability
    ]
    table(("confidence", "answers", "estimated", "right"), rows)
    note(f"Confidence is off by {report.error:.2f} on average.")
    if report.skipped:
        note(f"{report.skipped} questions have no answer in this library and were skipped.")


def _measure_search(scope: Scope, questions: Sequence[Question], options: EvalOptions) -> None:
    saved = None
    if options.against:
        saved = search_quality.from_json(_read(options.against).decode(errors="replace"))
    changed = dict(_setting(*text.partition("=")) for text in options.changed)
    splitting: AbstractContextManager[None] = nullcontext()
    if not changed.keys().isdisjoint(CHUNK_SETTINGS):
        size, overlap = (
            changed.get(name, getattr(settings, name)) for name in ("CHUNK_SIZE", "CHUNK_OVERLAP")
        )
        if overlap >= size:
            raise InvalidInput(f"CHUNK_OVERLAP ({overlap}) must be less than CHUNK_SIZE ({size}).")
        keys = search_quality.sources_of(scope, questions, options.filter)
        options = replace(options, filter=options.filter.model_copy(update={"keys": keys}))
        splitting = search_quality.split_for_trial(keys)
        note(f"Only the sources of the questions are searched ({len(keys)}). They are split and")
        note("embedded again for this measurement, without contexts; the library stays as it is.")
    reports = [_search_report(scope, questions, options, "Searching")]
    if changed:
        label = " ".join(options.changed)
        with _changed_settings(changed), splitting:
            reports.append(_search_report(scope, questions, options, f"Searching, {label}"))
    pairs = [(saved, reports[0])] if saved else []
    pairs += [(reports[0], reports[1])] if changed else []
    changes = [change for pair in pairs for change in search_quality.compare(*pair)]
    if options.as_json:
        measured = [report.as_json() for report in reports]
        compared = [change.as_json() for change in changes]
        print_json({"reports": measured, "changes": compared, "rejected": options.rejected})
    else:
        _print(reports, changes, options)
    if options.save:
        text = json.dumps(reports[-1].as_json(), ensure_ascii=False, indent=2) + "\n"
        with writing(options.save):
            options.save.write_text(text, encoding="utf-8")
    losses = [str(change) for change in changes if change.loses]
    if losses:
        raise Conflict(f"This loses: {'; '.join(losses)}.", hint="Keep the settings as they were.")


def _search_report(
    scope: Scope, questions: Sequence[Question], options: EvalOptions, label: str
) -> QualityReport:
    with progress_bar(quiet=options.as_json) as progress:
        bar = progress.add_task(label, total=None)
        return search_quality.evaluate(
            scope,
            questions,
            modes=options.modes,
            limit=options.limit,
            filter=options.filter,
            progress=lambda done, total: progress.update(bar, completed=done, total=total),
        )


@contextmanager
def _changed_settings(changed: dict[str, Any]) -> Iterator[None]:
    """Change settings of this process, and the models made by them, while the block runs."""

    def put(values: dict[str, Any]) -> None:
        for name, value in values.items():
            setattr(settings, name, value)
        registry.reset()

    original = {name: getattr(settings, name) for name in changed}
    try:
        put(changed)
        yield
    finally:
        put(original)


def _setting(name: str, sign: str, text: str) -> tuple[str, Any]:
    name, text = name.strip().upper(), text.strip()
    if name.startswith("EMBEDDING_"):
        raise InvalidInput(
            f"--with cannot change {name}.",
            hint="`kb db migrate-embeddings --to PROVIDER --guarded` compares before it switches.",
        )
    if not sign or name not in VARIABLE_SETTINGS + CHUNK_SETTINGS:
        names = ", ".join(VARIABLE_SETTINGS + CHUNK_SETTINGS)
        raise InvalidInput(f"--with takes NAME=VALUE, where NAME is one of {names}.")
    try:
        return name, OPTIONS[name].parse(text)
    except ImproperlyConfigured as error:
        raise InvalidInput(str(error)) from None


def _print(
    reports: Sequence[QualityReport], changes: Sequence[ApproachChange], options: EvalOptions
) -> None:
    for report, title in zip(reports, ("", " ".join(options.changed)), strict=False):
        rows = []
        for row in report.rows:
            scores = (f"{value:.3f}" for value in astuple(row.scores))
            rows.append((row.approach, *scores, f"{row.milliseconds:.1f}"))
        table(COLUMNS, rows, title=title)
        skipped = report.skipped and f"; {report.skipped} more have no answer in this library"
        note(f"{report.questions} questions{skipped or ''}")
    for change in changes:
        interval = f"{change.difference.low:+.3f} to {change.difference.high:+.3f}"
        note(f"{change} [{interval}]: {'worse' if change.loses else 'no loss'}")


def _read(path: Path) -> bytes:
    try:
        if path.stat().st_size > MAX_BYTES:
            raise InvalidInput(f"{path} has more than {MAX_BYTES:,} bytes.")
        return path.read_bytes()
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}.") from None

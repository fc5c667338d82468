"""What `kb doctor` looks at. A check never raises: what it runs into is its result."""

import shutil
import socket
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from kbsite import boot, settings
from kbsite.cli import server_lock
from kbsite.cli.terminal import known_error, open_database
from transcripts.errors import KnowledgeBaseError

GIGABYTE = 1024**3
LEAST_FREE = GIGABYTE
MARKS: dict[bool | None, tuple[str, str]] = {
    True: ("✓", "green"),
    False: ("✗", "red"),
    None: ("–", "yellow"),
}


@dataclass(frozen=True, slots=True)
class HealthCheck:
    """One thing that was looked at: well, not well, or (None) worth knowing."""

    name: str
    ok: bool | None
    detail: str
    hint: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return it for programs."""
        return asdict(self)


def run() -> list[HealthCheck]:
    """Look at everything, in an order in which each thing rests on those before it."""
    checks = [
        _guarded(name, look)
        for name, look in (("Python", _python), ("Data directory", _data_dir), ("Free disk", _disk))
    ]
    database = _guarded("PostgreSQL", _postgres)
    checks.append(database)
    if database.ok:
        checks += [_guarded(name, look) for name, look in _AFTER_DATABASE]
    checks += [_package(name) for name in ("yt-dlp", "youtube-transcript-api")]
    return [*checks, _guarded("Port", _port)]


def _guarded(name: str, look: Callable[[], HealthCheck]) -> HealthCheck:
    try:
        return look()
    except Exception as error:  # noqa: BLE001  a doctor reports what it finds
        known = known_error(error) or KnowledgeBaseError(f"{type(error).__name__}: {error}")
        return HealthCheck(name, ok=False, detail=known.message, hint=known.hint)


def _python() -> HealthCheck:
    found = ".".join(str(part) for part in sys.version_info[:3])
    return HealthCheck(
        "Python",
        ok=sys.version_info >= (3, 11),
        detail=found,
        hint="Cuebase needs Python 3.11 or newer.",
    )


def _data_dir() -> HealthCheck:
    folder = Path(settings.DATA_DIR)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    try:
        with tempfile.TemporaryFile(dir=folder):
            return HealthCheck("Data directory", ok=True, detail=str(folder))
    except OSError as error:
        return HealthCheck(
            "Data directory",
            ok=False,
            detail=f"{folder}: {error.strerror}",
            hint="Set YOUTUBE_KB_DATA_DIR to a directory that you may write to.",
        )


def _disk() -> HealthCheck:
    free = shutil.disk_usage(settings.DATA_DIR).free
    return HealthCheck(
        "Free disk",
        ok=free >= LEAST_FREE,
        detail=f"{free / GIGABYTE:.1f} GB",
        hint="Free 1 GB, or move YOUTUBE_KB_DATA_DIR to another disk.",
    )


def _postgres() -> HealthCheck:
    open_database()
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SHOW server_version")
        found = str(cursor.fetchone()[0])
    where = (
        "embedded"
        if boot.is_embedded()
        else f"external, at {connection.settings_dict['HOST'] or 'this machine'}"
    )
    return HealthCheck("PostgreSQL", ok=True, detail=f"{found} ({where})")


def _pgvector() -> HealthCheck:
    from django.db import connection

    from kbsite import checks

    if problems := checks.vector_extension(databases=["default"]):
        return HealthCheck(
            "pgvector", ok=False, detail=str(problems[0].msg), hint=str(problems[0].hint or "")
        )
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT coalesce(max(extversion), 'available, not created yet') FROM pg_extension WHERE extname = 'vector'"
        )
        return HealthCheck("pgvector", ok=True, detail=str(cursor.fetchone()[0]))


def _migrations() -> HealthCheck:
    from django.db import connection
    from django.db.migrations.executor import MigrationExecutor

    executor = MigrationExecutor(connection)
    missing = executor.migration_plan(executor.loader.graph.leaf_nodes())
    detail = f"{len(missing)} are not applied" if missing else "all applied"
    return HealthCheck(
        "Migrations",
        ok=not missing,
        detail=detail,
        hint="Any other `kb` command applies them, for example `kb list`.",
    )


def _embeddings() -> HealthCheck:
    from citations.vectors import space as vector_space

    space = vector_space.active()  # raises where the settings name another model
    if space is None:
        return HealthCheck(
            "Embeddings",
            ok=True,
            detail=f"locked to no model yet; the first ingest locks them to {vector_space.describe(*vector_space.configured())}",
        )
    vector_space.embedder_of(space)  # raises where it cannot be had
    return HealthCheck("Embeddings", ok=True, detail=f"locked to {space}")


def _cross_encoder() -> HealthCheck:
    from citations import conf
    from citations.providers import registry

    if conf.reranker() == conf.NO_RERANKER:
        return HealthCheck(
            "Cross-encoder",
            ok=None,
            detail="switched off",
            hint="RERANKER names one; without it, passages stay in the order of words and meaning.",
        )
    if registry.reranker() is None:
        return HealthCheck(
            "Cross-encoder",
            ok=None,
            detail=f"{conf.reranker()} is not here",
            hint="`kb models fetch` gets it; RERANKER=none goes without.",
        )
    return HealthCheck("Cross-encoder", ok=True, detail=conf.reranker())


def _lectures() -> HealthCheck:
    from citations import conf
    from citations.providers import registry

    name = "Cross-encoder of lectures"
    if conf.live_reranker() == conf.NO_RERANKER:
        return HealthCheck(
            name,
            ok=None,
            detail="switched off",
            hint="LIVE_RERANKER names one; without it, lectures cite by similarity.",
        )
    if registry.live_reranker() is None:
        return HealthCheck(
            name,
            ok=None,
            detail=f"{conf.live_reranker()} is not here",
            hint="`kb models fetch` gets it; LIVE_RERANKER=none goes without.",
        )
    return HealthCheck(name, ok=True, detail=conf.live_reranker())


def _sources() -> HealthCheck:
    from citations.library import sources
    from kbsite.auth import everything

    counts = sources.list_sources(everything(), limit=0).counts
    detail = f"{counts.ready} of {counts.total} found by words and meaning, {counts.unfinished} on their way, {counts.failed} failed"
    return HealthCheck(
        "Sources",
        ok=None if counts.failed or counts.unfinished else True,
        detail=detail,
        hint="`kb sources` shows which, and why.",
    )


def _broker() -> HealthCheck:
    from kbsite.celery import app, make_queue_folders

    make_queue_folders()
    where = (
        "files in the data directory"
        if str(settings.CELERY_BROKER_URL).startswith("filesystem:")
        else "CELERY_BROKER_URL"
    )
    try:
        with app.connection_for_write(connect_timeout=5) as connection:
            connection.ensure_connection(max_retries=1, timeout=5)
    except Exception as error:  # noqa: BLE001  every broker has errors of its own
        return HealthCheck(
            "Queue",
            ok=False,
            detail=f"{where}: {type(error).__name__}",
            hint="Check CELERY_BROKER_URL, and that the broker runs.",
        )
    return HealthCheck("Queue", ok=True, detail=where)


def _worker() -> HealthCheck:
    from transcripts.models import WorkerPulse

    if WorkerPulse.is_alive():
        return HealthCheck("Worker", ok=True, detail="alive")
    return HealthCheck(
        "Worker",
        ok=None,
        detail="none is running",
        hint="`kb serve` starts one; until then videos of YouTube wait.",
    )


def _gate() -> HealthCheck:
    from kbsite.cli.jobs import gate_text
    from transcripts.models import YouTubeGate

    gate = YouTubeGate.current()
    return HealthCheck(
        "YouTube",
        ok=gate.state == "open" or None,
        detail=gate_text(gate),
        hint="Set PROXY_URL, wait, or add caption files instead.",
    )


def _package(name: str) -> HealthCheck:
    try:
        return HealthCheck(name, ok=True, detail=version(name))
    except PackageNotFoundError:
        return HealthCheck(name, ok=False, detail="is not installed", hint="Run `make setup`.")


def _port() -> HealthCheck:
    if server := server_lock.find(Path(settings.DATA_DIR)):
        return HealthCheck(
            "Port", ok=True, detail=f"Cuebase runs at {server.url} (process {server.pid})"
        )
    with socket.socket(socket.AF_INET6 if ":" in settings.HOST else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((settings.HOST, settings.PORT))
        except OSError as error:
            return HealthCheck(
                "Port",
                ok=False,
                detail=f"{settings.PORT} of {settings.HOST}: {error.strerror}",
                hint="Use `kb serve --port N`, or set PORT.",
            )
    return HealthCheck("Port", ok=True, detail=f"{settings.PORT} is free")


_AFTER_DATABASE: tuple[tuple[str, Callable[[], HealthCheck]], ...] = (
    ("pgvector", _pgvector),
    ("Migrations", _migrations),
    ("Embeddings", _embeddings),
    ("Cross-encoder", _cross_encoder),
    ("Cross-encoder of lectures", _lectures),
    ("Sources", _sources),
    ("Queue", _broker),
    ("Worker", _worker),
    ("YouTube", _gate),
)

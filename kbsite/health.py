"""The requirements of a working system, checked in the same way for `/readyz` and `kb doctor`.

An instance is ready when it can serve pages: its database answers and has the current schema. All
else may fail while pages are read and searched, so it degrades the instance but leaves it ready.
"""

import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from django.conf import settings
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from citations.vectors import space as vector_space
from kbsite import boot
from kbsite.database import replicas
from kbsite.errors import DATABASE_ERRORS
from transcripts.core.errors import DatabaseLost, KnowledgeBaseError, UnexpectedError
from transcripts.models import WorkerPulse

GIGABYTE: Final = 1024**3
MIN_FREE: Final = GIGABYTE
SCHEDULE_LATE: Final = 60.0  # seconds; it runs every few, and is taken over within 30
DATABASE: Final = "PostgreSQL"
NEEDED: Final = frozenset({DATABASE, "Migrations"})  # to serve anything


@dataclass(frozen=True, slots=True)
class HealthCheck:
    """A check's result; ``ok`` is None for a state that is no fault.

    ``code`` says what is wrong to everybody, ``detail`` and ``hint`` to whoever runs the server.
    """

    name: str
    ok: bool | None
    detail: str
    hint: str = ""
    code: str = ""

    @property
    def state(self) -> str:
        """``ok``, ``degraded``, or ``failed`` if nothing can be served."""
        if self.ok:
            return "ok"
        return "failed" if self.name in NEEDED else "degraded"


def check_all() -> list[HealthCheck]:
    """Run all checks; without a database, those that need none."""
    results = [run(DATABASE, database), run("Free disk", free_disk)]
    if results[0].ok:
        results += [run(name, check) for name, check in _IN_DATABASE.items()]
    return results


def run(name: str, check: Callable[[], dict[str, Any]]) -> HealthCheck:
    """Run a check. An exception is a result."""
    try:
        return HealthCheck(name, **check())
    except KnowledgeBaseError as error:
        return _failed(name, error)
    except DATABASE_ERRORS:
        return _failed(name, DatabaseLost())
    except Exception:  # noqa: BLE001  an exception is a result
        return _failed(name, UnexpectedError())


def worst(results: Iterable[HealthCheck]) -> str:
    """Return the worst state of some results."""
    states = {result.state for result in results}
    return next(state for state in ("failed", "degraded", "ok") if state in states)


def database() -> dict[str, Any]:
    with connection.cursor() as cursor:
        cursor.execute("SHOW server_version")
        version = str(cursor.fetchone()[0])
    host = connection.settings_dict["HOST"] or "this machine"
    server = "embedded" if boot.is_embedded() else f"external, at {host}"
    return {"ok": True, "detail": f"{version} ({server})"}


def free_disk() -> dict[str, Any]:
    free = shutil.disk_usage(settings.DATA_DIR).free
    return {
        "ok": free >= MIN_FREE,
        "detail": f"{free / GIGABYTE:.1f} GB",
        "hint": "Free 1 GB, or move YOUTUBE_KB_DATA_DIR to another disk.",
        "code": "disk_low",
    }


def migrations() -> dict[str, Any]:
    missing = _known_migrations() - set(MigrationRecorder(connection).applied_migrations())
    return {
        "ok": not missing,
        "detail": f"{len(missing)} are not applied" if missing else "all applied",
        "hint": "Any other `kb` command applies them, for example `kb list`.",
        "code": "migrations_missing",
    }


def worker() -> dict[str, Any]:
    is_alive = WorkerPulse.is_alive()
    return {
        "ok": is_alive or None,
        "detail": "alive" if is_alive else "none is running",
        "hint": "`kb serve` starts one; until then YouTube videos wait.",
        "code": "no_worker",
    }


def schedule() -> dict[str, Any]:
    age = WorkerPulse.schedule_age()
    is_late = age is None or age > SCHEDULE_LATE
    return {
        "ok": None if is_late else True,
        "detail": "has not run yet" if age is None else f"ran {age:.0f} s ago",
        "hint": "A worker runs it; `kb serve` starts one.",
        "code": "schedule_late",
    }


def embeddings() -> dict[str, Any]:
    """Check that the settings fit the library. Raises ``EmbeddingMismatch``."""
    space = vector_space.active()
    if space is None:
        configured = vector_space.describe(*vector_space.configured())
        detail = (
            f"locked to no model yet; the first source that is indexed locks them to {configured}"
        )
        return {"ok": True, "detail": detail}
    return {"ok": True, "detail": f"locked to {space}"}


def read_replicas() -> dict[str, Any]:
    """Check that the replicas follow. One that does not is left out; the primary does its work."""
    states = [*replicas.states()]
    details = [f"{state.name} {state.problem or f'{state.lag:,} bytes behind'}" for state in states]
    return {
        "ok": not any(state.problem for state in states),
        "detail": "; ".join(details),
        "hint": "Start it, or take it out of DATABASE_REPLICAS; the primary answers meanwhile.",
        "code": "replica_left_out",
    }


_IN_DATABASE: Final = {
    "Migrations": migrations,
    **({"Replicas": read_replicas} if replicas.names() else {}),
    "Worker": worker,
    "Schedule": schedule,
    "Embeddings": embeddings,
}


@cache
def _known_migrations() -> frozenset[tuple[str, str]]:
    return frozenset(MigrationLoader(None, ignore_no_migrations=True).graph.nodes)


def _failed(name: str, error: KnowledgeBaseError) -> HealthCheck:
    return HealthCheck(name, ok=False, detail=error.message, hint=error.hint, code=error.code)

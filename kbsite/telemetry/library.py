"""All metrics, among them those read on request: what waits, is held, and is full."""

import shutil
from collections.abc import Iterable, Iterator
from typing import Any, Final

from django.conf import settings
from django.db import connection
from django.db.models import Count, Min, QuerySet
from django.db.models.functions import Now
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from citations.models import Answer, Source, State, Window
from kbsite import health
from kbsite.errors import DATABASE_ERRORS
from kbsite.telemetry import metrics
from transcripts.models import Job, YouTubeGate

POOL: Final = ("pool_size", "pool_available", "requests_waiting")


class AllMetrics(Collector):
    """Collects what was counted, and what database, disk and this process's pool tell now."""

    def collect(self) -> Iterable[Metric]:
        yield from metrics.counted().collect()
        yield _gauge("cuebase_check", "1: the check of /readyz is ok.", "check", _checks())
        yield _gauge("cuebase_disk_bytes", "The disk of the data directory.", "kind", _disk())
        yield _gauge("cuebase_pool_connections", "Of the answering process.", "state", _pool())
        try:
            yield from _of_database()
        except DATABASE_ERRORS:
            return  # cuebase_check says that it is away


def _of_database() -> Iterator[Metric]:
    lanes = {lane: _depth_and_age(rows) for lane, rows in _lanes().items()}
    depths = {lane: depth for lane, (depth, _) in lanes.items()}
    ages = {lane: age for lane, (_, age) in lanes.items()}
    yield _gauge("cuebase_queue_depth", "Unfinished work.", "lane", depths)
    yield _gauge("cuebase_queue_oldest_seconds", "Age of the oldest of it.", "lane", ages)
    leases = {
        "window": Window.objects.waiting().leased().count(),
        "answer": Answer.objects.running().leased().count(),
    }
    yield _gauge("cuebase_leases", "Leases whose holder is alive.", "work", leases)
    gate = YouTubeGate.current()
    states = {state: gate.state == state for state in ("open", "probing", "closed")}
    yield _gauge("cuebase_youtube_gate", "1: the gate is in this state.", "state", states)
    yield _gauge("cuebase_youtube_refusals", "Refusals in a row.", "", {"": gate.refusals})
    yield _gauge("cuebase_database_connections", "Of all processes.", "state", _connections())


def _lanes() -> dict[str, QuerySet[Any]]:
    jobs = Job.objects.unfinished()
    return {
        "youtube": jobs.filter(Job.NEEDS_YOUTUBE),
        "files": jobs.exclude(Job.NEEDS_YOUTUBE),
        "words": Source.objects.filter(state=State.PENDING),
        "vectors": Source.objects.filter(state=State.WORDS),
        "lectures": Window.objects.waiting(),
        "answers": Answer.objects.running(),
    }


def _depth_and_age(rows: QuerySet[Any]) -> tuple[int, float]:
    totals = rows.order_by().aggregate(depth=Count("pk"), age=Now() - Min("created_at"))
    return totals["depth"], totals["age"].total_seconds() if totals["age"] else 0.0


def _checks() -> dict[str, float]:
    return {check.name: float(check.state == "ok") for check in health.check_all()}


def _disk() -> dict[str, float]:
    usage = shutil.disk_usage(settings.DATA_DIR)
    return {"total": usage.total, "free": usage.free}


def _pool() -> dict[str, float]:
    pool = getattr(connection, "pool", None)
    stats = pool.get_stats() if pool else {}
    return {name: stats.get(name, 0) for name in POOL}


def _connections() -> dict[str, float]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT coalesce(state, 'other'), count(*) FROM pg_stat_activity"
            " WHERE datname = current_database() GROUP BY 1"
        )
        counts = {str(state): float(count) for state, count in cursor.fetchall()}
        cursor.execute("SELECT current_setting('max_connections')::int")
        return {**counts, "most": float(cursor.fetchone()[0])}


def _gauge(name: str, meaning: str, label: str, values: dict[str, Any]) -> GaugeMetricFamily:
    gauge = GaugeMetricFamily(name, meaning, labels=[label] if label else [])
    for key, value in values.items():
        gauge.add_metric([key] if label else [], float(value))
    return gauge

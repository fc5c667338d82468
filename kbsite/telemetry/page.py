"""The page of metrics that Prometheus reads: those that are counted, and those read on request, of
what waits, is held, and is full.
"""

import math
import secrets
import shutil
from collections.abc import Iterable, Iterator
from typing import Any, Final

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.db import connection
from django.db.models import Count, Min, QuerySet
from django.db.models.functions import Now
from django.http import Http404, HttpResponse
from django.views.decorators.http import require_safe
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

from citations.models import Answer, Source, State, Window
from kbsite import health
from kbsite.callers import AnyRequest, is_superuser
from kbsite.database import replicas
from kbsite.errors import DATABASE_ERRORS
from kbsite.telemetry import metrics
from transcripts.models import Job, YouTubeGate

POOL: Final = ("pool_size", "pool_available", "requests_waiting")


@login_not_required
@require_safe
def show(request: AnyRequest) -> HttpResponse:
    """Return the metrics to the bearer of METRICS_TOKEN and to superusers; others find nothing."""
    token = settings.METRICS_TOKEN.encode()
    header = request.headers.get("Authorization", "").encode()
    is_bearer = bool(token) and secrets.compare_digest(header, b"Bearer " + token)
    if not (is_bearer or is_superuser(request)):
        raise Http404
    write, kind = choose_encoder(request.headers.get("Accept", ""))
    return HttpResponse(write(AllMetrics()), content_type=kind)


class AllMetrics(Collector):
    """Collects what was counted, and what database, disk and this process's pool tell now."""

    def collect(self) -> Iterable[Metric]:
        yield from metrics.counted().collect()
        checks = {check.name: check.state == "ok" for check in health.check_all()}
        yield _gauge("cuebase_check", "1: the check of /readyz is ok.", "check", checks)
        usage = shutil.disk_usage(settings.DATA_DIR)
        disk = {"total": usage.total, "free": usage.free}
        yield _gauge("cuebase_disk_bytes", "The disk of the data directory.", "kind", disk)
        pool = getattr(connection, "pool", None)
        stats = pool.get_stats() if pool else {}
        states = {name: stats.get(name, 0) for name in POOL}
        yield _gauge("cuebase_pool_connections", "Of the answering process.", "state", states)
        try:
            yield from _of_database()
        except DATABASE_ERRORS:
            return  # cuebase_check says that it is away


def _of_database() -> Iterator[Metric]:
    jobs = Job.objects.unfinished()
    lanes: dict[str, QuerySet[Any]] = {
        "youtube": jobs.filter(Job.NEEDS_YOUTUBE),
        "files": jobs.exclude(Job.NEEDS_YOUTUBE),
        "words": Source.objects.filter(state=State.PENDING),
        "vectors": Source.objects.filter(state=State.WORDS),
        "lectures": Window.objects.waiting(),
        "answers": Answer.objects.running(),
    }
    depths, ages = {}, {}
    for lane, rows in lanes.items():
        totals = rows.order_by().aggregate(depth=Count("pk"), age=Now() - Min("created_at"))
        depths[lane] = totals["depth"]
        ages[lane] = totals["age"].total_seconds() if totals["age"] else 0.0
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
    if lags := {state.name: _or_nan(state.lag) for state in replicas.states()}:
        yield _gauge("cuebase_replica_behind_bytes", "NaN: left out.", "replica", lags)
    yield _gauge("cuebase_database_connections", "Of all processes.", "state", _connections())


def _connections() -> dict[str, float]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT coalesce(state, 'other'), count(*) FROM pg_stat_activity"
            " WHERE datname = current_database() GROUP BY 1"
        )
        counts = {str(state): float(count) for state, count in cursor.fetchall()}
        cursor.execute("SELECT current_setting('max_connections')::int")
        return {**counts, "most": float(cursor.fetchone()[0])}


def _or_nan(value: int | None) -> float:
    return math.nan if value is None else float(value)


def _gauge(name: str, meaning: str, label: str, values: dict[str, Any]) -> GaugeMetricFamily:
    gauge = GaugeMetricFamily(name, meaning, labels=[label] if label else [])
    for key, value in values.items():
        gauge.add_metric([key] if label else [], float(value))
    return gauge

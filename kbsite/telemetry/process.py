"""Begin to watch this process."""

from functools import cache
from importlib import import_module

from django.conf import settings

from kbsite.telemetry import metrics
from transcripts.core import stages


@cache
def watch(role: str) -> None:
    """Count the stages of this process, a "server" or a "worker", and trace it if configured.

    Call it before the first connection to the database, which is traced from its beginning.
    """
    stages.watchers.append(metrics.observe)
    if settings.OTEL_EXPORTER_OTLP_ENDPOINT:  # else its libraries would only cost time
        import_module("kbsite.telemetry.traces").start(role)

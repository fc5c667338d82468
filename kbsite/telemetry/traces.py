"""Traces by OpenTelemetry over HTTP. Its libraries read OTEL_* in the environment themselves."""

import time
from importlib.metadata import version

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.instrumentation.celery import CeleryInstrumentor
from opentelemetry.instrumentation.psycopg import PsycopgInstrumentor
from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import SpanKind, Status, StatusCode

from transcripts.core import stages
from transcripts.core.stages import FinishedStage

_tracer = trace.get_tracer("cuebase")


def start(role: str) -> None:
    """Send the spans of this process: requests, tasks, stages and SQL without its parameters."""
    names = {SERVICE_NAME: f"cuebase-{role}", SERVICE_VERSION: version("cuebase")}
    provider = TracerProvider(resource=Resource.create(names))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    PsycopgInstrumentor().instrument()
    CeleryInstrumentor().instrument()
    stages.watchers.append(_record)


def _record(stage: FinishedStage) -> None:
    """Add a span for a stage that ended just now."""
    if stage.work == "task":  # which has a span already
        return
    now = time.time_ns()
    kind = SpanKind.CLIENT if stage.work == "model" else SpanKind.INTERNAL
    tokens = {f"cuebase.tokens.{name}": count for name, count in stage.tokens.items()}
    start = now - int(stage.seconds * 1e9)
    span = _tracer.start_span(
        f"{stage.work} {stage.name}", kind=kind, start_time=start, attributes=tokens
    )
    if stage.is_failed:
        span.set_status(Status(StatusCode.ERROR))
    span.end(now)

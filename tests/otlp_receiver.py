"""A receiver of OpenTelemetry traces on loopback, which decodes them as a collector does."""

from http.server import BaseHTTPRequestHandler
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.loopback import StandIn


class OtlpReceiver(StandIn):
    """Keeps all spans that it gets, with the service that they come from."""

    def __init__(self) -> None:
        self.spans: list[tuple[str, Any]] = []
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.path == "/v1/traces":
                    receiver.take(body)
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                return

        super().__init__(Handler)

    def take(self, body: bytes) -> None:
        """Decode what an exporter sent."""
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            names = {item.key: item.value.string_value for item in resource.resource.attributes}
            for scope in resource.scope_spans:
                self.spans += [(names["service.name"], span) for span in scope.spans]

    def named(self, name: str, *, service: str = "cuebase-server") -> list[Any]:
        """Return the spans of a name."""
        return [span for of, span in list(self.spans) if (of, span.name) == (service, name)]


def attributes(span: Any) -> dict[str, str]:
    """Return a span's attributes as text."""
    kinds = {item.key: item.value.WhichOneof("value") for item in span.attributes}
    return {item.key: str(getattr(item.value, kinds[item.key])) for item in span.attributes}

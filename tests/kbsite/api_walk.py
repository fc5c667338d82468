"""One call of each operation of both APIs, with the least it needs, for the walks that try every
operation as every kind of caller.

``{video_id}``, ``{video}``, ``{job}``, ``{transcript}``, ``{feed}``, ``{collection}``,
``{membership}``, ``{source}``, ``{chunk}``, ``{session}``, ``{citation}``, ``{conversation}``,
``{answer}``, ``{quotation}``, ``{note}``, ``{webhook}``, ``{highlight}``, ``{link}`` and
``{archive}`` in a path, and ``{slug}``, ``{username}``, ``{chunk}``, ``{session}`` and ``{said}``
(words of the source) in a body, stand for things of the collection that is tried. An operation that
is served but missing here fails a test.
"""

from dataclasses import dataclass
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile

V1 = "/api/v1/"
CONTENT = "/api/content/"


@dataclass(frozen=True, slots=True)
class Operation:
    """A call: ``body`` is sent as JSON, ``upload`` as a form with a file; ``names`` says that it is
    about one thing, which a stranger must not find.
    """

    method: str
    path: str
    body: dict[str, Any] | None = None
    upload: bool = False
    names: bool = True

    @property
    def writes(self) -> bool:
        """Whether it changes something."""
        return self.method not in ("GET", "HEAD", "OPTIONS")


OPERATIONS: tuple[Operation, ...] = (
    Operation(
        "POST",
        f"{V1}sources",
        {"url": "https://www.youtube.com/watch?v=dQw4w9WgXcQ", "collection": "{slug}"},
    ),
    Operation("GET", f"{V1}sources?source_id={{source}}"),
    Operation("POST", f"{V1}sources/files", {"collection": "{slug}"}, upload=True),
    Operation(
        "POST",
        f"{V1}sources/captions",
        {
            "url": "dQw4w9WgXcQ",
            "captions": "WEBVTT\n\n00:00.000 --> 00:01.000\nHello\n",
            "collection": "{slug}",
        },
    ),
    Operation("GET", f"{V1}jobs", names=False),
    Operation("GET", f"{V1}jobs/{{job}}"),
    Operation("POST", f"{V1}jobs/{{job}}/retry"),
    Operation("POST", f"{V1}feeds/{{feed}}/sync"),
    Operation("GET", f"{V1}transcripts/{{video_id}}"),
    Operation("GET", f"{V1}transcripts/{{video_id}}/search?query=lecture"),
    Operation("GET", f"{V1}transcripts/{{video_id}}/download?format=vtt"),
    Operation("POST", f"{V1}transcripts/{{video_id}}/refetch"),
    Operation("GET", f"{V1}youtube", names=False),
    Operation("GET", f"{V1}search?q=networks", names=False),
    Operation("POST", f"{V1}sources/{{source}}/index"),
    Operation("GET", f"{V1}sources/{{source}}/guide"),
    Operation("DELETE", f"{V1}sources/{{document}}"),
    Operation("GET", f"{V1}marks", names=False),
    Operation("PUT", f"{V1}marks", {"query": "networks", "chunk": "{chunk}", "right": True}),
    Operation("DELETE", f"{V1}marks?query=networks&chunk={{chunk}}"),
    Operation("POST", f"{V1}sessions", {"collection": "{slug}"}),
    Operation("GET", f"{V1}sessions", names=False),
    Operation("GET", f"{V1}sessions/{{session}}"),
    Operation("DELETE", f"{V1}sessions/{{session}}"),
    Operation(
        "POST", f"{V1}sessions/{{session}}/segments", {"text": "Networks learn from their errors."}
    ),
    Operation("POST", f"{V1}sessions/{{session}}/replay", {"position": 1.0}),
    Operation("POST", f"{V1}sessions/{{session}}/end"),
    Operation("POST", f"{V1}sessions/{{session}}/recording"),
    Operation("POST", f"{V1}sessions/{{session}}/look-up"),
    Operation("GET", f"{V1}sessions/{{session}}/events"),
    Operation("GET", f"{V1}sessions/{{session}}/citations"),
    Operation("GET", f"{V1}sessions/{{session}}/statistics"),
    Operation("GET", f"{V1}sessions/{{session}}/export"),
    Operation(
        "POST",
        f"{V1}rag/query",
        {"session_id": "{session}", "transcript_text": "Networks learn.", "window_index": 7},
    ),
    Operation("GET", f"{V1}citations/{{citation}}"),
    Operation(
        "POST",
        f"{V1}verify",
        {"quote": "Networks learn from their errors.", "source_id": "{source}"},
    ),
    Operation(
        "POST",
        f"{V1}ask?stream=false",
        {"question": "What do networks learn?", "collection": "{slug}"},
    ),
    Operation("GET", f"{V1}conversations", names=False),
    Operation("GET", f"{V1}conversations/{{conversation}}"),
    Operation("PATCH", f"{V1}conversations/{{conversation}}", {"title": "Renamed"}),
    Operation("DELETE", f"{V1}conversations/{{conversation}}"),
    Operation("GET", f"{V1}conversations/{{conversation}}/export?format=bib"),
    Operation("GET", f"{V1}answers/{{answer}}"),
    Operation("POST", f"{V1}answers/{{answer}}/again?stream=false"),
    Operation("PUT", f"{V1}answers/{{answer}}/feedback", {"feedback": 1}),
    Operation("GET", f"{V1}quotations/{{quotation}}"),
    Operation("GET", f"{V1}notes", names=False),
    Operation("POST", f"{V1}notes", {"collection": "{slug}", "text": "Networks learn."}),
    Operation("GET", f"{V1}notes/{{note}}"),
    Operation("PUT", f"{V1}notes/{{note}}", {"text": "Networks forget."}),
    Operation("DELETE", f"{V1}notes/{{note}}"),
    Operation("GET", f"{V1}webhooks", names=False),
    Operation(
        "POST",
        f"{V1}webhooks",
        {"url": "https://example.org/", "events": ["job.done"]},
        names=False,
    ),
    Operation("GET", f"{V1}webhooks/{{webhook}}"),
    Operation("PATCH", f"{V1}webhooks/{{webhook}}", {"description": "Renamed"}),
    Operation("DELETE", f"{V1}webhooks/{{webhook}}"),
    Operation("POST", f"{V1}webhooks/{{webhook}}/secret"),
    Operation("POST", f"{V1}webhooks/{{webhook}}/test"),
    Operation("GET", f"{V1}webhooks/{{webhook}}/deliveries"),
    Operation("GET", f"{V1}highlights", names=False),
    Operation("POST", f"{V1}highlights", {"source_id": "{source}", "quote": "{said}", "start": 0}),
    Operation("GET", f"{V1}highlights/export?format=jsonld", names=False),
    Operation("POST", f"{V1}highlights/import", {"items": []}, names=False),
    Operation("GET", f"{V1}highlights/{{highlight}}"),
    Operation("PUT", f"{V1}highlights/{{highlight}}", {"color": "blue"}),
    Operation("GET", f"{V1}shared-links", names=False),
    Operation("POST", f"{V1}shared-links", {"highlight_id": "{highlight}"}),
    Operation("DELETE", f"{V1}shared-links/{{link}}"),
    Operation("DELETE", f"{V1}highlights/{{highlight}}"),
    Operation("POST", f"{V1}archives", {"source_id": ["{source}"]}),
    Operation("GET", f"{V1}archives/{{archive}}"),
    Operation("GET", f"{V1}archives/{{archive}}/file"),
    Operation("DELETE", f"{V1}archives/{{archive}}"),
    Operation("GET", f"{V1}openapi.json", names=False),
    Operation("GET", f"{V1}docs", names=False),
    Operation("GET", CONTENT, names=False),
    Operation("GET", f"{CONTENT}collections/", names=False),
    Operation("POST", f"{CONTENT}collections/", {"name": "Walked", "slug": "walked"}, names=False),
    Operation("GET", f"{CONTENT}collections/{{collection}}/"),
    Operation("PATCH", f"{CONTENT}collections/{{collection}}/", {"name": "Renamed"}),
    Operation("DELETE", f"{CONTENT}collections/{{collection}}/"),
    Operation("GET", f"{CONTENT}memberships/", names=False),
    Operation(
        "POST",
        f"{CONTENT}memberships/",
        {"collection": "{slug}", "user": "{username}", "role": "viewer"},
    ),
    Operation("GET", f"{CONTENT}memberships/{{membership}}/"),
    Operation("PATCH", f"{CONTENT}memberships/{{membership}}/", {"role": "viewer"}),
    Operation("DELETE", f"{CONTENT}memberships/{{membership}}/"),
    Operation("GET", f"{CONTENT}videos/", names=False),
    Operation("GET", f"{CONTENT}videos/{{video}}/"),
    Operation("PATCH", f"{CONTENT}videos/{{video}}/", {"title": "Renamed"}),
    Operation("DELETE", f"{CONTENT}videos/{{video}}/"),
    Operation("GET", f"{CONTENT}transcripts/", names=False),
    Operation("GET", f"{CONTENT}transcripts/{{transcript}}/"),
    Operation("GET", f"{CONTENT}feeds/", names=False),
    Operation("GET", f"{CONTENT}feeds/{{feed}}/"),
    Operation("PATCH", f"{CONTENT}feeds/{{feed}}/", {"newest": 3}),
    Operation("DELETE", f"{CONTENT}feeds/{{feed}}/"),
    Operation("GET", f"{CONTENT}sources/", names=False),
    Operation("GET", f"{CONTENT}sources/{{source}}/"),
    Operation("GET", f"{CONTENT}chunks/", names=False),
    Operation("GET", f"{CONTENT}chunks/{{chunk}}/"),
)


def call(client: Any, operation: Operation, **ids: Any) -> Any:
    """Make the call with a Django test client; ``ids`` fills what is in braces.

    Returns the response.
    """
    path = operation.path.format(**ids)
    body = {name: _filled(value, ids) for name, value in (operation.body or {}).items()}
    if operation.upload:
        return client.post(
            path,
            {
                **body,
                "files": [
                    SimpleUploadedFile("walk.vtt", b"WEBVTT\n\n00:00.000 --> 00:01.000\nHello\n")
                ],
            },
        )
    return getattr(client, operation.method.lower())(
        path, **({"data": body, "content_type": "application/json"} if operation.writes else {})
    )


def _filled(value: Any, ids: dict[str, Any]) -> Any:
    if isinstance(value, list):
        return [_filled(item, ids) for item in value]
    return ids[value.strip("{}")] if isinstance(value, str) and value.startswith("{") else value

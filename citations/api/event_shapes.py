"""The events of streams, and how they are described: OpenAPI knows only the text they come in."""

from collections.abc import Mapping
from typing import Any, Final

from pydantic.json_schema import models_json_schema

from citations.schemas.answers import AskedEventOut, ClaimEventOut, TracedReplyOut
from citations.schemas.lectures import CitationsEventOut, EndedEventOut, SegmentEventOut, WindowOut
from transcripts.schemas import Shape

# Of an answer


class StageEventOut(Shape):
    """The current stage."""

    stage: str


class FailedEventOut(Shape):
    """Why there is no answer."""

    code: str
    detail: str
    hint: str


ANSWER: Final[Mapping[str, type[Shape]]] = {
    "asked": AskedEventOut,
    "stage": StageEventOut,
    "claim": ClaimEventOut,
    "answer": TracedReplyOut,
    "failed": FailedEventOut,
}


# Of a lecture


LECTURE: Final[Mapping[str, type[Shape]]] = {
    "segment": SegmentEventOut,
    "window": WindowOut,
    "citations": CitationsEventOut,
    "ended": EndedEventOut,
}


# Their description


def described(events: Mapping[str, type[Shape]]) -> dict[str, Any]:
    """Return the schema of a stream: a text, whose content is one of these events at a time."""
    return {
        "type": "string",
        "contentMediaType": "text/event-stream",
        "contentSchema": {"oneOf": [_event(*event) for event in events.items()]},
    }


def components() -> dict[str, Any]:
    """Return the components that the descriptions refer to, by name."""
    shapes = dict.fromkeys((*ANSWER.values(), *LECTURE.values()))
    _, definitions = models_json_schema(
        [(shape, "serialization") for shape in shapes], ref_template="#/components/schemas/{model}"
    )
    schemas: dict[str, Any] = definitions["$defs"]
    return schemas


def _event(name: str, shape: type[Shape]) -> dict[str, Any]:
    data = {"$ref": f"#/components/schemas/{shape.__name__}"}
    properties = {"event": {"const": name}, "data": data}
    return {"type": "object", "required": ["event", "data"], "properties": properties}

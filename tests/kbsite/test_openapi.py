"""Every operation's responses are described by the classes that the operation declares, with
examples, bounds and headers.
"""

import inspect
import json
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, get_args

import pytest
from django.conf import settings
from django.utils import translation
from ninja import NinjaAPI
from pydantic import BaseModel

from citations.formats import KINDS
from citations.models import ArchiveState, HighlightColor
from citations.models.sources import State
from kbsite.api import api, resources
from kbsite.api_description import TAGS
from kbsite.content import description
from kbsite.errors import EVENTS
from kbsite.models import WebhookDelivery, WebhookKind
from kbsite.openapi import resolve
from tests.kbsite import declared
from transcripts.models import CaptionOrigin, Job

DESCRIPTION = api.get_openapi_schema(path_prefix="/api/v1/")
COMPONENTS = DESCRIPTION["components"]["schemas"]
REFUSALS = DESCRIPTION["components"]["responses"]
OPERATIONS = {
    operation["operationId"]: operation
    for methods in (*DESCRIPTION["paths"].values(), *DESCRIPTION["webhooks"].values())
    for operation in methods.values()
}


def operations() -> Iterator[Any]:
    for _, router in api._routers:
        for view in router.path_operations.values():
            yield from view.operations


def models(annotation: Any) -> Iterator[type[BaseModel]]:
    """Yield the models in an annotation, and those in their fields."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
        for field in annotation.model_fields.values():
            yield from models(field.annotation)
    else:
        for part in get_args(annotation):
            yield from models(part)


def responses() -> Iterator[tuple[str, int, Any]]:
    """Yield each operation's name, a status and the type that it declares for it."""
    for operation in operations():
        for status, model in operation.response_models.items():
            if isinstance(status, int) and isinstance(model, type):
                yield (
                    operation.view_func.__name__,
                    status,
                    model.model_fields["response"].annotation,
                )


def test_the_description_is_made_once_for_each_language() -> None:
    with translation.override("de"):
        german = api.get_openapi_schema(path_prefix="/api/v1/")
        assert api.get_openapi_schema(path_prefix="/api/v1/") is german
    with translation.override("en"):
        assert api.get_openapi_schema(path_prefix="/api/v1/") != german
    assert (
        api.get_openapi_schema(path_prefix="/elsewhere/")["paths"].keys() != german["paths"].keys()
    )


def test_no_two_operations_have_one_id_nor_a_resource_the_component_of_an_operation() -> None:
    ids = [
        operation["operationId"]
        for methods in DESCRIPTION["paths"].values()
        for operation in methods.values()
    ]
    assert len(ids) == len(set(ids)) > 60
    content = description.describe(resources)["components"]["schemas"]
    assert content
    assert not content.keys() & NinjaAPI.get_openapi_schema(api)["components"]["schemas"].keys()


def test_no_two_classes_have_one_component_name() -> None:
    classes: defaultdict[str, set[type[BaseModel]]] = defaultdict(set)
    for _, _, annotation in responses():
        for model in models(annotation):
            classes[model.__name__].add(model)
    assert len(classes) > 40
    assert {name: modules for name, modules in classes.items() if len(modules) > 1} == {}
    assert classes.keys() <= COMPONENTS.keys()


@pytest.mark.parametrize(("name", "status", "annotation"), list(responses()), ids=str)
def test_a_response_is_described_by_the_class_that_the_operation_declares(
    name: str, status: int, annotation: Any
) -> None:
    answer = resolve(OPERATIONS[name]["responses"][str(status)], REFUSALS)
    contents = answer["content"].items()
    (content,) = (content for kind, content in contents if kind.endswith("json"))
    options = content["schema"].get("anyOf", [content["schema"]])
    declared = get_args(annotation) or (annotation,)
    assert [option["$ref"].rpartition("/")[2] for option in options] == [
        model.__name__ for model in declared
    ]
    for model in models(annotation):
        component = COMPONENTS[model.__name__]
        fields = model.model_fields.keys() | model.model_computed_fields.keys()
        assert component["properties"].keys() == fields
        assert component.get("description") == inspect.cleandoc(model.__doc__ or "") or None


def test_every_stream_of_events_describes_them() -> None:
    streams = [
        answer["content"][EVENTS]["schema"]
        for methods in DESCRIPTION["paths"].values()
        for operation in methods.values()
        for answer in operation["responses"].values()
        if EVENTS in answer.get("content", {})
    ]
    assert len(streams) == 3
    for stream in streams:
        for event in stream["contentSchema"]["oneOf"]:
            name = event["properties"]["data"]["$ref"].rpartition("/")[2]
            assert COMPONENTS[name]["description"]


def test_a_copy_without_a_server_is_relative_to_where_it_is_read() -> None:
    assert DESCRIPTION["servers"] == [{"url": "/"}]


def test_each_operation_has_one_of_the_tags_which_are_described_in_order() -> None:
    tags = [tag["name"] for tag in DESCRIPTION["tags"]]
    assert tags == list(TAGS)
    assert all(tag["description"].endswith(".") for tag in DESCRIPTION["tags"])
    of_operations = [operation["tags"] for operation in OPERATIONS.values()]
    assert all(len(own) == 1 for own in of_operations)
    assert {own[0] for own in of_operations} == set(tags)


def bodies(operation: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield what is described of bodies, by their media type."""
    yield from operation.get("requestBody", {}).get("content", {}).values()


def answers(operation: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield what is described of JSON answers, also of refusals."""
    for answer in operation["responses"].values():
        for kind, media in resolve(answer, REFUSALS).get("content", {}).items():
            if kind.endswith("json"):
                yield media


def refused(described: Any, *, of_body: bool = False) -> list[str]:
    """Return why the example of something is not allowed by its schema."""
    check = declared.validator(json.dumps(described["schema"], sort_keys=True), of_body=of_body)
    return [str(error) for error in check.iter_errors(described["example"])]


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS)
def test_whatever_is_sent_as_json_or_has_to_be_given_has_a_valid_example(operation: Any) -> None:
    required = [each for each in operation.get("parameters", ()) if each.get("required")]
    described = [*required, *answers(operation), *bodies(operation)]
    assert [fault for each in (*required, *answers(operation)) for fault in refused(each)] == []
    assert [fault for each in bodies(operation) for fault in refused(each, of_body=True)] == []
    assert "…" not in json.dumps([each["example"] for each in described], ensure_ascii=False)


def bounds(component: str, field: str) -> tuple[Any, Any]:
    described = COMPONENTS[component]["properties"][field]
    described = resolve(described, COMPONENTS)
    return described.get("minimum"), described.get("maximum")


@pytest.mark.parametrize(
    ("component", "field", "expected"),
    [
        *((name, "rank", (1, 3)) for name in ("WindowCitationOut", "CitationSummaryOut")),
        *((name, "relevance_score", (0, 1)) for name in ("WindowCitationOut", "CitationOut")),
        ("PassageOut", "relevance", (0, 1)),
        ("PassageOut", "score", (0, 1)),
        ("PassageOut", "start", (0, None)),
        ("PassageOut", "page", (1, None)),
        ("ReplyOut", "confidence", (0, 1)),
        ("JobOut", "percent", (0, 100)),
        ("NotesOut", "total", (0, None)),
        ("NotesOut", "next", (0, None)),
    ],
)
def test_numbers_have_the_bounds_that_they_keep(component: str, field: str, expected: Any) -> None:
    assert bounds(component, field) == expected


@pytest.mark.parametrize(
    ("choices", "stored"),
    [
        (COMPONENTS["SourceOut"]["properties"]["state"], State),
        (COMPONENTS["JobOut"]["properties"]["kind"], Job.Kind),
        (COMPONENTS["JobOut"]["properties"]["state"], Job.State),
        (COMPONENTS["TranscriptOut"]["properties"]["origin"], CaptionOrigin),
        (COMPONENTS["HighlightOut"]["properties"]["color"], HighlightColor),
        (COMPONENTS["ArchiveOut"]["properties"]["state"], ArchiveState),
        (COMPONENTS["WebhookOut"]["properties"]["events"]["items"], WebhookKind),
        (COMPONENTS["DeliveryOut"]["properties"]["state"], WebhookDelivery.State),
    ],
    ids=str,
)
def test_choices_are_those_that_are_stored(choices: Any, stored: Any) -> None:
    assert choices["enum"] == stored.values


def test_sources_are_of_the_known_kinds() -> None:
    assert COMPONENTS["SourceOut"]["properties"]["kind"]["enum"] == [*KINDS]


def test_pages_of_other_origins_may_use_each_header() -> None:
    parameters = [
        parameter for each in OPERATIONS.values() for parameter in each.get("parameters", ())
    ]
    of_messages = ("webhook-id", "webhook-timestamp", "webhook-signature")
    taken = {each["name"].lower() for each in parameters if each["in"] == "header"}
    assert taken - {*of_messages} <= {*settings.CORS_ALLOW_HEADERS}
    assert set(DESCRIPTION["components"]["headers"]) == {*settings.CORS_EXPOSE_HEADERS}

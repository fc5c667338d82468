"""Every operation's responses are described by the classes that the operation declares."""

import inspect
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, get_args

import pytest
from django.utils import translation
from ninja import NinjaAPI
from pydantic import BaseModel

from kbsite.api import api, resources
from kbsite.content import description
from kbsite.errors import EVENTS

DESCRIPTION = api.get_openapi_schema(path_prefix="/api/v1/")
COMPONENTS = DESCRIPTION["components"]["schemas"]


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


def described(name: str) -> Any:
    (answer,) = (
        operation
        for path in DESCRIPTION["paths"].values()
        for operation in path.values()
        if operation["operationId"] == name
    )
    return answer["responses"]


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
    contents = described(name)[status]["content"].items()
    (content,) = (content for kind, content in contents if kind.endswith("json"))
    options = content["schema"].get("anyOf", [content["schema"]])
    declared = get_args(annotation) or (annotation,)
    assert [option["$ref"].rpartition("/")[2] for option in options] == [
        model.__name__ for model in declared
    ]
    for model in models(annotation):
        component = COMPONENTS[model.__name__]
        assert component["properties"].keys() == model.model_fields.keys()
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

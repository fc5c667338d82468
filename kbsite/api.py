"""The operations under /api/v1/ (django-ninja): callers, errors, and the OpenAPI description."""

import json
from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any, cast

from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import SuspiciousOperation
from django.http import Http404, HttpRequest, HttpResponse, UnreadablePostError
from django.http.multipartparser import MultiPartParserError
from django.urls import include, path
from django.utils.translation import get_language
from django.views.decorators.csrf import csrf_exempt
from ninja import NinjaAPI
from ninja.errors import AuthenticationError, HttpError, ValidationError
from ninja.openapi.schema import OpenAPISchema
from ninja.operation import Operation
from ninja.renderers import JSONRenderer
from ninja.security import APIKeyCookie, HttpBearer
from ninja.utils import check_csrf
from pydantic_core import to_jsonable_python

from citations.api import router as citations
from kbsite import api_description, errors, operations
from kbsite.callers import AnyRequest, SignedInCaller
from kbsite.content import description
from kbsite.content.requests import UNKNOWN
from kbsite.content.views import router as content
from kbsite.webhooks.api import router as webhooks
from transcripts.api import router as transcripts
from transcripts.core.access import needed_by
from transcripts.core.errors import KnowledgeBaseError, NotFound, NotSignedIn

_HOLDERS = ("body", "query", "sent", "wanted", "about")  # arguments of functions that hold fields


class Bearer(HttpBearer):
    """A token made with `kb token create`, or in the admin."""

    def authenticate(self, request: HttpRequest, token: str) -> SignedInCaller | None:
        """Return the token's caller, as the middleware finds it; raise ``NotSignedIn``."""
        return cast(AnyRequest, request).caller


class Session(APIKeyCookie):
    """The browser's session; what changes anything also needs its CSRF token."""

    param_name = "sessionid"

    def __call__(self, request: HttpRequest) -> Any:
        """Return the user; None for a stranger, who is asked to sign in before CSRF matters."""
        if not request.user.is_authenticated:
            return None
        if check_csrf(request):
            raise HttpError(403, errors.PROTOCOL[403][1])
        return request.user

    def authenticate(self, request: HttpRequest, key: str | None) -> None:
        """Do nothing: Django's middleware has authenticated the session."""


class ShapeEncoder(json.JSONEncoder):
    """Writes values as pydantic does, so that REST, MCP and ``kb --json`` write them alike."""

    def default(self, o: Any) -> Any:
        return to_jsonable_python(o)


class ShapeRenderer(JSONRenderer):
    encoder_class = ShapeEncoder


def known_parameters(run: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Refuse a parameter that an operation does not have: a misspelt one would be ignored."""
    operation: Operation = run.__self__  # type: ignore[attr-defined]
    queries = [model for model in operation.models if model.__ninja_param_source__ == "query"]
    names = {name for model in queries for name in model.__ninja_flatten_map__}

    @wraps(run)
    def checked(request: AnyRequest, **values: Any) -> HttpResponse:
        unknown = sorted(request.GET.keys() - names)
        if unknown and request.caller:
            complaints = {name[:100]: UNKNOWN for name in unknown[:10]}
            return errors.problem_response(errors.invalid_fields(complaints))
        return run(request, **values)

    return checked


class Api(NinjaAPI):
    """Describes errors as problem details, on every operation."""

    def create_temporal_response(self, request: HttpRequest) -> HttpResponse:
        """Let operations set headers of what they will answer."""
        answer: HttpResponse = super().create_temporal_response(request)
        request.answer = answer  # type: ignore[attr-defined]
        return answer

    def get_openapi_operation_id(self, operation: Operation) -> str:
        """Name an operation by its function: generated clients call it by this name."""
        return operation.view_func.__name__

    def get_openapi_schema(
        self, *, path_prefix: str | None = None, path_params: dict[str, Any] | None = None
    ) -> OpenAPISchema:
        """Return the description, which is kept for the next caller: do not change it."""
        prefix = self.get_root_path(path_params or {}) if path_prefix is None else path_prefix
        return _describe(self, prefix, get_language())

    def describe(self, prefix: str) -> OpenAPISchema:
        """Describe the content too, and what middlewares add."""
        schema = super().get_openapi_schema(path_prefix=prefix)
        needed = {
            operation.view_func.__name__: needed_by(operation.view_func)
            for bound in self._get_bound_routers()
            for path in bound.path_operations.values()
            for operation in path.operations
        }
        for methods in schema["paths"].values():
            for operation in methods.values():
                operation["security"] = operations.security(needed[operation["operationId"]])
        schema["components"]["securitySchemes"]["OAuth"] = operations.OAUTH
        schema.update(api_description.complete(schema, description.describe(resources)))
        return schema


@lru_cache(maxsize=8)  # languages; the same for all callers, and takes more than half a second
def _describe(described: Api, prefix: str, language: str | None) -> OpenAPISchema:
    return described.describe(prefix)


def for_members(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Show the description to callers only: a person signs in, a program sends a token."""

    @wraps(view)
    def guarded(request: AnyRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if request.caller:
            return view(request, *args, **kwargs)
        if request.path_info.startswith("/api/v1/docs"):
            return redirect_to_login(request.get_full_path())
        raise NotSignedIn("This needs a session or a token.")

    return guarded


api = Api(
    title="Cuebase",
    version="1",
    description=(
        "Search and ask the library, add videos and files, follow jobs, read transcripts. "
        "/api/content/ has what the library holds as resources."
    ),
    openapi_url=None,  # kbsite.pages.api_reference
    docs_url=None,
    servers=[{"url": "/"}],
    auth=[Bearer(), Session()],
    renderer=ShapeRenderer(),
    urls_namespace="api-v1",
)
resources = [path("api/content/", include(content.urls))]
api.add_decorator(known_parameters, mode="view")
api.add_router("", transcripts)
api.add_router("", citations)
api.add_router("", webhooks)


@csrf_exempt  # nothing is changed here, and a token's caller gets the reason
def not_found(request: HttpRequest, rest: str = "") -> HttpResponse:
    """Answer an unknown address under /api/ with problem details."""
    return errors.protocol_response(404)


def _refuse(request: HttpRequest, error: ValidationError) -> HttpResponse:
    complaints = {}
    for problem in error.errors[:10]:
        _, *parts = problem["loc"]  # the place first: body, query, path …
        field = parts[1:] if parts and parts[0] in _HOLDERS else parts
        complaints[".".join(map(str, field))[:100]] = errors.complaint(problem)
    return errors.problem_response(errors.invalid_fields(complaints))


_ANSWERS: dict[type[Exception], Callable[[HttpRequest, Any], HttpResponse]] = {
    KnowledgeBaseError: lambda _, error: errors.problem_response(error),
    ValidationError: _refuse,
    AuthenticationError: lambda *_: errors.problem_response(
        NotSignedIn("This needs a session or a token.")
    ),
    Http404: lambda *_: errors.problem_response(
        NotFound("There is nothing here that you can see.")
    ),
    HttpError: lambda _, error: errors.protocol_response(error.status_code, error.message),
    SuspiciousOperation: lambda _, error: errors.protocol_response(errors.status_of_refusal(error)),
    MultiPartParserError: lambda *_: errors.protocol_response(400),
    UnreadablePostError: lambda *_: errors.protocol_response(400),
}
for _kind, _answer in _ANSWERS.items():
    api.add_exception_handler(_kind, _answer)

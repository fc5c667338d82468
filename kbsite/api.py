"""The operations under /api/v1/ (django-ninja): callers, errors, and the OpenAPI description."""

import json
from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import SuspiciousOperation
from django.http import Http404, HttpRequest, HttpResponse, UnreadablePostError
from django.http.multipartparser import MultiPartParserError
from django.views.decorators.csrf import csrf_exempt
from ninja import NinjaAPI, Swagger
from ninja.errors import AuthenticationError, HttpError, ValidationError
from ninja.openapi.schema import OpenAPISchema
from ninja.operation import Operation
from ninja.renderers import JSONRenderer
from ninja.security import APIKeyCookie, HttpBearer
from ninja.utils import check_csrf
from pydantic_core import to_jsonable_python

from citations.api import router as citations
from kbsite import errors
from kbsite.auth import Caller
from kbsite.options import PACKAGE_DIR
from transcripts.api import router as transcripts
from transcripts.errors import InvalidInput, KnowledgeBaseError, NotFound, NotSignedIn

_PLACES = ("body", "query", "path", "form", "file")  # of parameters


class Bearer(HttpBearer):
    """A token made with `kb token create`, or in the admin."""

    def authenticate(self, request: Any, token: str) -> Caller | None:
        """Return the token's caller, as the middleware finds it; raise ``NotSignedIn``."""
        caller: Caller | None = request.caller
        return caller


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


class DescriptionPage(Swagger):
    """Swagger UI with ninja's own files, although ninja is not an installed app."""

    template_cdn = str(PACKAGE_DIR / "templates/kbsite/api.html")


class Api(NinjaAPI):
    """Describes errors as problem details, on every operation."""

    def get_openapi_operation_id(self, operation: Operation) -> str:
        """Name an operation by its function: generated clients call it by this name."""
        return operation.view_func.__name__

    def get_openapi_schema(self, **options: Any) -> OpenAPISchema:
        """Give errors their media type; ninja gives them that of the results."""
        schema = super().get_openapi_schema(**options)
        for path in schema["paths"].values():
            for operation in path.values():
                for status, response in operation["responses"].items():
                    if status >= 400 and "application/json" in response.get("content", {}):
                        content = response["content"].pop("application/json")
                        response["content"] = {errors.PROBLEM: content}
        return schema


def for_members(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Show the description to callers only: a person signs in, a program sends a token."""

    @wraps(view)
    def guarded(request: Any, *args: Any, **kwargs: Any) -> HttpResponse:
        if request.caller:
            return view(request, *args, **kwargs)
        if request.path_info.endswith("/docs"):
            return redirect_to_login(request.get_full_path())
        raise NotSignedIn("This needs a session or a token.")

    return guarded


api = Api(
    title="Cuebase",
    version="1",
    description=(
        "Search and ask the library, add videos and files, follow jobs, read transcripts. "
        "/api/content/ lists what the library holds."
    ),
    docs=DescriptionPage(settings={"persistAuthorization": False}),
    docs_decorator=for_members,
    auth=[Bearer(), Session()],
    renderer=ShapeRenderer(),
    urls_namespace="api-v1",
)
api.add_router("", transcripts)
api.add_router("", citations)


@csrf_exempt  # nothing is changed here, and a token's caller is told what is wrong
def not_found(request: HttpRequest, rest: str = "") -> HttpResponse:
    """Answer an unknown address under /api/ with problem details."""
    return errors.protocol_response(404)


def _refuse(request: HttpRequest, error: ValidationError) -> HttpResponse:
    sentences = []
    for problem in error.errors[:10]:
        parts = (part for part in problem["loc"] if part not in _PLACES)
        location, complaint = ".".join(map(str, parts))[:100], errors.complaint(problem)
        sentences.append(f"{location}: {complaint}" if location else complaint)
    return errors.problem_response(
        InvalidInput("; ".join(sentences), hint="The parameters are described at /api/v1/docs.")
    )


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

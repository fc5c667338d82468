"""The operations under /api/v1/ (django-ninja): who may call, how errors look, and the OpenAPI description of both."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import SuspiciousOperation
from django.http import Http404, HttpRequest, HttpResponse, UnreadablePostError
from django.http.multipartparser import MultiPartParserError
from ninja import NinjaAPI, Swagger
from ninja.errors import AuthenticationError, HttpError, ValidationError
from ninja.openapi.schema import OpenAPISchema
from ninja.operation import Operation
from ninja.security import APIKeyCookie, HttpBearer
from ninja.utils import check_csrf

from citations.api import router as citations
from kbsite import errors
from kbsite.auth import Caller
from transcripts.api import router as transcripts
from transcripts.errors import InvalidInput, KnowledgeBaseError, NotFound, NotSignedIn


class Bearer(HttpBearer):
    """A token made with `kb token create`, or in the admin."""

    def authenticate(self, request: Any, token: str) -> Caller | None:
        """Return the caller it stands for, as the middleware finds it; raise ``NotSignedIn``."""
        caller: Caller | None = request.caller
        return caller


class Session(APIKeyCookie):
    """The browser's session, with its CSRF token on anything that changes something."""

    param_name = "sessionid"

    def __call__(self, request: HttpRequest) -> Any:
        """Return the user; None for a stranger, who is asked to sign in before the CSRF token matters."""
        if not request.user.is_authenticated:
            return None
        if check_csrf(request):
            raise HttpError(403, errors.PROTOCOL[403][1])
        return request.user

    def authenticate(self, request: HttpRequest, key: str | None) -> None:
        """Do nothing: Django's own middleware has looked at the session already."""


class Api(NinjaAPI):
    """Describes errors as what they are: problem details, on every operation."""

    def get_openapi_operation_id(self, operation: Operation) -> str:
        """Name an operation by its function alone: the name is what generated clients call."""
        return operation.view_func.__name__

    def get_openapi_schema(self, **options: Any) -> OpenAPISchema:
        """Give errors their media type, which the library takes for the same as the results'."""
        schema = super().get_openapi_schema(**options)
        for path in schema["paths"].values():
            for operation in path.values():
                _describe_problems(operation["responses"])
        return schema


def for_members(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Show the description to whoever may call: a person is sent to the sign-in page, a program is told to send a token."""

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
    description="Search the library, add videos and caption files, follow jobs, read transcripts. What the library holds is listed under /api/content/.",
    docs=Swagger(settings={"persistAuthorization": False}),
    docs_decorator=for_members,
    auth=[Bearer(), Session()],
    urls_namespace="api-v1",
)
api.add_router("", transcripts)
api.add_router("", citations)


def not_found(request: HttpRequest, rest: str = "") -> HttpResponse:
    """Answer an unknown address under /api/ in the one error shape."""
    return errors.protocol_response(404)


@api.exception_handler(KnowledgeBaseError)
def _on_expected(request: HttpRequest, error: KnowledgeBaseError) -> HttpResponse:
    return errors.problem_response(error)


@api.exception_handler(ValidationError)
def _on_invalid(request: HttpRequest, error: ValidationError) -> HttpResponse:
    said = "; ".join(_sentence(one) for one in error.errors[:10])
    return errors.problem_response(
        InvalidInput(said, hint="The parameters are described at /api/v1/docs.")
    )


@api.exception_handler(AuthenticationError)
def _on_stranger(request: HttpRequest, error: AuthenticationError) -> HttpResponse:
    return errors.problem_response(NotSignedIn("This needs a session or a token."))


@api.exception_handler(Http404)
def _on_absent(request: HttpRequest, error: Http404) -> HttpResponse:
    return errors.problem_response(NotFound("There is nothing here that you can see."))


@api.exception_handler(HttpError)
def _on_refused(request: HttpRequest, error: HttpError) -> HttpResponse:
    return errors.protocol_response(error.status_code, error.message)


@api.exception_handler(SuspiciousOperation)
def _on_suspicious(request: HttpRequest, error: SuspiciousOperation) -> HttpResponse:
    return errors.protocol_response(errors.status_of_refusal(error))


@api.exception_handler(MultiPartParserError)
@api.exception_handler(UnreadablePostError)
def _on_unreadable(request: HttpRequest, error: Exception) -> HttpResponse:
    return errors.protocol_response(400)


def _sentence(error: dict[str, Any]) -> str:
    where = ".".join(
        str(part) for part in error["loc"] if part not in ("body", "query", "path", "form", "file")
    )
    return f"{where[:100]}: {errors.complaint(error)}" if where else errors.complaint(error)


def _describe_problems(responses: dict[int, Any]) -> None:
    for status, response in responses.items():
        if status >= 400 and "application/json" in response.get("content", {}):
            response["content"] = {errors.PROBLEM: response["content"].pop("application/json")}

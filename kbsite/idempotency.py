"""Idempotency-Key: a POST that is sent again with its key is answered again, not done again."""

from collections.abc import Callable
from hashlib import sha256
from typing import Any, Final, cast
from uuid import uuid4

from django.core.exceptions import SuspiciousOperation
from django.http import HttpRequest, HttpResponse
from django.http.multipartparser import MultiPartParserError
from django.utils.deprecation import MiddlewareMixin
from pydantic import TypeAdapter, ValidationError

from kbsite.errors import (
    API,
    KeyReused,
    RightsChanged,
    StillRunning,
    invalid_fields,
    problem_response,
    protocol_response,
    status_of_refusal,
)
from kbsite.models import KeyedRequest
from kbsite.models.keyed_requests import MAX_KEY
from kbsite.rate_limits import ASKING
from transcripts.errors import KnowledgeBaseError, NotSignedIn
from transcripts.work.heartbeat import keep_alive

HEADER: Final = "Idempotency-Key"
REPLAYED: Final = "Idempotent-Replayed"
KEPT_HEADERS: Final = ("Content-Type", "Location")
_TRUTH: Final = TypeAdapter(bool)


class IdempotencyMiddleware(MiddlewareMixin):
    """Answers a repeated POST of the APIs with its first answer, for a day.

    Only success is kept: what was refused or failed may be sent again with the same key.
    """

    def process_view(
        self, request: Any, view_func: Any, view_args: Any, view_kwargs: Any
    ) -> HttpResponse | None:
        key = request.headers.get(HEADER)
        if key is None or request.method != "POST" or not _has_caller(request):
            return None
        try:
            _check(request, key)
            return _answer(request, key, lambda: view_func(request, *view_args, **view_kwargs))
        except KnowledgeBaseError as error:
            return problem_response(error)
        except SuspiciousOperation as error:
            return protocol_response(status_of_refusal(error))
        except MultiPartParserError:
            return protocol_response(400)


def _has_caller(request: Any) -> bool:
    try:
        return request.path_info.startswith(API) and bool(request.caller)
    except NotSignedIn:
        return False


def _check(request: HttpRequest, key: str) -> None:
    """Raise ``InvalidInput`` for a key that cannot be kept, or an answer that is streamed."""
    if not 0 < len(key) <= MAX_KEY or not key.isascii() or not key.isprintable():
        raise invalid_fields({HEADER: f"1 to {MAX_KEY} printable ASCII characters are expected"})
    if ASKING.match(f"POST {request.path_info}") and _streams(request):
        raise invalid_fields({HEADER: "a stream cannot be repeated; send stream=false with it"})


def _streams(request: HttpRequest) -> bool:
    try:
        return _TRUTH.validate_python(request.GET.get("stream", "true"))
    except ValidationError:
        return False  # the operation refuses it


def _answer(request: Any, key: str, work: Callable[[], Any]) -> HttpResponse:
    caller, holder = request.caller, uuid4()
    mine = {"user": caller.user, "token": caller.token, "key": key}
    KeyedRequest.objects.filter(**mine).expired().delete()
    about = {"fingerprint": _fingerprint(request)}
    keyed, _ = KeyedRequest.objects.get_or_create(**mine, defaults=about)
    if keyed.fingerprint != about["fingerprint"]:
        raise KeyReused
    row = KeyedRequest.objects.filter(pk=keyed.pk)
    if keyed.status is None and row.filter(status=None).free().claim(holder):
        with keep_alive(row, holder):
            return _first_answer(request, keyed, holder, work)
    answered = row.exclude(status=None).first()
    if answered is None:
        raise StillRunning
    if not answered.allows(request.access):
        raise RightsChanged
    headers = {**answered.headers, REPLAYED: "true"}
    return HttpResponse(bytes(answered.content), status=answered.status, headers=headers)


def _first_answer(
    request: Any, keyed: KeyedRequest, holder: Any, work: Callable[[], Any]
) -> HttpResponse:
    is_kept = False
    try:
        answer: Any = work()
        if not getattr(answer, "is_rendered", True):
            answer.render()
        is_kept = 200 <= answer.status_code < 300 and not answer.streaming
        if is_kept:
            headers = {name: answer[name] for name in KEPT_HEADERS if name in answer}
            keyed.finish(
                holder,
                status=answer.status_code,
                headers=headers,
                content=answer.content,
                scope=request.access,
            )
        return cast(HttpResponse, answer)
    finally:
        if not is_kept:
            keyed.drop(holder)


def _fingerprint(request: HttpRequest) -> str:
    """Return a hash of what a request asks for; the parts of a form, as their separator varies."""
    total = sha256()
    for part in (request.path, request.META.get("QUERY_STRING", ""), *_parts(request)):
        data = part if isinstance(part, bytes) else part.encode(errors="surrogatepass")
        total.update(b"%d:" % len(data) + data)
    return total.hexdigest()


def _parts(request: HttpRequest) -> list[str | bytes]:
    if request.content_type != "multipart/form-data":
        return [request.body]
    fields = [part for name, values in request.POST.lists() for part in (name, *values)]
    files = [
        part
        for name, uploads in request.FILES.lists()
        for upload in uploads
        for part in (name, upload.name or "", _digest(upload))
    ]
    return [*fields, *files]


def _digest(upload: Any) -> bytes:
    total = sha256()
    for chunk in upload.chunks():
        total.update(chunk)
    upload.seek(0)
    return total.digest()

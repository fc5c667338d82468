"""Idempotency-Key: a POST that is sent again with its key is answered again, not done again."""

from collections.abc import Callable
from contextlib import ExitStack, suppress
from hashlib import file_digest, sha256
from typing import Any, Final, cast
from uuid import UUID, uuid4

from django.core.exceptions import SuspiciousOperation
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.http.multipartparser import MultiPartParserError
from django.utils.crypto import salted_hmac
from django.utils.deprecation import MiddlewareMixin
from pydantic import TypeAdapter, ValidationError

from kbsite import openapi
from kbsite.callers import AnyRequest, SignedInCaller, caller_or_none
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
from kbsite.middleware.rate_limits import ASKING
from kbsite.models import KeyedRequest
from kbsite.models.keyed_requests import MAX_KEY
from transcripts.core.errors import KnowledgeBaseError
from transcripts.core.headers import header
from transcripts.core.work.models import keep_alive

HEADER: Final = "Idempotency-Key"
REPLAYED: Final = "Idempotent-Replayed"
KEPT_HEADERS: Final = ("Content-Type", "Location", "Cuebase-Note")
_TRUTH: Final = TypeAdapter(bool)


class _Refused(Exception):
    """An answer that is no success: what was done until then is rolled back."""

    def __init__(self, answer: HttpResponse) -> None:
        super().__init__()
        self.answer = answer


class IdempotencyMiddleware(MiddlewareMixin):
    """Answers a repeated POST of the APIs with its first answer, for a day.

    The work of a request and its answer are one transaction. Long work, such as answering a
    question, queues its row (``request.begin``) in a transaction with the key; a repetition finds
    it (``request.begun``) and goes on with it, should the process end before the answer is kept.

    Only success is kept: what was refused or failed may be sent again with the same key.
    """

    def process_request(self, request: AnyRequest) -> None:
        request.begun, request.begin = None, lambda work: None

    def process_view(
        self, request: AnyRequest, view_func: Any, view_args: Any, view_kwargs: Any
    ) -> HttpResponse | None:
        key = request.headers.get(HEADER)
        is_for_apis = request.method == "POST" and request.path_info.startswith(API)
        caller = caller_or_none(request) if key is not None and is_for_apis else None
        if key is None or caller is None:
            return None
        try:
            _check(request, key)
            return _answer(
                request, caller, key, lambda: view_func(request, *view_args, **view_kwargs)
            )
        except KnowledgeBaseError as error:
            return problem_response(error)
        except SuspiciousOperation as error:
            return protocol_response(status_of_refusal(error))
        except MultiPartParserError:
            return protocol_response(400)


def _check(request: HttpRequest, key: str) -> None:
    """Raise ``InvalidInput`` for a key that cannot be kept, or an answer that is streamed."""
    if not 0 < len(key) <= MAX_KEY or not key.isascii() or not key.isprintable():
        raise invalid_fields({HEADER: f"1 to {MAX_KEY} printable ASCII characters are expected"})
    with suppress(ValidationError):  # the operation refuses it
        streams = _TRUTH.validate_python(request.GET.get("stream", "true"))
        if streams and ASKING.match(f"POST {request.path_info}"):
            raise invalid_fields({HEADER: "a stream cannot be repeated; send stream=false with it"})


def _answer(
    request: AnyRequest, caller: SignedInCaller, key: str, work: Callable[[], Any]
) -> HttpResponse:
    holder = uuid4()
    mine = {"user": caller.user, "token": caller.token, "key": key}
    KeyedRequest.objects.filter(**mine).expired().delete()
    about = {"fingerprint": _fingerprint(request)}
    keyed, _ = KeyedRequest.objects.get_or_create(**mine, defaults=about)
    if keyed.fingerprint != about["fingerprint"]:
        raise KeyReused
    row = KeyedRequest.objects.filter(pk=keyed.pk)
    if keyed.status is None and row.filter(status=None).free().claim(holder):
        keyed.refresh_from_db(fields=["begun"])
        with keep_alive(row, holder):
            return _first_answer(request, keyed, holder, work)
    answered = row.exclude(status=None).first()
    if answered is None:
        raise StillRunning
    if not answered.allows(request.access):
        raise RightsChanged
    headers = {**answered.headers, REPLAYED: "true"}
    return HttpResponse(answered.answer, status=answered.status, headers=headers)


def _first_answer(
    request: AnyRequest, keyed: KeyedRequest, holder: UUID, work: Callable[[], Any]
) -> HttpResponse:
    is_kept = False
    try:
        answer = _work_and_keep(request, keyed, holder, work)
        is_kept = True
        keyed.make_room()
        return answer
    except _Refused as refused:
        return refused.answer
    finally:
        if not is_kept:
            keyed.give_back(holder)


def _work_and_keep(
    request: AnyRequest, keyed: KeyedRequest, holder: UUID, work: Callable[[], Any]
) -> HttpResponse:
    """Work, and keep the answer in the same transaction, or else that of the work that it begins.

    Raises ``_Refused``, and ``StillRunning`` if the lease was lost: another process does the work.
    """
    with ExitStack() as open_transaction:
        open_transaction.enter_context(transaction.atomic(durable=True))

        def begin(reference: UUID | None) -> None:
            if not keyed.begin(holder, reference):
                raise StillRunning
            open_transaction.close()

        request.begun, request.begin = keyed.begun, begin
        answer: Any = work()
        if not getattr(answer, "is_rendered", True):
            answer.render()
        if not 200 <= answer.status_code < 300 or answer.streaming:
            raise _Refused(answer)
        headers = {name: answer[name] for name in KEPT_HEADERS if name in answer}
        kept = {"status": answer.status_code, "headers": headers, "content": answer.content}
        if not keyed.finish(holder, **kept, scope=request.access):
            raise StillRunning
        return cast(HttpResponse, answer)


def _fingerprint(request: HttpRequest) -> str:
    """Return a hash of what a request asks for; the parts of a form, as their separator varies.

    It tells nothing to whoever lacks SECRET_KEY. With another one, kept answers cannot be read.
    """
    total = sha256()
    for part in (request.path, request.META.get("QUERY_STRING", ""), *_parts(request)):
        data = part if isinstance(part, bytes) else part.encode(errors="surrogatepass")
        total.update(b"%d:" % len(data) + data)
    return salted_hmac(__name__, total.hexdigest(), algorithm="sha256").hexdigest()


def _parts(request: HttpRequest) -> list[str | bytes]:
    if request.content_type != "multipart/form-data":
        return [request.body]
    fields = [part for name, values in request.POST.lists() for part in (name, *values)]
    files: list[str | bytes] = []
    for name, uploads in request.FILES.lists():
        for upload in uploads:
            upload.seek(0)
            files += [name, upload.name or "", file_digest(upload, "sha256").digest()]
            upload.seek(0)
    return [*fields, *files]


def describe(methods: openapi.Methods) -> None:
    """Describe this in the OpenAPI document."""
    if "post" not in methods:
        return
    about = "Sent again with the key and body of an answered request, it repeats that answer."
    key = {"minLength": 1, "maxLength": MAX_KEY, "pattern": "^[!-~]+$"}
    openapi.take(methods["post"], HEADER, about, **key)
    openapi.answer(methods["post"], 409)
    replayed = header("This answer was given before.", const="true")
    openapi.send(methods["post"], REPLAYED, replayed, openapi.is_success)

"""The requests of callers, and answers to HTMX and plain browsers."""

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django_htmx.middleware import HtmxDetails

from transcripts.core.caller import Caller
from transcripts.core.scope import Scope

A_YEAR: Final = 365 * 24 * 3600  # seconds


class CallerRequest(HttpRequest):
    """A request after the middleware of accounts: signed in, or refused before it comes here.

    ``scope`` is taken: an ASGI request has one of its own.
    """

    user: User
    caller: Caller
    access: Scope


class PageRequest(CallerRequest):
    """A request of a page, with its HTMX headers."""

    htmx: HtmxDetails


def fragment(request: PageRequest, template: str, context: Mapping[str, Any]) -> HttpResponse:
    """Render a fragment for HTMX. It must not be kept, or "back" would show it as a page."""
    return render(request, template, dict(context))


def back(request: PageRequest, default: str) -> HttpResponse:
    """Redirect to ``next`` of the form, if it is an address of this site."""
    return redirect(own_address(request, request.POST.get("next", "")) or default)


def own_address(request: HttpRequest, address: str) -> str:
    """Return an address if it is one of this site, otherwise nothing."""
    is_ours = url_has_allowed_host_and_scheme(
        address, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    return address if is_ours else ""


def without_empty(request: PageRequest) -> str:
    """Return the address without the fields of its form that were left empty; "" if none was."""
    sent = [(name, value) for name, values in request.GET.lists() for value in values]
    filled = [(name, value) for name, value in sent if value]
    question = f"?{urlencode(filled)}" if filled else ""
    return f"{request.path}{question}" if len(filled) < len(sent) else ""


def query_string(values: Mapping[str, object]) -> str:
    """Return the query string of the values that are not empty; "" if all are."""
    filled = {name: value for name, value in values.items() if value not in ("", None)}
    return f"?{urlencode(filled)}" if filled else ""


def remember_view(request: PageRequest, response: HttpResponse, name: str, view: str) -> None:
    """Have a view that was chosen just now shown from now on, if no other is named."""
    if "view" in request.GET:
        response.set_cookie(name, view, max_age=A_YEAR, samesite="Lax")


def offset_of(request: HttpRequest) -> int:
    """Return where the page of a list begins."""
    return number_of(request.GET.get("offset", "")) or 0


def number_of(text: str) -> int | None:
    """Parse a number of up to 8 digits in an address; None for anything else."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else None


def redirect_with_message(
    request: PageRequest, message: str, to: str, *, undo: UUID | None = None, **arguments: Any
) -> HttpResponse:
    """Redirect to a page with a message, so that a reload does not repeat the action.

    ``undo`` is a deletion that ``base.html`` offers to take back beside the message. The drawer of
    what is going on stays where it is, and shows what comes of it.
    """
    if request.htmx and request.htmx.target == "drawer-body":
        return HttpResponse(status=204)
    messages.success(request, message, extra_tags=str(undo or ""))
    page = redirect(to, **arguments)
    return HttpResponse(status=204, headers={"HX-Redirect": page.url}) if request.htmx else page

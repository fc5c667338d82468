"""The requests of callers, where forms lead back to, and answers to HTMX and plain browsers."""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlencode, urlsplit, urlunsplit
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import Resolver404, resolve
from django.utils.http import url_has_allowed_host_and_scheme
from django_htmx.middleware import HtmxDetails

from transcripts.core.scope import Scope
from transcripts.core.site_path import own_path, site_path

SAFE: Final = ("GET", "HEAD")
A_YEAR: Final = 365 * 24 * 3600  # seconds


@dataclass(frozen=True, slots=True)
class Caller(ABC):
    """A user, and what they may see and change now. Doors make callers; work reads them."""

    user: User
    scope: Scope

    @abstractmethod
    def renewed(self) -> "Caller | None":
        """Return them with what they may see and change now; None if they are signed out.

        A long request may outlive a membership, a token, a session or an account.
        """

    def still_reads(self, collection_id: int) -> bool:
        """Check again that they may read a collection."""
        renewed = self.renewed()
        return renewed is not None and collection_id in renewed.scope.readable


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


def page_of_form(request: HttpRequest) -> str:
    """Return the page of this site that a request comes from, "" if it is not known.

    After a form was shown again with an error, the browser is at the address that takes the form:
    then it is the nearest page above that.
    """
    parts = urlsplit(own_address(request, request.headers.get("Referer", "")))
    if not _is_page(parts.path):
        return page_above(parts.path)
    page = urlunsplit(("", "", parts.path, parts.query, ""))
    is_repeated = request.method in SAFE and page == request.get_full_path()
    return "" if is_repeated else page


def page_above(path: str) -> str:
    """Return the nearest address above a path that answers GET, "" if that is the first page."""
    home = site_path("/")
    while (path := path.rstrip("/").rpartition("/")[0] + "/") not in ("/", home):
        if _is_page(path):
            return path
    return ""


def takes_get(view: Callable[..., Any]) -> bool:
    """Return whether a view answers GET, without calling it: its decorator or its class says so."""
    if view_class := getattr(view, "view_class", None):
        return "get" in view_class.http_method_names and hasattr(view_class, "get")
    while inspect.isfunction(view):
        # Django's require_POST keeps its methods nowhere else; a test compares all views with this.
        methods = inspect.getclosurevars(view).nonlocals.get("request_method_list")
        if methods is not None:
            return "GET" in methods
        view = getattr(view, "__wrapped__", None)  # type: ignore[assignment]
    return True


def _is_page(path: str) -> bool:
    try:
        return takes_get(resolve(own_path(path)).func)
    except Resolver404:
        return False


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
        path = site_path("/")
        response.set_cookie(name, view, max_age=A_YEAR, samesite="Lax", path=path)


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

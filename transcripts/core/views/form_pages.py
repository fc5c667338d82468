"""The pages of forms: where to lead whoever cannot go on at the address that a form is sent to."""

import inspect
from collections.abc import Callable
from typing import Any, Final
from urllib.parse import urlsplit, urlunsplit

from django.http import HttpRequest
from django.urls import Resolver404, resolve

from transcripts.core.views.requests import own_address

SAFE: Final = ("GET", "HEAD")


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
    while (path := path.rstrip("/").rpartition("/")[0] + "/") != "/":
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
        return takes_get(resolve(path).func)
    except Resolver404:
        return False

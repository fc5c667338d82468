"""What a request of these pages carries, and how a page answers HTMX or a plain browser."""

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django_htmx.middleware import HtmxDetails

from transcripts.scope import Scope


class PageRequest(HttpRequest):
    """A request behind the middleware: signed in, with its scope and HTMX's headers read."""

    user: User
    reach: Scope
    caller: Any
    htmx: HtmxDetails


def fragment(request: PageRequest, template: str, context: Mapping[str, Any]) -> HttpResponse:
    """Render what HTMX puts into a page. It is not kept: going back in the browser must never show a fragment as the page of that address."""
    response = render(request, template, dict(context))
    response["Cache-Control"] = "no-store"
    return response


def done(request: PageRequest, message: str, to: str, **arguments: Any) -> HttpResponse:
    """Say that it is done and go on to a page, so that a reload does not do it again."""
    messages.success(request, message)
    onward = redirect(to, **arguments)
    return HttpResponse(status=204, headers={"HX-Redirect": onward.url}) if request.htmx else onward

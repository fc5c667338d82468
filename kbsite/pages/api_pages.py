"""The description of REST: its OpenAPI document, and pages of the site that are made of it."""

from functools import lru_cache
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import translation
from django.views.decorators.http import require_safe

from kbsite import api
from kbsite.middleware import page_language
from kbsite.oauth import audience
from kbsite.pages import api_reference
from kbsite.pages.api_reference import Group


@require_safe
@api.for_members
def document(request: HttpRequest) -> HttpResponse:
    """Return the OpenAPI document, with the address through which this server is reached."""
    return JsonResponse(_document(audience.origin_of(request)))


@require_safe
@api.for_members
def overview(request: HttpRequest) -> HttpResponse:
    """List all operations."""
    groups = _groups(audience.origin_of(request))
    return page_language.reference(request, "kbsite/api.html", {"groups": groups})


@require_safe
@api.for_members
def group(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the operations of a group: parameters, examples, and a form to try each."""
    groups = {group.slug: group for group in _groups(audience.origin_of(request))}
    if slug not in groups:
        return api.not_found(request)
    context = {"group": groups[slug], "groups": groups.values()}
    return page_language.reference(request, "kbsite/api_group.html", context)


@lru_cache(maxsize=8)  # hosts: the document is the same, and takes half a second
def _groups(origin: str) -> tuple[Group, ...]:
    with translation.override(settings.LANGUAGE_CODE):  # for readers of all languages
        return api_reference.read(_document(origin))


def _document(origin: str) -> dict[str, Any]:
    schema = api.api.get_openapi_schema(path_prefix="/api/v1/")
    return {**schema, "servers": [{"url": origin}]}

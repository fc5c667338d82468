"""The description of REST as pages of the site, made of its OpenAPI document."""

from functools import lru_cache
from typing import Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import translation
from django.views.decorators.http import require_safe

from kbsite import api, api_reference, page_language
from kbsite.api_reference import Group

TITLES: Final = {
    "sources": "Sources and jobs",
    "search": "Search",
    "ask": "Questions and answers",
    "lectures": "Lectures and citations",
    "notebook": "Highlights, notes and sharing",
    "webhooks": "Webhooks",
    "content": "Content as resources",
}


@require_safe
@api.for_members
def overview(request: HttpRequest) -> HttpResponse:
    """List all operations."""
    groups = [
        {"title": TITLES[group.slug], "slug": group.slug, "operations": group.operations}
        for group in _groups(request.build_absolute_uri("/").rstrip("/"))
    ]
    return page_language.reference(request, "kbsite/api.html", {"groups": groups})


@require_safe
@api.for_members
def group(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the operations of a group: parameters, examples, and a form to try each."""
    groups = {group.slug: group for group in _groups(request.build_absolute_uri("/").rstrip("/"))}
    if slug not in groups:
        return api.not_found(request)
    context = {"group": groups[slug], "title": TITLES[slug], "titles": TITLES}
    return page_language.reference(request, "kbsite/api_group.html", context)


@lru_cache(maxsize=8)  # hosts: the document is the same, and takes half a second
def _groups(origin: str) -> tuple[Group, ...]:
    with translation.override(settings.LANGUAGE_CODE):  # for readers of all languages
        schema = api.api.get_openapi_schema(path_prefix="/api/v1/")
        return api_reference.read(schema, origin=origin)

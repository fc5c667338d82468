"""The Sources page, and the page of one source."""

from typing import Any, Final
from urllib.parse import urlencode
from uuid import UUID

from django.conf import settings
from django.http import HttpResponse
from django.middleware.csrf import get_token
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.views.decorators.http import (
    require_GET,
    require_http_methods,
    require_POST,
    require_safe,
)

from citations.ingest import pipeline as ingest_pipeline
from citations.library import sources
from citations.library.filters import Filter, facets, find_source
from citations.models import Document, Source, State
from citations.tasks import send
from citations.vectors import language_gap
from citations.vectors import space as vector_space
from citations.views import pages
from citations.views.search_form import SourcesForm
from transcripts import library
from transcripts.announcements import SOURCES
from transcripts.scope import Scope
from transcripts.views import events
from transcripts.views.events import EventStream, Fragment
from transcripts.views.requests import PageRequest, done, number_of

PAGE: Final = 50
LIVE_SECONDS: Final = 2.0


@require_safe
def show_sources(request: PageRequest) -> HttpResponse:
    visible = library.collections(request.access)
    context = _list(request, request.access) | {
        "error": vector_space.mismatch(),
        "split_otherwise": sources.split_otherwise(Source.objects.visible(request.access)).count(),
        "language_gap": language_gap.find(Source.objects.visible(request.access)),
        "known": facets(request.access),
        "collections": [row for row in visible if row.pk in request.access.writable],
        "most_megabytes": max(1, settings.MAX_DOCUMENT_BYTES // 1_000_000),
    }
    return render(request, "citations/sources.html", context)


@require_GET
def source_events(request: PageRequest) -> EventStream:
    """Stream the list whenever a source has changed."""
    token = get_token(request)  # a constant one, so that the list changes only when its rows do

    def render(scope: Scope) -> Fragment:
        context = {**_list(request, scope), "csrf_token": token}
        return Fragment(render_to_string("citations/_sources.html", context, request=request))

    return events.stream(
        "sources", render, caller=request.caller, topic=SOURCES, pause=LIVE_SECONDS
    )


@require_safe
def show_source(request: PageRequest, source_id: UUID) -> HttpResponse:
    """Open the reader: the recording, or a page of a document; else how it is indexed."""
    source = find_source(request.access, str(source_id))
    if source.video_id:
        question = f"?{urlencode({'lang': source.language})}" if source.language else ""
        return redirect(f"{reverse('video', args=(source.video_id,))}{question}")
    if Document.objects.filter(source=source, page_count__gt=0).exists():
        return pages.show_page(request, source_id, number_of(request.GET.get("page", "")) or 1)
    return redirect("source-passages", source_id=source_id)


@require_safe
def show_passages(request: PageRequest, source_id: UUID) -> HttpResponse:
    """Show how a source is indexed: its chunks from ``offset``, or from ``page`` of a document."""
    source = find_source(request.access, str(source_id))
    location = sources.find_page(source, number_of(request.GET.get("page", "")) or 0)
    sent = request.GET.get("offset")
    offset = location.offset if sent is None else number_of(sent) or 0
    page = sources.list_chunks(source, offset=offset, limit=PAGE)
    writable = request.access.writable
    context = {
        "source": source,
        "page": page,
        "at": location.chunks,
        "writable": writable,
        "may_write": source.collection_id in writable,
    }
    return render(request, "citations/source.html", context)


@require_POST
def index(request: PageRequest, source_id: UUID) -> HttpResponse:
    """Index a source again."""
    source = _find_writable(request, source_id)
    source.start_anew()
    send(source)
    return done(
        request, f"“{source}” will be indexed again.", "source-passages", source_id=source_id
    )


@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: PageRequest, source_id: UUID) -> HttpResponse:
    """Confirm, then delete a document; for a recording, redirect to its video."""
    source = _find_writable(request, source_id)
    if source.video_id:
        return redirect("video-delete", pk=source.video_id)
    if request.method != "POST":
        return render(request, "citations/delete_source.html", {"source": source})
    ingest_pipeline.remove(source)
    return done(request, f"“{source}” was deleted.", "sources")


def _find_writable(request: PageRequest, source_id: UUID) -> Source:
    request.caller.require_write()
    source = find_source(request.access, str(source_id))
    request.access.require_write(source.collection_id)
    return source


def _list(request: PageRequest, scope: Scope) -> dict[str, Any]:
    parts = SourcesForm(request.GET).parts()
    state = parts["state"] if parts["state"] in State.values else ""
    collections, kinds = ((parts[name],) if parts[name] else () for name in ("collection", "kind"))
    page = sources.list_sources(
        scope,
        Filter(collections=collections, kinds=kinds),
        words=parts["q"],
        state=state,
        offset=parts["offset"],
        limit=PAGE,
    )
    return {
        "parts": parts,
        "state": state,
        "states": [(value, label, getattr(page.counts, value)) for value, label in State.choices],
        "page": page,
        "offset": parts["offset"],
        "writable": scope.writable,
    }

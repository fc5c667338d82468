"""The list of collections, the page of one, its notebook, and everything in one ZIP."""

from functools import partial
from math import ceil
from typing import Any, Final
from uuid import UUID

from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from citations.guide import storage as guide_storage
from citations.library import collection_contents, sources
from citations.models import Source
from citations.notebook import archives, conversations, highlights, notes
from citations.notebook.highlights import HighlightFilter
from citations.tasks import send_archive
from citations.views.library import show_list
from transcripts.core.scope import Scope
from transcripts.core.views.requests import PageRequest, redirect_with_message
from transcripts.library import activity, collections
from transcripts.library import reading as library
from transcripts.media import files as media
from transcripts.models import Collection, Role

LISTED_OF_KIND: Final = 4


@require_safe
def list_collections(request: PageRequest) -> HttpResponse:
    roles = collections.roles_of(request.user)
    contents = collection_contents.count(request.access)
    rows = [
        {"collection": collection, "role": roles(collection), "contents": contents[collection.pk]}
        for collection in library.collections(request.access)
    ]
    return render(request, "citations/collections.html", {"rows": rows})


@require_safe
def show_collection(request: PageRequest, pk: int) -> HttpResponse:
    """Show a collection; HTMX gets the list of its sources alone."""
    collection = collections.find(request.access, pk)
    around = partial(_notebook, collection=collection)
    return show_list(request, "citations/collection.html", around, collection=collection)


@require_http_methods(["GET", "HEAD", "POST"])
def leave(request: PageRequest, pk: int) -> HttpResponse:
    """Ask a member for confirmation, then end the membership; the last owner stays."""
    collection = collections.find(request.access, pk)
    collections.require_leave(collection, request.user)
    if request.method != "POST":
        filter = HighlightFilter(collection=collection.slug, own=True)
        highlighted = highlights.list_highlights(request.access, request.user, filter, limit=1)
        context = {"collection": collection, "highlighted": highlighted.total}
        return render(request, "citations/leave_collection.html", context)
    collections.remove_member(collection, request.user.pk)
    message = _("You left “%(name)s”.") % {"name": collection}
    return redirect_with_message(request, message, "collections")


def _notebook(request: PageRequest, *, collection: Collection) -> dict[str, Any]:
    scope, user = request.access, request.user
    inside = Scope(readable=frozenset({collection.pk}))
    latest: dict[str, Any] = {"collection": collection.slug, "limit": LISTED_OF_KIND}
    filter = HighlightFilter(collection=collection.slug)
    role = collections.role_in(collection, user)
    return {
        "collection": collection,
        "is_owner": role == Role.OWNER and collection.pk in scope.writable,
        "may_write": collection.pk in scope.writable,
        "counts": sources.count(Source.objects.visible(inside)),
        "members": collections.members(collection),
        "may_leave": collections.may_leave(collection, user),
        "feeds": activity.list_feeds(inside),
        "suggested": guide_storage.suggested(inside, limit=3),
        "asked": conversations.list_conversations(scope, user, **latest),
        "written": notes.list_notes(scope, **latest),
        "highlighted": highlights.list_highlights(scope, user, filter, limit=LISTED_OF_KIND),
    }


@require_http_methods(["GET", "HEAD", "POST"])
def show_archive(request: PageRequest) -> HttpResponse:
    """Show the last archive and how far it is, or begin one."""
    if request.method == "POST":
        slug = request.POST.get("collection", "")[:120]
        archive = archives.request(
            request.access, request.user, collection=slug, with_media="media" in request.POST
        )
        if archive.sent_at is None:
            send_archive(archive)
        return redirect("archive")
    context = {
        "archive": archives.latest(request.access, request.user),
        "collections": library.collections(request.access),
        "media_megabytes": ceil(media.total_size(request.access) / 1_000_000),
    }
    return render(request, "citations/archive.html", context)


@require_safe
def archive_file(request: PageRequest, archive_id: UUID) -> StreamingHttpResponse:
    """Download an archive."""
    archive = archives.find(request.access, request.user, archive_id, ready=True)
    response = StreamingHttpResponse(archives.pieces(archive), content_type="application/zip")
    response["Content-Length"] = str(archive.size)
    response["Content-Disposition"] = f'attachment; filename="{archive.file_name}"'
    return response


@require_POST
def delete_archive(request: PageRequest, archive_id: UUID) -> HttpResponse:
    archives.delete(archives.find(request.access, request.user, archive_id))
    return redirect_with_message(request, _("The archive was deleted."), "archive")

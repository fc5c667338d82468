"""Everything in one ZIP: ask for it, watch it being made, download it."""

from math import ceil
from uuid import UUID

from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from citations.notebook import archives
from citations.tasks import send_archive
from transcripts.core.views.requests import PageRequest, redirect_with_message
from transcripts.library import reading as library
from transcripts.media import files as media


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
def file(request: PageRequest, archive_id: UUID) -> StreamingHttpResponse:
    """Download an archive."""
    archive = archives.find(request.access, request.user, archive_id, ready=True)
    response = StreamingHttpResponse(archives.pieces(archive), content_type="application/zip")
    response["Content-Length"] = str(archive.size)
    response["Content-Disposition"] = f'attachment; filename="{archive.file_name}"'
    return response


@require_POST
def delete(request: PageRequest, archive_id: UUID) -> HttpResponse:
    archives.delete(archives.find(request.access, request.user, archive_id))
    return redirect_with_message(request, _("The archive was deleted."), "archive")

"""An item of the library is edited where it stands; without scripts, on a page of its own."""

from typing import Any, Final

from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from citations.ingest import item_details
from citations.ingest.item_details import ItemDetails
from citations.library.filters import languages_of
from citations.library.item import item_of
from citations.tasks import send
from transcripts.adding import acquisition
from transcripts.core import languages
from transcripts.core.errors import InvalidInput
from transcripts.core.views.requests import PageRequest, back, fragment
from transcripts.media import thumbnails
from transcripts.models import Job, Video
from transcripts.tasks import send as send_job

PLACES: Final = {"cards": "_library_card", "table": "_library_row"}  # where it is edited: its part


@require_http_methods(["GET", "HEAD", "POST"])
def edit(request: PageRequest, reference: str) -> HttpResponse:
    """Show the form of an item, or save it: HTMX gets the item as it is shown there."""
    row = item_details.find(request.access, reference)
    data = request.POST if request.method == "POST" else request.GET
    context = {
        "reference": reference,
        "details": item_details.details_of(row),
        "place": data.get("place", ""),
        "next": data.get("next", ""),
        "title": str(row),
        "has_picture": isinstance(row, Video),
        "has_own_picture": isinstance(row, Video) and thumbnails.is_own(row),
    }
    if request.method != "POST":
        return _form(request, context)
    details = ItemDetails(
        title=request.POST.get("title", ""),
        tags=request.POST.get("tags"),
        language=request.POST.get("language"),
    )
    try:
        with transaction.atomic():
            sources = item_details.edit(row, details)
            job = _change_picture(request, row)
    except InvalidInput as error:
        refused = _form(request, context | {"details": details, "error": error})
        refused.status_code = 422
        refused["HX-Retarget"], refused["HX-Reswap"] = f"#form-{reference}", "outerHTML"
        return refused
    for source in sources:
        send(source)
    if job:
        send_job(job)
    return _saved(request, row, context)


def _change_picture(request: PageRequest, row: Any) -> Job | None:
    """Take the picture that was sent, or go back to the original; return what fetches YouTube's."""
    if not isinstance(row, Video):
        return None
    if picture := request.FILES.get("picture"):
        thumbnails.replace(row, picture)
    elif "reset" in request.POST:
        thumbnails.reset(row)
        return acquisition.refetch(row, by=request.user) if row.youtube_id else None
    return None


def _form(request: PageRequest, context: dict[str, Any]) -> HttpResponse:
    context["languages"] = languages.choices(languages_of(request.access))
    if request.htmx:
        return fragment(request, "citations/_item_form.html", context)
    return render(request, "citations/item_edit.html", context)


def _saved(request: PageRequest, row: Any, context: dict[str, Any]) -> HttpResponse:
    if request.htmx and (part := PLACES.get(context["place"])):
        values = {
            "item": item_of(row, reader=request.user),
            "writable": request.access.writable,
            "parameters": {"view": context["place"]},
            "listed_at": context["next"],
        }
        return fragment(request, f"citations/{part}.html", values)
    messages.success(request, _("“%(title)s” was saved.") % {"title": row})
    page = back(request, reverse("library"))
    if request.htmx:
        return HttpResponse(status=204, headers={"HX-Redirect": page["Location"]})
    return page

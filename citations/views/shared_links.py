"""Links for people without an account: make, list, revoke; allow them for a collection."""

from typing import Final
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from citations.models import SharedLink
from citations.notebook import answers, highlights, shared_links
from citations.notebook.shared_links import LIFETIME, LIFETIMES
from transcripts import collections
from transcripts.models import Collection, Role
from transcripts.views.requests import PageRequest, done

_DAYS: Final = tuple((days, f"{days} day{'s' if days > 1 else ''}") for days in LIFETIMES)


class LifetimeForm(forms.Form):
    """How long a link leads somewhere."""

    days = forms.TypedChoiceField(choices=_DAYS, coerce=int, required=False)

    def lifetime(self) -> int:
        return int(self.cleaned_data["days"] or LIFETIME) if self.is_valid() else LIFETIME


@require_safe
def show_links(request: PageRequest) -> HttpResponse:
    """List the user's links, and the collections in which the user may allow links."""
    links = shared_links.list_links(request.access, request.user)
    context = {
        "links": [(link, request.build_absolute_uri(link.path)) for link in links],
        "collections": _own_collections(request),
    }
    return render(request, "citations/shared_links.html", context)


@require_POST
def share_highlight(request: PageRequest, highlight_id: UUID) -> HttpResponse:
    request.caller.require_write()
    placed = highlights.find(request.access, request.user, highlight_id)
    days = LifetimeForm(request.POST).lifetime()
    return _made(
        request, shared_links.share_highlight(request.access, request.user, placed, days=days)
    )


@require_POST
def share_answer(request: PageRequest, answer_id: UUID) -> HttpResponse:
    request.caller.require_write()
    answer = answers.find_answer(request.access, request.user, answer_id)
    days = LifetimeForm(request.POST).lifetime()
    return _made(
        request, shared_links.share_answer(request.access, request.user, answer, days=days)
    )


@require_POST
def revoke(request: PageRequest, link_id: UUID) -> HttpResponse:
    """End a link at once."""
    request.caller.require_write()
    shared_links.revoke(request.access, request.user, link_id)
    return done(request, "The link leads nowhere now.", "shared-links")


@require_POST
def allow(request: PageRequest, pk: int) -> HttpResponse:
    """Allow links to what a collection holds, or forbid them."""
    collection = collections.find(request.access, pk)
    collections.require_owner(collection, request.user)
    request.access.require_write(pk)
    is_allowed = request.POST.get("allowed") == "1"
    shared_links.allow_links(collection, is_allowed=is_allowed)
    verb = "may be shared by links" if is_allowed else "cannot be shared by links any more"
    return done(request, f"What “{collection}” holds {verb}.", "shared-links")


def _made(request: PageRequest, link: SharedLink) -> HttpResponse:
    messages.success(request, "Whoever has the link below can read what it shows.")
    return redirect("shared-links")


def _own_collections(request: PageRequest) -> list[Collection]:
    """Return the collections that the user owns."""
    readable = Collection.objects.filter(pk__in=request.access.writable).order_by("name")
    if not request.user.is_superuser:
        readable = readable.filter(memberships__user=request.user, memberships__role=Role.OWNER)
    return list(readable)

"""Links for people without an account: make, list, revoke; allow them for a collection."""

from typing import Final
from uuid import UUID

from django import forms
from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from citations.library.filters import find_source
from citations.notebook import answers, link_lists, link_terms, shared_links
from citations.notebook.shared_links import LIFETIME, LIFETIMES, MAX_LINKS, ShareTarget
from transcripts import collections
from transcripts.models import Collection
from transcripts.timecodes import milliseconds, parse_clock
from transcripts.views.collections import own_collection
from transcripts.views.requests import PageRequest, fragment, number_of, redirect_with_message

_DAYS: Final = tuple((days, f"{days} day{'s' if days > 1 else ''}") for days in LIFETIMES)


class LifetimeForm(forms.Form):
    """How long a link leads somewhere."""

    days = forms.TypedChoiceField(choices=_DAYS, coerce=int, required=False)

    def lifetime(self) -> int:
        return int(self.cleaned_data["days"] or LIFETIME) if self.is_valid() else LIFETIME


@require_safe
def show_links(request: PageRequest) -> HttpResponse:
    """List the user's links, expired ones too, and what the user decides about: others' links to
    own collections, and whether links are allowed there.
    """
    scope, user = request.access, request.user
    links = shared_links.list_links(scope, user)
    context = {
        "links": [(link, request.build_absolute_uri(link.path)) for link in links],
        "expired": link_lists.expired(scope, user)[:MAX_LINKS],
        "others": link_lists.of_others(scope, user).unexpired()[:MAX_LINKS],
        "collections": Collection.objects.filter(pk__in=link_lists.owned(scope, user)),
    }
    return render(request, "citations/shared_links.html", context)


@require_POST
def share_highlight(request: PageRequest, highlight_id: UUID) -> HttpResponse:
    back = reverse("highlight", args=[highlight_id])
    return _shared(request, ShareTarget(highlight=highlight_id), back)


@require_POST
def share_answer(request: PageRequest, answer_id: UUID) -> HttpResponse:
    answer = answers.find_answer(request.access, request.user, answer_id)
    conversation = reverse("conversation", args=[answer.conversation.uuid])
    return _shared(request, ShareTarget(answer=answer_id), f"{conversation}#answer-{answer_id}")


@require_POST
def share_citation(request: PageRequest, citation_id: UUID) -> HttpResponse:
    """Share the words of a citation, and nothing else of its answer."""
    back = reverse("citation", args=[citation_id])
    return _shared(request, ShareTarget(citation=citation_id), back)


@require_POST
def share_passage(request: PageRequest, source_id: UUID) -> HttpResponse:
    """Share a page, or a clip from a time until another."""
    source = find_source(request.access, str(source_id))
    first, last = (request.POST.get(name, "")[:40].strip() for name in ("from", "until"))
    times = (milliseconds(parse_clock(written) if written else None) for written in (first, last))
    start = shared_links.moment_of(source, next(times))
    end = shared_links.moment_of(source, next(times), is_end=True)
    page = number_of(request.POST.get("page", ""))
    target = ShareTarget(source=source_id, page=page, start=start, end=end)
    return _shared(request, target, reverse("source", args=[source_id]))


@require_POST
def revoke(request: PageRequest, link_id: UUID) -> HttpResponse:
    """End a link at once."""
    request.caller.require_write()
    shared_links.revoke(request.access, request.user, link_id)
    return redirect_with_message(request, _("The link leads nowhere now."), "shared-links")


@require_POST
def renew(request: PageRequest, link_id: UUID) -> HttpResponse:
    """Let an expired link lead somewhere again."""
    request.caller.require_write()
    shared_links.renew(request.access, request.user, link_id)
    text = _("The link leads somewhere again, for %(days)s days.") % {"days": LIFETIME}
    return redirect_with_message(request, text, "shared-links")


@require_POST
def allow(request: PageRequest, pk: int) -> HttpResponse:
    """Allow links to what a collection holds, or forbid them."""
    collection = own_collection(request, pk)
    is_allowed = request.POST.get("allowed") == "1"
    shared_links.allow_links(collection, is_allowed=is_allowed)
    message = (
        _("What “%(name)s” holds may be shared by links.")
        if is_allowed
        else _("What “%(name)s” holds cannot be shared by links any more.")
    )
    if request.POST.get("next") == "settings":
        return redirect_with_message(
            request, message % {"name": collection}, "collection-settings", pk=pk
        )
    return redirect_with_message(request, message % {"name": collection}, "shared-links")


def _shared(request: PageRequest, target: ShareTarget, back: str) -> HttpResponse:
    """Make a link, and show it in place or in the list; or say what keeps it from being made."""
    request.caller.require_write()
    days = LifetimeForm(request.POST).lifetime()
    with transaction.atomic():  # no links are allowed for what cannot be shared
        _allow_chosen(request, target)
        if shared_links.obstacles(request.access, request.user, target):
            return _refused(request, target, back, days)
        plays_file = request.POST.get("file") == "1"
        link = shared_links.share(
            request.access, request.user, target, days=days, plays_file=plays_file
        )
    if request.htmx:
        context = {"link": link, "address": request.build_absolute_uri(link.path)}
        return fragment(request, "citations/_share_made.html", context)
    messages.success(request, _("Whoever has the link below can read what it shows."))
    return redirect("shared-links")


def _allow_chosen(request: PageRequest, target: ShareTarget) -> None:
    """Allow links where the form says so, of what stands in the way. Raises ``Forbidden``."""
    chosen = request.POST.getlist("allow")
    if not chosen:
        return
    for collection in shared_links.obstacles(request.access, request.user, target):
        if str(collection.pk) in chosen:
            collections.require_owner(collection, request.user)
            request.access.require_write(collection.pk)
            shared_links.allow_links(collection, is_allowed=True)


def _refused(request: PageRequest, target: ShareTarget, back: str, days: int) -> HttpResponse:
    """Say which collections stand in the way, and who can allow links there."""
    hindering = shared_links.obstacles(request.access, request.user, target)
    terms = link_terms.of(request.access, request.user, hindering)
    names = ("page", "from", "until", "file")
    context = {
        "terms": terms,
        "days": days,
        "sent": {name: request.POST.get(name, "")[:40] for name in names},
        "back": back,
    }
    if request.htmx:
        return fragment(request, "citations/_share_refused.html", context)
    is_writer = all(obstacle.is_writable for obstacle in terms.obstacles)
    status = 409 if is_writer else 403
    return render(request, "citations/share_refused.html", context, status=status)

"""Links for people without an account: make, list, revoke; allow them for a collection."""

from collections.abc import Sequence
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
from citations.models import Source
from citations.notebook import answers, link_terms, shared_items, shared_links
from citations.notebook.shared_links import LIFETIME, LIFETIMES, MAX_LINKS, ShareTarget
from transcripts.core.errors import InvalidInput
from transcripts.core.views.requests import PageRequest, fragment, number_of, redirect_with_message
from transcripts.library import collections
from transcripts.models import Collection
from transcripts.text.timecodes import milliseconds, parse_clock
from transcripts.views.collections import own_collection

CLIP_FIELDS: Final = {"start": "from", "end": "until"}  # of the form

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
        "expired": shared_links.expired(scope, user)[:MAX_LINKS],
        "others": shared_links.of_others(scope, user).unexpired()[:MAX_LINKS],
        "collections": Collection.objects.filter(pk__in=shared_links.owned(scope, user)),
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
    page = number_of(request.POST.get("page", ""))
    try:
        start, end = (_moment(request, source, field) for field in CLIP_FIELDS)
        target = ShareTarget(source=source_id, page=page, start=start, end=end)
        return _shared(request, target, reverse("source", args=[source_id]))
    except InvalidInput as error:
        if not error.complaints:
            raise
        return _clip_again(request, source, error)


@require_POST
def revoke(request: PageRequest, link_id: UUID) -> HttpResponse:
    """End a link at once."""
    shared_links.revoke(request.access, request.user, link_id)
    return redirect_with_message(request, _("The link leads nowhere now."), "shared-links")


@require_POST
def renew(request: PageRequest, link_id: UUID) -> HttpResponse:
    """Let an expired link lead somewhere again."""
    shared_links.renew(request.access, request.user, link_id)
    text = _("The link works again, for %(days)s days.") % {"days": LIFETIME}
    return redirect_with_message(request, text, "shared-links")


@require_POST
def allow(request: PageRequest, pk: int) -> HttpResponse:
    """Allow links to what a collection holds, or forbid them."""
    collection = own_collection(request, pk)
    is_allowed = request.POST.get("allowed") == "1"
    shared_links.allow_links(collection, is_allowed=is_allowed)
    message = _("The contents of “%(name)s” can no longer be shared by link.")
    if is_allowed:
        message = _("The contents of “%(name)s” can now be shared by link.")
    message %= {"name": collection}
    if request.POST.get("next") == "settings":
        return redirect_with_message(request, message, "collection-settings", pk=pk)
    return redirect_with_message(request, message, "shared-links")


def _moment(request: PageRequest, source: Source, field: str) -> int | None:
    """Return a time of a clip (ms). Raises ``InvalidInput``, which names the field."""
    written = _sent(request)[CLIP_FIELDS[field]].strip()
    try:
        shown = milliseconds(parse_clock(written) if written else None)
    except InvalidInput as error:
        error.complaints = ((field, error.message),)
        raise
    return shared_items.moment_of(source, shown, is_end=field == "end")


def _sent(request: PageRequest) -> dict[str, str]:
    return {name: request.POST.get(name, "")[:40] for name in ("page", "from", "until", "file")}


def _clip_again(request: PageRequest, source: Source, error: InvalidInput) -> HttpResponse:
    """Show the form of a clip as it was sent, with the field that is wrong."""
    context = {
        "source": source,
        "player": source.video.player if source.video else "",
        "sent": _sent(request),
        "days": LifetimeForm(request.POST).lifetime(),
        "error": error,
        "wrong": CLIP_FIELDS[error.complaints[0][0]],
        "back": reverse("source", args=[source.uuid]),
    }
    if not request.htmx:
        return render(request, "citations/share_refused.html", context, status=422)
    refused = fragment(request, "citations/_share_form.html", context)
    refused.status_code = 422
    refused["HX-Retarget"] = f"#share-{source.uuid}"
    return refused


def _shared(request: PageRequest, target: ShareTarget, back: str) -> HttpResponse:
    """Make a link, and show it in place or in the list; or say what keeps it from being made."""
    days = LifetimeForm(request.POST).lifetime()
    with transaction.atomic():  # no links are allowed for what cannot be shared
        _allow_chosen(request, target)
        if hindering := shared_links.obstacles(request.access, request.user, target):
            return _refused(request, hindering, back, days)
        plays_file = request.POST.get("file") == "1"
        link = shared_links.share(
            request.access, request.user, target, days=days, plays_file=plays_file
        )
    if request.htmx:
        context = {"link": link, "address": request.build_absolute_uri(link.path)}
        return fragment(request, "citations/_share_made.html", context)
    messages.success(request, _("Anyone with the link below can read its contents."))
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


def _refused(
    request: PageRequest, hindering: Sequence[Collection], back: str, days: int
) -> HttpResponse:
    """Say which collections stand in the way, and who can allow links there."""
    terms = link_terms.of(request.access, request.user, hindering)
    context = {"terms": terms, "days": days, "sent": _sent(request), "back": back}
    if request.htmx:
        return fragment(request, "citations/_share_refused.html", context)
    is_writer = all(obstacle.is_writable for obstacle in terms.obstacles)
    status = 409 if is_writer else 403
    return render(request, "citations/share_refused.html", context, status=status)

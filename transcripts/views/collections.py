"""The pages of collections and their members."""

from collections.abc import Mapping
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from transcripts.core.errors import Conflict, InvalidInput
from transcripts.core.views.requests import PageRequest, redirect_with_message
from transcripts.forms import DescriptionForm, MemberForm, NameForm, require_valid
from transcripts.library import collections
from transcripts.models import Collection, Listening, Role


@require_POST
def create(request: PageRequest) -> HttpResponse:
    name = require_valid(NameForm(request.POST))["name"]
    collection = collections.create(name, owner=request.user)
    message = _("The collection “%(name)s” was created.") % {"name": collection}
    return redirect_with_message(request, message, "collection", pk=collection.pk)


@require_safe
def show_settings(request: PageRequest, pk: int) -> HttpResponse:
    """Show an owner what the collection is called, and its members."""
    collection = collections.find(request.access, pk)
    collections.require_owner(collection, request.user)
    return settings_page(request, collection)


@require_POST
def describe(request: PageRequest, pk: int) -> HttpResponse:
    """Change the name and, if it is sent, the description; or show again what cannot be saved."""
    collection = own_collection(request, pk)
    form = request.POST
    try:
        values = require_valid(DescriptionForm(form))
        sent = {key: values[key] for key in ("description", "listening") if key in form}
        collections.describe(collection, name=values["name"], **sent)
    except (InvalidInput, Conflict) as error:
        collection.refresh_from_db()
        details = {**form.dict(), "error": error}
        return settings_page(request, collection, details=details, status=422)
    return redirect_with_message(request, _("The collection was saved."), "collection", pk=pk)


@require_POST
def set_member(request: PageRequest, pk: int) -> HttpResponse:
    collection = own_collection(request, pk)
    form = MemberForm(request.POST)
    if not form.is_valid():
        return settings_page(request, collection, form=form, status=422)
    return member_set(request, collection, form)


@require_POST
def remove_member(request: PageRequest, pk: int, user: int) -> HttpResponse:
    collection = own_collection(request, pk)
    collections.remove_member(collection, user)
    if user == request.user.pk:
        return redirect_with_message(request, _("You are no longer a member."), "collections")
    return redirect_with_message(
        request, _("The member was removed."), "collection-settings", pk=pk
    )


@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: PageRequest, pk: int) -> HttpResponse:
    """Ask for confirmation, then delete the collection and its content."""
    collection = own_collection(request, pk)
    if request.method != "POST":
        return render(request, "transcripts/delete_collection.html", {"collection": collection})
    collections.delete(collection)
    message = _("The collection “%(name)s” was deleted.") % {"name": collection}
    return redirect_with_message(request, message, "collections")


def own_collection(request: PageRequest, pk: int) -> Collection:
    """Return a collection that the user owns and may change by this request."""
    collection = collections.find(request.access, pk)
    collections.require_owner(collection, request.user)
    request.access.require_write(pk)
    return collection


def member_set(request: PageRequest, collection: Collection, form: MemberForm) -> HttpResponse:
    """Make a user a member, or say that nobody here has this name, and what is next: whoever may
    make accounts is offered to make one.
    """
    values = dict(form.cleaned_data)
    try:
        collections.set_member(collection, **values)
    except InvalidInput as error:
        unknown = {"name": values["username"], "hint": error.hint}
        return settings_page(request, collection, form=form, unknown=unknown)
    about = {"user": values["username"], "role": Role(values["role"]).label, "name": collection}
    message = _("%(user)s is %(role)s of “%(name)s”.") % about
    return redirect_with_message(request, message, "collection-settings", pk=collection.pk)


def settings_page(
    request: PageRequest,
    collection: Collection,
    *,
    form: MemberForm | None = None,
    invitation: Mapping[str, Any] | None = None,
    unknown: Mapping[str, str] | None = None,
    details: Mapping[str, Any] | None = None,
    status: int = 200,
) -> HttpResponse:
    """Render the name and the members: with what could not be saved or added, the name that nobody
    here has, or who was just invited.
    """
    memberships = collections.members(collection)
    owners = [member.user_id for member in memberships if member.role == Role.OWNER]
    context = {
        "collection": collection,
        "memberships": memberships,
        "only_owner": owners[0] if len(owners) == 1 else None,
        "roles": Role.choices,
        "form": form,
        "invitation": invitation,
        "may_invite": request.user.has_perm("auth.add_user"),
        "unknown": unknown,
        "details": details
        or {
            "name": collection.title,
            "description": collection.description,
            "listening": collection.listening,
        },
        "listening": [("", _("as set up on this server")), *Listening.choices],
    }
    template = "transcripts/collection_settings.html"
    return render(request, template, context, status=status)

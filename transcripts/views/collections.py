"""The pages of collections and their members."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from transcripts import collections, library
from transcripts.forms import MemberForm, NameForm, require_valid
from transcripts.models import Collection, Role
from transcripts.views.requests import PageRequest, done


@require_safe
def list_collections(request: PageRequest) -> HttpResponse:
    roles = collections.roles_of(request.user)
    rows = [
        {"collection": collection, "role": roles(collection)}
        for collection in library.collections(request.access)
    ]
    return render(request, "transcripts/collections.html", {"rows": rows})


@require_POST
def create(request: PageRequest) -> HttpResponse:
    request.caller.require_write()
    name = require_valid(NameForm(request.POST))["name"]
    collection = collections.create(name, owner=request.user)
    message = f"The collection “{collection}” was created."
    return done(request, message, "collection", pk=collection.pk)


@require_safe
def show_collection(request: PageRequest, pk: int) -> HttpResponse:
    """Show a collection and, to an owner, its members."""
    collection = collections.find(request.access, pk)
    context: dict[str, Any] = {
        "collection": collection,
        "contents": collections.contents(collection),
        "role": collections.role_in(collection, request.user),
    }
    if context["role"] == Role.OWNER:
        context |= {
            "memberships": collection.memberships.select_related("user"),
            "roles": Role.choices,
        }
    return render(request, "transcripts/collection.html", context)


@require_POST
def rename(request: PageRequest, pk: int) -> HttpResponse:
    collection = _own(request, pk)
    collections.rename(collection, require_valid(NameForm(request.POST))["name"])
    return done(request, f"The collection is now called “{collection}”.", "collection", pk=pk)


@require_POST
def set_member(request: PageRequest, pk: int) -> HttpResponse:
    collection = _own(request, pk)
    values = require_valid(MemberForm(request.POST))
    collections.set_member(collection, **values)
    message = f"{values['username']} is {values['role']} of “{collection}”."
    return done(request, message, "collection", pk=pk)


@require_POST
def remove_member(request: PageRequest, pk: int, user: int) -> HttpResponse:
    collection = _own(request, pk)
    collections.remove_member(collection, user)
    if user == request.user.pk:
        return done(request, "You are no longer a member.", "collections")
    return done(request, "The member was removed.", "collection", pk=pk)


@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: PageRequest, pk: int) -> HttpResponse:
    """Ask for confirmation, then delete the collection and its content."""
    collection = _own(request, pk)
    if request.method != "POST":
        context = {"collection": collection, "contents": collections.contents(collection)}
        return render(request, "transcripts/delete_collection.html", context)
    collections.delete(collection)
    return done(request, f"The collection “{collection}” was deleted.", "collections")


def _own(request: PageRequest, pk: int) -> Collection:
    collection = collections.find(request.access, pk)
    collections.require_owner(collection, request.user)
    request.access.require_write(pk)
    return collection

"""Owners invite people who have no account yet: a new user, and a link that signs in once."""

from django.contrib.auth.models import User
from django.http import HttpResponse
from django.urls import reverse
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_POST

from kbsite.accounts import users
from kbsite.accounts.users import Invitation
from kbsite.models import SignInLink
from transcripts.core.errors import Conflict, Forbidden, InvalidInput
from transcripts.core.translation import translated_error
from transcripts.core.views.requests import PageRequest
from transcripts.forms import MemberForm
from transcripts.library import collections
from transcripts.models import Collection
from transcripts.views.collections import member_set, own_collection, settings_page


@require_POST
def invite(request: PageRequest, pk: int) -> HttpResponse:
    """Make a user who is a member of this collection, and show the sign-in link once.

    Whoever has an account becomes a member as by *Add*, without a link: it would be a way into
    somebody else's account.
    """
    collection = own_collection(request, pk)
    form = MemberForm(request.POST)
    if not form.is_valid():
        return settings_page(request, collection, form=form, status=422)
    name = form.cleaned_data["username"]
    if collections.find_user(name) is not None:
        return member_set(request, collection, form)
    try:
        _require_inviter(request)
        similar = User.objects.filter(username__iexact=name).first()
        if similar is not None:
            raise Conflict(
                f"There is already a user “{similar.username}”.", hint="Capital letters count."
            )
        guest = User(username=name)
        guest.set_unusable_password()
        users.add(guest, collection, role=form.cleaned_data["role"])
    except (Forbidden, InvalidInput, Conflict) as error:
        form.add_error("username", translated_error(error))
        status = 403 if isinstance(error, Forbidden) else 422
        return settings_page(request, collection, form=form, status=status)
    return _invited(request, collection, guest)


@require_POST
def invite_again(request: PageRequest, pk: int, user: int) -> HttpResponse:
    """Show another sign-in link for a member who has never signed in; the earlier one ends."""
    collection = own_collection(request, pk)
    _require_inviter(request)
    guest = users.guests(collection, of=request.user).get(user)
    if guest is None:
        raise Conflict(
            "Only members who were invited and have never signed in get another link.",
            hint="On the server, `kb user link NAME` makes one for anybody.",
        )
    return _invited(request, collection, guest, is_again=True)


def _require_inviter(request: PageRequest) -> None:
    if not request.user.has_perm("auth.add_user"):
        raise Forbidden("You may not make accounts.", hint="Ask the operator of this server.")


@sensitive_variables("secret", "address")
def _invited(
    request: PageRequest, collection: Collection, guest: User, *, is_again: bool = False
) -> HttpResponse:
    secret = SignInLink.issue(guest)
    about = Invitation(by=request.user.get_username(), collection=collection.pk)
    path = reverse("sign-in-link", args=[secret])
    address = request.build_absolute_uri(f"{path}?{about.query}")
    ends = SignInLink.objects.get(user=guest).expires_at
    new = {"guest": guest, "address": address, "ends": ends, "is_again": is_again}
    return settings_page(request, collection, invitation=new)

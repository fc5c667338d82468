"""`kb user`: add and list users, make a sign-in link; and the owner of the library."""

import sys
from typing import Annotated

import typer
from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.models import AbstractBaseUser, User
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import transaction

from kbsite.accounts import users
from kbsite.cli.options import InCollection, Json, argument, user_names
from kbsite.cli.terminal import minute, print_json, print_result, table
from kbsite.library import server_lock
from kbsite.library.database import open_collection, open_library
from kbsite.models import SignInLink
from kbsite.schemas import UserOut
from transcripts.core.errors import Conflict, InvalidInput, NotFound
from transcripts.models import Collection, Membership, Role

OWNER = "owner"

app = typer.Typer(
    add_completion=False, no_args_is_help=True, help="Add and list users, or create a sign-in link."
)


@app.command("add")
def add_user(
    name: Annotated[str, typer.Argument(help="The name to sign in with.")],
    admin: Annotated[
        bool,
        typer.Option(
            "--admin",
            help="Allow the user to see and change everything, including the admin pages.",
        ),
    ] = False,
    role: Annotated[Role, typer.Option(help="The role in the collection.")] = Role.VIEWER,
    collection: InCollection = "",
    password_stdin: Annotated[
        bool, typer.Option("--password-stdin", help="Read the password from the standard input.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Add a user and make them a member of a collection (default: the first one)."""
    password = (
        sys.stdin.readline().rstrip("\r\n")
        if password_stdin
        else typer.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
    )
    member_of = open_collection(collection)
    user = User(username=name, is_superuser=admin, is_staff=admin)
    try:
        validate_password(password, user)
    except ValidationError as error:
        raise InvalidInput(
            " ".join(error.messages),
            hint="A password has at least 8 characters and is not a common one.",
        ) from None
    user.set_password(password)
    users.add(user, member_of, role=role)
    added = UserOut.read(user)
    print_result(f"Added {added.name}: {_permissions(added)}.", added, as_json=as_json)


@app.command("list")
def list_users(as_json: Json = False) -> None:
    """List the users and their permissions."""
    open_library()
    rows = [UserOut.read(user) for user in get_user_model().objects.order_by("username")]
    if as_json:
        print_json(rows)
    else:
        lines = [
            (user.name, _permissions(user), minute(user.signed_in_at) or "never") for user in rows
        ]
        table(("Name", "Permissions", "Last sign-in"), lines, empty="There are no users yet.")


@app.command()
def link(
    name: Annotated[
        str, argument("[NAME]", "The user's name; unset: the owner.", autocompletion=user_names)
    ] = "",
    as_json: Json = False,
) -> None:
    """Create a one-time sign-in link for a user, valid for a day."""
    open_library()
    user = find_user(name)
    address = sign_in_link(user, base=server_lock.public_url())
    print_result(address, {"user": user.get_username(), "link": address}, as_json=as_json)


def find_user(name: str) -> User:
    """Return a user by name, or the owner if it is empty. Raises ``NotFound``."""
    if not name:
        return owner()
    user = get_user_model().objects.filter(username=name, is_active=True).first()
    if user is None:
        raise NotFound(
            f"There is no user “{name}”.",
            hint="`kb user list` lists the users, `kb user add NAME` adds one.",
        )
    return user


def owner() -> User:
    """Return the library's owner, or create one: a superuser without a password."""
    users = get_user_model().objects.filter(is_superuser=True, is_active=True).order_by("pk")
    return users.filter(username=OWNER).first() or users.first() or _create_owner()


def sign_in_link(user: AbstractBaseUser, *, base: str = "") -> str:
    """Return an address that signs this user in, once, within a day."""
    return f"{(base or settings.PUBLIC_URL).rstrip('/')}/sign-in/{SignInLink.issue(user)}/"


def _permissions(user: UserOut) -> str:
    roles = [f"{role} of {slug}" for slug, role in user.roles.items()]
    granted = ["everything"] if user.admin else roles or ["nothing yet"]
    return ", ".join(granted) + ("" if user.active else " (not active)")


@transaction.atomic
def _create_owner() -> User:
    user, created = get_user_model().objects.get_or_create(
        username=OWNER, defaults={"is_superuser": True, "is_staff": True}
    )
    if created:
        user.set_unusable_password()
        user.save(update_fields=["password"])
    elif not (user.is_superuser and user.is_active):
        raise Conflict(
            f"The user “{OWNER}” is not an active superuser, and there is no other.",
            hint="Add one: kb user add NAME --admin",
        )
    Membership.objects.get_or_create(
        collection=Collection.objects.default(), user=user, defaults={"role": Role.OWNER}
    )
    return user

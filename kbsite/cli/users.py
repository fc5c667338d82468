"""`kb user`: add and list users, make a sign-in link."""

import sys
from dataclasses import dataclass
from typing import Annotated

import typer
from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from kbsite.cli import first_start, server_lock
from kbsite.cli.collections import find_collection
from kbsite.cli.database import open_library
from kbsite.cli.options import InCollection, Json, UserName
from kbsite.cli.terminal import print_json, print_result, table
from transcripts.errors import Conflict, InvalidInput
from transcripts.models import Collection, Membership, Role

app = typer.Typer(no_args_is_help=True, help="Add and list users, or make a sign-in link.")


@dataclass(frozen=True, slots=True)
class UserSummary:
    """A user, and the roles by collection."""

    name: str
    admin: bool
    active: bool
    roles: dict[str, str]
    last_login: str | None

    @property
    def permissions(self) -> str:
        """What the user may do, in words."""
        roles = [f"{role} of {slug}" for slug, role in self.roles.items()]
        granted = ["everything"] if self.admin else roles or ["nothing yet"]
        return ", ".join(granted) + ("" if self.active else " (not active)")


@app.command("add")
def add_user(
    name: Annotated[str, typer.Argument(help="The name to sign in with.")],
    admin: Annotated[
        bool,
        typer.Option("--admin", help="May see and change everything, including the admin pages."),
    ] = False,
    role: Annotated[Role, typer.Option(help="The role in the collection.")] = Role.EDITOR,
    collection: InCollection = "",
    password_stdin: Annotated[
        bool, typer.Option("--password-stdin", help="Read the password from the standard input.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Add a user as a member of a collection, by default the library."""
    password = (
        sys.stdin.readline().rstrip("\r\n")
        if password_stdin
        else typer.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
    )
    member_of = find_collection(open_library(), collection)
    user = User(username=name, is_superuser=admin, is_staff=admin)
    _set_password(user, password)
    summary = _save(user, member_of, role)
    print_result(f"Added {summary.name}: {summary.permissions}.", summary, as_json=as_json)


@app.command("list")
def list_users(as_json: Json = False) -> None:
    """List the users and their permissions."""
    open_library()
    users = [_summary(user) for user in get_user_model().objects.order_by("username")]
    if as_json:
        print_json(users)
    else:
        table(
            ("Name", "Permissions", "Last sign-in"),
            ((user.name, user.permissions, user.last_login or "never") for user in users),
            empty="There are no users yet.",
        )


@app.command()
def link(name: UserName = "", as_json: Json = False) -> None:
    """Make a link that signs a user in, once, within a day."""
    open_library()
    user = first_start.find_user(name)
    address = first_start.sign_in_link(user, base=server_lock.public_url())
    print_result(address, {"user": user.get_username(), "link": address}, as_json=as_json)


def _set_password(user: User, password: str) -> None:
    try:
        User._meta.get_field("username").clean(user.username, user)
        validate_password(password, user)
    except ValidationError as error:
        raise InvalidInput(
            " ".join(error.messages),
            hint="A password has at least 8 characters and is not a common one.",
        ) from None
    user.set_password(password)


def _save(user: User, collection: Collection, role: str) -> UserSummary:
    try:
        with transaction.atomic():
            user.save()
            Membership.objects.create(collection=collection, user=user, role=role)
    except IntegrityError:
        raise Conflict(
            f"There is already a user “{user.username}”.", hint="`kb user list` lists them."
        ) from None
    return _summary(user)


def _summary(user: User) -> UserSummary:
    memberships = Membership.objects.filter(user=user).order_by("collection__slug")
    return UserSummary(
        name=user.get_username(),
        admin=user.is_superuser,
        active=user.is_active,
        roles=dict(memberships.values_list("collection__slug", "role")),
        last_login=user.last_login.isoformat(timespec="minutes") if user.last_login else None,
    )

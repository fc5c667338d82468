"""New users: whoever signs in by password or link, as a member of one collection."""

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from transcripts import audit
from transcripts.audit import Action
from transcripts.errors import Conflict, InvalidInput
from transcripts.models import Collection, Membership, Role


def add(user: User, collection: Collection, *, role: Role | str) -> None:
    """Store a new user as a member of a collection, and of nothing else.

    Raises ``InvalidInput`` for a name that cannot be used, and ``Conflict`` for one that is taken.
    """
    user.username = User.normalize_username(user.username)
    try:
        User._meta.get_field("username").clean(user.username, user)
    except ValidationError as error:
        raise InvalidInput(" ".join(error.messages), hint="Choose another name.") from None
    try:
        with transaction.atomic():
            user.save(force_insert=True)
            Membership.objects.create(collection=collection, user=user, role=role)
            audit.record(Action.ADD, "user", user.username, collection=collection, role=str(role))
    except IntegrityError:
        raise Conflict(
            f"There is already a user “{user.username}”.", hint="`kb user list` lists them."
        ) from None

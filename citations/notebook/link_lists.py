"""Shared links beside one's own that lead somewhere: expired ones, and those of others."""

from django.contrib.auth.models import User

from citations.models import SharedLink
from citations.models.shared_links import SharedLinkQuerySet
from transcripts.core.scope import Scope
from transcripts.models import Membership, Role


def owned(scope: Scope, user: User | None) -> frozenset[int]:
    """Return the ids of the collections that a user owns and may change now."""
    if user is None or user.is_superuser:
        return scope.writable
    own = Membership.objects.filter(user=user, role=Role.OWNER, collection__in=scope.writable)
    return frozenset(own.values_list("collection", flat=True))


def of_others(scope: Scope, user: User | None) -> SharedLinkQuerySet:
    """Return the links of others to collections that a user owns, latest first."""
    others = SharedLink.objects.exclude(author=user).showing(owned(scope, user))
    return others.select_related("author", "highlight__source", "answer", "source")


def expired(scope: Scope, user: User | None) -> SharedLinkQuerySet:
    """Return the links of a user that have expired, latest first."""
    own = SharedLink.objects.of(scope, user).expired()
    return own.select_related("highlight__source", "answer", "source")

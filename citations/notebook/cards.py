"""Highlights as cards, many at once: Anki gets only these, once there are any."""

from django.contrib.auth.models import User
from django.utils import timezone

from citations.models import Highlight
from citations.models.highlights import HighlightQuerySet
from citations.notebook import highlights
from citations.notebook.highlights import HighlightFilter
from transcripts.scope import Scope


def count_others(scope: Scope, user: User | None, filter: HighlightFilter) -> int:
    """Return how many of a user's own highlights of a filter are no cards."""
    return _others(scope, user, filter).count()


def make(scope: Scope, user: User | None, filter: HighlightFilter) -> int:
    """Make cards of a user's own highlights of a filter; return how many were none before.

    Raises what ``highlights.matching`` raises.
    """
    rows = Highlight.objects.filter(pk__in=_others(scope, user, filter).order_by().values("pk"))
    return rows.update(is_card=True, updated_at=timezone.now())


def _others(scope: Scope, user: User | None, filter: HighlightFilter) -> HighlightQuerySet:
    return highlights.matching(scope, user, filter).filter(is_card=False, author=user)

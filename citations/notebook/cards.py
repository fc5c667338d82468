"""Highlights as cards, many at once: Anki gets only these, once there are any."""

from collections.abc import Iterable

from django.contrib.auth.models import User
from django.utils import timezone

from citations.models import Highlight
from citations.models.highlights import HighlightQuerySet
from citations.notebook import gaps, highlights
from citations.notebook.highlights import HighlightFilter, PlacedHighlight
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


def hidden_words(placed: Iterable[PlacedHighlight]) -> dict[int, str]:
    """Return what those highlights hide that are cards, by their keys; by a constant number of
    queries.
    """
    shown = [highlight for highlight in placed if highlight.row.is_card]
    cards = gaps.of_each((highlight.row, highlight.locator) for highlight in shown)
    return {highlight.row.pk: gap.words for highlight, gap in zip(shown, cards, strict=True)}


def _others(scope: Scope, user: User | None, filter: HighlightFilter) -> HighlightQuerySet:
    return highlights.matching(scope, user, filter).filter(is_card=False, author=user)

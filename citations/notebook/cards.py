"""What highlights that are cards hide, many at once."""

from collections.abc import Iterable

from citations.notebook import gaps
from citations.notebook.highlights import PlacedHighlight


def hidden_words(placed: Iterable[PlacedHighlight]) -> dict[int, str]:
    """Return what those highlights hide that are cards, by their keys; by a constant number of
    queries.
    """
    shown = [highlight for highlight in placed if highlight.row.is_card]
    cards = gaps.gaps_of((highlight.row, highlight.locator) for highlight in shown)
    return {highlight.row.pk: gap.words for highlight, gap in zip(shown, cards, strict=True)}

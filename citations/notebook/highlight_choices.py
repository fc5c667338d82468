"""What highlights can be filtered by: the sources and the tags that they have."""

from dataclasses import dataclass
from typing import Final

from django.contrib.auth.models import User

from citations.models import Highlight, Source
from transcripts.core.alphabet import alphabet_key, alphabetical
from transcripts.core.scope import Scope

MAX_CHOICES: Final = 200  # sources, and tags


@dataclass(frozen=True, slots=True, kw_only=True)
class HighlightChoices:
    """What there is to filter by."""

    sources: tuple[Source, ...]
    tags: tuple[str, ...]


def choices(scope: Scope, user: User | None) -> HighlightChoices:
    """Return the sources and the tags of the visible highlights."""
    visible = Highlight.objects.readable(scope, user).order_by()
    sources = Source.objects.filter(pk__in=visible.values("source"))
    tagged = visible.exclude(tags=[]).values_list("tags", flat=True)
    tags = {tag for tags in tagged[: 50 * MAX_CHOICES] for tag in tags}
    return HighlightChoices(
        sources=tuple(sources.order_by(alphabetical("title"), "pk")[:MAX_CHOICES]),
        tags=tuple(sorted(tags, key=alphabet_key)[:MAX_CHOICES]),
    )

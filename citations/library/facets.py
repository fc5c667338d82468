"""List what a search can be narrowed to: the values that visible sources have."""

from dataclasses import dataclass
from typing import Final

from django.db.models import Count, Func, TextField

from citations.models import Source
from transcripts.models import Collection
from transcripts.scope import Scope

MOST: Final = 200  # values of one kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Facets:
    """Values in the order of display; ``collections`` are pairs (slug, name)."""

    collections: tuple[tuple[str, str], ...] = ()
    kinds: tuple[str, ...] = ()
    channels: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()


def facets(scope: Scope) -> Facets:
    """Return the ``MOST`` most common values of each kind, in alphabetical order."""
    return Facets(
        collections=tuple(Collection.objects.visible(scope).values_list("slug", "name")),
        kinds=_common(scope, "kind"),
        channels=_common(scope, "author"),
        tags=_tags(scope),
        languages=_common(scope, "language"),
    )


def _common(scope: Scope, field: str) -> tuple[str, ...]:
    sources = Source.objects.visible(scope).exclude(**{field: ""}).order_by()
    rows = sources.values_list(field).annotate(count=Count("pk")).order_by("-count")[:MOST]
    return tuple(sorted((value for value, _ in rows), key=str.casefold))


def _tags(scope: Scope) -> tuple[str, ...]:
    each = Func(
        "tags", function="jsonb_array_elements_text", output_field=TextField(), set_returning=True
    )
    tagged = Source.objects.visible(scope).exclude(tags=[]).order_by().annotate(tag=each)
    return tuple(tagged.values_list("tag", flat=True).distinct().order_by("tag")[:MOST])

"""What a search can be narrowed to: the collections, kinds, channels, tags and languages that the visible sources have."""

from dataclasses import dataclass
from typing import Final

from django.db.models import Count, Func, TextField

from citations.models import Source
from transcripts.models import Collection
from transcripts.scope import Scope

MOST: Final = 200  # values of one kind; more could not be chosen from anyway


@dataclass(frozen=True, slots=True, kw_only=True)
class Facets:
    """The values there are, in the order they are offered in. ``collections`` are pairs of slug and name."""

    collections: tuple[tuple[str, str], ...] = ()
    kinds: tuple[str, ...] = ()
    channels: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()


def facets(scope: Scope) -> Facets:
    """Return the values that visible sources have, of each kind the ``MOST`` that are most common, in alphabetical order."""
    return Facets(
        collections=tuple(Collection.objects.visible(scope).values_list("slug", "name")),
        kinds=_common(scope, "kind"),
        channels=_common(scope, "author"),
        tags=_tags(scope),
        languages=_common(scope, "language"),
    )


def _common(scope: Scope, field: str) -> tuple[str, ...]:
    rows = (
        Source.objects.visible(scope)
        .exclude(**{field: ""})
        .order_by()
        .values_list(field)
        .annotate(count=Count("pk"))
    )
    return tuple(sorted((value for value, _ in rows.order_by("-count")[:MOST]), key=str.casefold))


def _tags(scope: Scope) -> tuple[str, ...]:
    each = Func(
        "tags", function="jsonb_array_elements_text", output_field=TextField(), set_returning=True
    )
    found = (
        Source.objects.visible(scope)
        .exclude(tags=[])
        .order_by()
        .annotate(one=each)
        .values_list("one", flat=True)
        .distinct()
        .order_by("one")
    )
    return tuple(found[:MOST])

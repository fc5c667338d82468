"""Delete rows with all that belongs to them, while other processes add to them."""

from collections.abc import Iterable
from functools import cache
from graphlib import TopologicalSorter
from typing import Any

from django.db import transaction
from django.db.models import CASCADE, Model, Q, QuerySet
from django.db.models.deletion import get_candidate_relations_to_delete

_Models = dict[type[Model], list[tuple[str, type[Model]]]]


def delete(rows: QuerySet[Any]) -> int:
    """Delete rows and what belongs to them; return how many rows there were, theirs included.

    Django first reads what belongs to a row, then deletes it: a row that is added in between fails
    the deletion. So parents are locked before their children are read.
    """
    with transaction.atomic():
        root: type[Model] = rows.model
        keys = {root: _lock(rows)}
        for model, references in _descendants(root).items():
            belonging = Q(pk__in=())
            for field, parent in references:
                belonging |= Q((f"{field}__in", keys[parent]))
            keys[model] = _lock(model._base_manager.filter(belonging))
        return rows.delete()[0]


def delete_row(row: Model) -> None:
    """Delete a row and what belongs to it."""
    delete(type(row)._base_manager.filter(pk=row.pk))


def _lock(rows: QuerySet[Any]) -> list[Any]:
    """Lock rows for deletion, which also keeps others from adding rows that refer to them."""
    locked = rows.order_by("pk").select_for_update(of=("self",))
    return list(locked.values_list("pk", flat=True))


@cache
def _descendants(root: type[Model]) -> _Models:
    """Return the models to lock below one, parents first, with their references to parents.

    Those to which nothing refers are left out.
    """
    references: _Models = {root: []}
    models = [root]
    for model in models:  # which grows
        relations: Iterable[Any] = get_candidate_relations_to_delete(model._meta)
        for relation in relations:
            child = relation.related_model
            is_referred_to = any(get_candidate_relations_to_delete(child._meta))
            if relation.on_delete is CASCADE and is_referred_to:
                if child not in references:
                    references[child] = []
                    models.append(child)
                references[child].append((relation.field.name, model))
    graph = {model: {parent for _, parent in pairs} for model, pairs in references.items()}
    order = TopologicalSorter(graph).static_order()
    return {model: references[model] for model in order if model is not root}

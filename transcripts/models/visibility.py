"""Which rows a scope may read: those of the collections that it may read."""

from typing import Any, ClassVar, Self, TypeVar

from django.db import models

from transcripts.scope import Scope

_Row = TypeVar("_Row", bound=models.Model)
_QuerySet = TypeVar("_QuerySet", bound=models.QuerySet[Any])


def readable(rows: _QuerySet, scope: Scope, collection_path: str = "collection") -> _QuerySet:
    """Keep the rows whose collection, to which the path leads, the scope may read."""
    return rows.filter(**{f"{collection_path}__in": scope.readable})


class VisibleQuerySet(models.QuerySet[_Row]):
    collection_path: ClassVar[str] = "collection"

    def visible(self, scope: Scope) -> Self:
        """Keep the rows that the scope may read."""
        return readable(self, scope, self.collection_path)

"""Conditions that are combined, as Strapi's users know them: ``filters[$or][0][title][$eq]=…``.

Below ``$or``, ``$and`` and ``$not`` stand the operators that a resource compares its fields by.
"""

import re
from collections.abc import Iterator, Mapping
from functools import reduce
from operator import and_, or_
from typing import Any, Final

from django.core.exceptions import ValidationError as FormError
from django.db.models import Q
from django_filters import Filter
from rest_framework.exceptions import ValidationError

from kbsite.content.filters import SecondsFilter
from kbsite.content.requests import UNKNOWN

MAX_CONDITIONS: Final = 30
DEEPEST: Final = 4  # $or, $and and $not within each other
EMPTY: Final = "a value is expected"
_NAME: Final = re.compile(r"filters((?:\[[^\[\]]+\])*\[\$(?:or|and|not)\](?:\[[^\[\]]+\])+)")
_PART: Final = re.compile(r"\[([^\[\]]+)\]")

Tree = dict[str, Any]  # whose leaves are name and value of a parameter
Filters = Mapping[str, Filter]


def is_combined(name: str) -> bool:
    """Tell whether a parameter has conditions that are combined."""
    return bool(_NAME.fullmatch(name))


def read(parameters: Mapping[str, str], filters: Filters) -> Q:
    """Return the combined conditions among the parameters.

    Raises ``ValidationError`` by the parameter's name for what a resource does not have.
    """
    combined = {name: value for name, value in parameters.items() if is_combined(name)}
    if len(combined) > MAX_CONDITIONS:
        raise ValidationError({"filters": [f"at most {MAX_CONDITIONS} conditions are expected"]})
    tree: Tree = {}
    for name, value in combined.items():
        _plant(tree, _PART.findall(name), (name, value))
    return _group(tree, filters)


def _plant(tree: Tree, path: list[str], leaf: tuple[str, str]) -> None:
    if sum(part in ("$or", "$and", "$not") for part in path) > DEEPEST:
        raise ValidationError({leaf[0][:100]: [f"at most {DEEPEST} levels are expected"]})
    *parents, last = path
    for part in parents:
        tree = tree.setdefault(part, {})
        if not isinstance(tree, dict):
            raise ValidationError({leaf[0][:100]: [UNKNOWN]})
    if last in tree:
        raise ValidationError({leaf[0][:100]: [UNKNOWN]})
    tree[last] = leaf


def _group(tree: Any, filters: Filters) -> Q:
    """Return that all members of a group hold."""
    total = Q()
    for key, branch in _branches(tree):
        match key:
            case "$or" | "$and":
                total &= reduce(or_ if key == "$or" else and_, _members(branch, filters))
            case "$not":
                total &= ~_group(branch, filters)
            case field:
                total &= _field(field, branch, filters)
    return total


def _members(tree: Any, filters: Filters) -> Iterator[Q]:
    for key, branch in _branches(tree):
        if not key.isdecimal():
            raise ValidationError({_name(branch): ["a number is expected after $or and $and"]})
        yield _group(branch, filters)


def _field(field: str, tree: Any, filters: Filters) -> Q:
    total = Q()
    for operator, branch in _branches(tree):
        if operator == "$not":
            total &= ~_field(field, branch, filters)
        elif isinstance(branch, tuple):
            total &= _condition(filters.get(f"filters[{field}][{operator}]"), *branch)
        else:
            raise ValidationError({_name(branch): [UNKNOWN]})
    return total


def _condition(filter: Filter | None, name: str, text: str) -> Q:
    if filter is None:
        raise ValidationError({name[:100]: [UNKNOWN]})
    field = filter.field
    try:
        value = field.clean(field.widget.value_from_datadict({name: text}, {}, name))
    except FormError as error:
        raise ValidationError({name[:100]: error.messages}) from None
    if value in ("", None, []):
        raise ValidationError({name[:100]: [EMPTY]})
    if isinstance(filter, SecondsFilter):
        value = filter.stored(value)
    condition = Q(**{f"{filter.field_name}__{filter.lookup_expr}": value})
    return ~condition if filter.exclude else condition


def _branches(tree: Any) -> Iterator[tuple[str, Any]]:
    if not isinstance(tree, dict):
        raise ValidationError({_name(tree): [UNKNOWN]})
    yield from tree.items()


def _name(branch: Any) -> str:
    """Return the name of a parameter in a branch."""
    while isinstance(branch, dict):
        branch = next(iter(branch.values()))
    name: str = branch[0]
    return name[:100]

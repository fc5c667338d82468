"""The returned part of a resource: some of its fields, and relations in place of their references.

``fields=title,tags`` and ``populate=video.collection``, or with brackets as Strapi has it:
``populate[video][fields]=title``.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Self

from rest_framework.exceptions import ValidationError
from rest_framework.serializers import BaseSerializer

FIELDS: Final = "fields"
POPULATE: Final = "populate"
ALWAYS: Final = frozenset({"pk", "id"})
DEEPEST: Final = 2  # relations of relations
MAX_NAMES: Final = 50  # names in a parameter
_NESTED: Final = re.compile(r"populate((?:\[\w+\])+)")
_PART: Final = re.compile(r"\[(\w+)\]")


@dataclass(slots=True)
class Selection:
    """Some fields of a resource (none: all), and the relations that are populated."""

    fields: set[str] = field(default_factory=set)
    relations: dict[str, "Selection"] = field(default_factory=dict)

    @classmethod
    def read(cls, parameters: Mapping[str, Iterable[str]], serializer: Any) -> Self:
        """Read the parameters of a request. Raises ``ValidationError`` by their names."""
        selection = cls()
        for name, values in parameters.items():
            names = [part.strip() for value in values for part in value.split(",")]
            if name == FIELDS:
                selection._choose((), names, serializer, name)
            elif name == POPULATE:
                selection._populate((), names, serializer, name)
            elif nested := _NESTED.fullmatch(name):
                path = _PART.findall(nested[1])
                selection._nest(path, names, serializer, name)
        return selection

    def apply(self, serializer: BaseSerializer[Any]) -> None:
        """Leave the chosen fields in a serializer, and put relations in."""
        target: Any = getattr(serializer, "child", serializer)
        names = self.fields | ALWAYS | self.relations.keys()
        for name in list(target.fields) if self.fields else ():
            if name not in names:
                target.fields.pop(name)
        for name, selection in self.relations.items():
            related, source = target.relations[name]
            about = {} if source == name else {"source": source}
            target.fields[name] = related(read_only=True, **about)
            selection.apply(target.fields[name])

    def _nest(self, path: list[str], names: list[str], serializer: Any, name: str) -> None:
        """Read what stands in brackets: relations, at the end perhaps fields or populate."""
        relations = [part for part in path if part not in (FIELDS, POPULATE)]
        if path[-1] == FIELDS:
            self._choose(relations, names, serializer, name)
        elif path[-1] == POPULATE:
            self._populate(relations, names, serializer, name)
        elif names in (["true"], ["*"]):
            self._at(relations, serializer, name)
        else:
            raise ValidationError({name[:100]: ["true is expected"]})

    def _choose(
        self, path: Iterable[str], names: list[str], serializer: Any, parameter: str
    ) -> None:
        selection, serializer = self._at(path, serializer, parameter)
        allowed = serializer().fields.keys()
        if unknown := [name for name in names if name not in allowed]:
            _refuse(parameter, unknown[0])
        selection.fields |= set(names)

    def _populate(
        self, path: Iterable[str], names: list[str], serializer: Any, parameter: str
    ) -> None:
        if len(names) > MAX_NAMES:
            raise ValidationError({parameter[:100]: [f"at most {MAX_NAMES} names are expected"]})
        selection, serializer = self._at(path, serializer, parameter)
        depth = len(list(path))
        for name in serializer.relations if names == ["*"] else names:
            selection._at(name.split("."), serializer, parameter, depth=depth)

    def _at(
        self, path: Iterable[str], serializer: Any, parameter: str, *, depth: int = 0
    ) -> tuple["Selection", Any]:
        """Return the selection at a path of relations, which are populated, and its serializer."""
        selection: Selection = self
        for level, name in enumerate(path, start=depth + 1):
            if name not in serializer.relations:
                _refuse(parameter, name)
            if level > DEEPEST:
                deep = f"at most {DEEPEST} relations in a row are expected"
                raise ValidationError({parameter[:100]: [deep]})
            selection = selection.relations.setdefault(name, Selection())
            serializer = serializer.relations[name][0]
        return selection, serializer


def is_selection(name: str) -> bool:
    """Tell whether a parameter chooses the returned part."""
    return name in (FIELDS, POPULATE) or bool(_NESTED.fullmatch(name))


def paths(serializer: Any, *, depth: int = DEEPEST) -> list[str]:
    """Return all relations that can be populated, such as video.collection."""
    if not depth:
        return []
    return [
        path
        for name, (related, _) in serializer.relations.items()
        for path in (name, *(f"{name}.{rest}" for rest in paths(related, depth=depth - 1)))
    ]


def parameters(serializer: Any) -> list[dict[str, Any]]:
    """Describe the parameters."""
    fields = _listed(serializer().fields)
    described = [_described(FIELDS, f"^{fields}$", "Only these fields.")]
    if relations := paths(serializer):
        about = "Relations to return in place of their references; *: all of the resource's."
        described.append(_described(POPULATE, rf"^(\*|{_listed(relations)})$", about))
    return described


def _listed(names: Iterable[str]) -> str:
    name = "|".join(map(re.escape, names))
    return f"({name})(,({name}))*"


def _described(name: str, pattern: str, about: str) -> dict[str, Any]:
    schema = {"type": "string", "maxLength": 1000, "pattern": pattern}
    where = {"name": name, "in": "query", "required": False}
    return {**where, "schema": schema, "description": about}


def joins(selection: Selection, serializer: Any, prefix: str = "") -> list[str]:
    """Return what a query has to select with a resource, for its relations and their references."""
    joined = []
    for name, inner in selection.relations.items():
        related, source = serializer.relations[name]
        path = prefix + source.replace(".", "__")
        references = (reference.replace(".", "__") for _, reference in related.relations.values())
        joined += [path, *(f"{path}__{reference}" for reference in references)]
        joined += joins(inner, related, f"{path}__")
    return joined


def _refuse(parameter: str, name: str) -> None:
    noun = "field" if parameter.endswith((FIELDS, f"[{FIELDS}]")) else "relation"
    raise ValidationError({parameter[:100]: [f"“{name[:100]}” is no {noun} here"]})

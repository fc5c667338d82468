"""What the tables share: nothing in them grows with the rows there are."""

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from django.contrib import admin, messages
from django.contrib.auth import get_permission_codename
from django.db.models import CASCADE, Model, QuerySet
from django.db.models.functions import Length
from django.http import HttpRequest

from transcripts.errors import KnowledgeBaseError

PARSED_AT_ONCE = 50  # what one action parses while the page waits
QUEUED_AT_ONCE = 500  # jobs that one action makes while the page waits
DELETED_AT_ONCE = 500  # rows in one statement

if TYPE_CHECKING:  # Django's own classes cannot be subscripted when they run
    Admin = admin.ModelAdmin[Any]
else:
    Admin = admin.ModelAdmin


def what_goes(rows: QuerySet[Any]) -> dict[type[Model], int]:
    """Count what deleting these rows would delete, themselves first: one counting query for each kind, however many there are."""
    counts: dict[type[Model], int] = {}
    waiting: list[QuerySet[Any]] = [rows.order_by()]
    for doomed in waiting:
        if doomed.model not in counts:
            counts[doomed.model] = doomed.count()
            waiting += [
                _dependents(relation, doomed)
                for relation in doomed.model._meta.get_fields(include_hidden=True)
                if _cascades(relation)
            ]
    return {model: count for model, count in counts.items() if count}


class Table(Admin):
    """What all tables share: no second count of all rows, deletions told by counts and done in batches, work for those who may change things."""

    show_full_result_count = False
    list_per_page = 50
    list_max_show_all = 200

    def get_deleted_objects(
        self, objs: Any, request: HttpRequest
    ) -> tuple[list[Any], dict[Any, int], set[Any], list[Any]]:
        """Return what deleting would delete: numbers, where Django would load and list every row."""
        rows = (
            objs
            if isinstance(objs, QuerySet)
            else self.model._default_manager.filter(pk__in=[one.pk for one in objs])
        )
        counts = what_goes(rows)
        # Through tables and the like have no page of their own here, and no permission that anybody is given.
        lacking = {
            model._meta.verbose_name
            for model in counts
            if self.admin_site.is_registered(model) and not may(request, "delete", model)
        }
        named = {str(model._meta.verbose_name_plural): count for model, count in counts.items()}
        return [f"{count:,} {name}" for name, count in named.items()], named, lacking, []

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        """Delete some at a time, so that neither memory nor a statement grows with the selection."""
        keys = list(queryset.order_by().values_list("pk", flat=True))
        for start in range(0, len(keys), DELETED_AT_ONCE):
            self.model._default_manager.filter(pk__in=keys[start : start + DELETED_AT_ONCE]).only(
                "pk"
            ).delete()

    def has_work_permission(self, request: HttpRequest) -> bool:
        """Whether work may be asked for here: as for changing, also where the rows themselves cannot be changed."""
        return may(request, "change", self.model)

    def work_on(
        self,
        request: HttpRequest,
        rows: QuerySet[Any],
        work: Callable[[Any], object],
        *,
        done: str,
        most: int,
    ) -> None:
        """Do something to each of the rows, at most so many, and say what came of it."""
        if (count := rows.count()) > most:
            self.message_user(
                request,
                f"{count:,} are selected; at most {most} can be taken at once. Nothing was done.",
                messages.ERROR,
            )
            return
        results: Counter[str] = Counter()
        for row in rows:
            try:
                work(row)
                results[done] += 1
            except KnowledgeBaseError as error:
                results[f"{row}: {error.message} {error.hint}"] += 1
        if good := results.pop(done, 0):
            self.message_user(request, f"{good} {done}.", messages.SUCCESS)
        for problem in list(results)[:10]:
            self.message_user(request, problem, messages.WARNING)
        if len(results) > 10:
            self.message_user(
                request, f"{len(results) - 10} more could not be done.", messages.WARNING
            )


class RecordAdmin(Table):
    """A table that programs write: people look, delete, and ask for work."""

    def has_add_permission(self, request: HttpRequest, *_: Any) -> bool:
        """Nobody."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Nobody."""
        return False

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Whoever may view or change these rows in general."""
        return may(request, "view", self.model) or may(request, "change", self.model)


class Bytes(RecordAdmin):
    """A table of long values, which are never loaded, only measured."""

    exclude: ClassVar[Any] = ("data",)
    list_per_page = 50

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Leave the bytes where they are."""
        rows: QuerySet[Any] = (
            super().get_queryset(request).defer("data").annotate(size=Length("data"))
        )
        return rows

    @admin.display(ordering="size")
    def size(self, row: Any) -> str:
        """Show the length in bytes."""
        return f"{row.size:,}"


def may(request: Any, what: str, model: type[Model]) -> bool:
    """Say whether somebody may do something to the rows of a model in general."""
    return bool(
        request.user.has_perm(
            f"{model._meta.app_label}.{get_permission_codename(what, model._meta)}"
        )
    )


def words(text: str) -> list[str]:
    """Return the words between commas."""
    return [word[:60] for part in text.split(",") if (word := part.strip())]


def _cascades(relation: Any) -> bool:
    return (
        relation.auto_created
        and not relation.concrete
        and getattr(relation, "on_delete", None) is CASCADE
    )


def _dependents(relation: Any, doomed: QuerySet[Any]) -> QuerySet[Any]:
    return QuerySet(relation.related_model).filter(
        **{f"{relation.field.name}__in": doomed.values("pk")}
    )

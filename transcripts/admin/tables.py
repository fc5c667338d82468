"""The base classes of the admin. Their cost does not grow with the number of rows."""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar

from django import forms
from django.contrib import admin, messages
from django.contrib.auth import get_permission_codename
from django.db import transaction
from django.db.models import CASCADE, DateTimeField, Model, QuerySet
from django.db.models.functions import Length
from django.forms.models import BaseInlineFormSet
from django.http import HttpRequest, HttpResponse
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _

from transcripts.core import audit, deleting
from transcripts.core.audit import Action
from transcripts.core.errors import KnowledgeBaseError
from transcripts.core.translation import translated_error
from transcripts.core.work.models import QueuedWork
from transcripts.models import AuditEntry

PARSED_AT_ONCE = 50  # transcripts that one action parses
QUEUED_AT_ONCE = 500  # jobs that one action queues
DELETED_AT_ONCE = 500  # rows in one statement
SLUG_SCRIPTS = ("urlify.", "prepopulate.", "xregexp.")  # a quarter of a list's weight
STATE_OF_WORK = frozenset(field.name for field in QueuedWork._meta.fields)

if TYPE_CHECKING:  # Django's own classes cannot be subscripted when they run
    Admin = admin.ModelAdmin[Any]
    Tabular = admin.TabularInline[Any, Any]
    FormSet = BaseInlineFormSet[Any, Any, Any]
else:
    Admin, Tabular, FormSet = admin.ModelAdmin, admin.TabularInline, BaseInlineFormSet


class LabelledFormSet(FormSet):
    """Forms in a table, whose headers name no field to who cannot see them."""

    def add_fields(self, form: Any, index: int | None) -> None:
        super().add_fields(form, index)
        for name, field in form.fields.items():
            field.widget.attrs.setdefault("aria-label", str(field.label or name))


class Inline(Tabular):
    """Rows of another table, each on a line."""

    formset = LabelledFormSet


def count_cascade(rows: QuerySet[Any]) -> dict[type[Model], int]:
    """Count the rows that deleting these would delete, with one query for each model."""
    counts: dict[type[Model], int] = {}
    queue: list[QuerySet[Any]] = [rows.order_by()]
    for doomed in queue:
        if doomed.model not in counts:
            counts[doomed.model] = doomed.count()
            queue += [
                QuerySet(relation.related_model).filter(
                    **{f"{relation.field.name}__in": doomed.values("pk")}
                )
                for relation in doomed.model._meta.get_fields(include_hidden=True)
                if relation.auto_created
                and not relation.concrete
                and getattr(relation, "on_delete", None) is CASCADE
            ]
    return {model: count for model, count in counts.items() if count}


class AuditedAdmin(Admin):
    """A table whose changes are in the audit trail, too."""

    @property
    def media(self) -> forms.Media:
        """Return Django's scripts; those that make a slug of a name only where there is one."""
        media: Any = super().media  # whose lists are typed nowhere
        scripts = [
            path
            for path in media._js
            if self.prepopulated_fields or not any(part in path for part in SLUG_SCRIPTS)
        ]
        return forms.Media(css=media._css, js=scripts)

    def log_addition(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        audit.record(Action.ADD, *_named(obj))
        return super().log_addition(request, obj, message)

    def log_change(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        parts = message if isinstance(message, list) else []
        changes = [change for part in parts for change in part.values()]
        # The fields that the form changed, without their values.
        fields = [name for each in changes for name in each.get("fields", [each.get("name")])]
        audit.record(Action.CHANGE, *_named(obj), fields=fields)
        return super().log_change(request, obj, message)

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        """Delete a row, and record it."""
        with transaction.atomic():
            audit.record(Action.DELETE, *_named(obj))
            deleting.delete_row(obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        """Delete rows, and record each."""
        with transaction.atomic():
            for obj in queryset:
                audit.record(Action.DELETE, *_named(obj))
            deleting.delete(queryset)


class Table(AuditedAdmin):
    """A table that counts deletions instead of listing them, and deletes in batches."""

    show_full_result_count = False
    list_per_page = 50
    list_max_show_all = 200
    formfield_overrides: ClassVar[Any] = {  # Django's own has two fields with one name
        DateTimeField: {
            "form_class": forms.DateTimeField,
            "widget": forms.DateTimeInput({"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"),
        }
    }

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        """Head a list with the name of its rows."""
        context = {"title": capfirst(self.opts.verbose_name_plural), **(extra_context or {})}
        return super().changelist_view(request, context)

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """Show what a row is before how the work on it goes."""
        names = super().get_fields(request, obj)
        return sorted(names, key=STATE_OF_WORK.__contains__)

    def get_deleted_objects(
        self, objs: Any, request: HttpRequest
    ) -> tuple[list[Any], dict[Any, int], set[Any], list[Any]]:
        """Return the numbers of rows to delete; Django would load and list every row."""
        if not isinstance(objs, QuerySet):
            objs = self.model._default_manager.filter(pk__in=[row.pk for row in objs])
        counts = count_cascade(objs)
        # Nobody has permissions for models without an admin page, such as through tables.
        lacking = {
            model._meta.verbose_name
            for model in counts
            if self.admin_site.is_registered(model) and not may(request, "delete", model)
        }
        named = {
            str(model._meta.verbose_name_plural): count
            for model, count in counts.items()
            if not model._meta.auto_created  # that a row belongs to another is no thing of its own
        }
        listed = [f"{capfirst(name)}: {count:,}" for name, count in named.items()]
        return listed, named, lacking, []

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        """Delete in batches, so that memory and statements stay small."""
        keys = list(queryset.order_by().values_list("pk", flat=True))
        for start in range(0, len(keys), DELETED_AT_ONCE):
            batch = keys[start : start + DELETED_AT_ONCE]
            with transaction.atomic():
                kind = _kind(self.model)
                audit.record(Action.DELETE, kind, count=len(batch), ids=batch)
                deleting.delete(self.model._default_manager.filter(pk__in=batch).only("pk"))

    def has_work_permission(self, request: HttpRequest) -> bool:
        """Whether the user may start work here, which takes the permission to change rows."""
        return may(request, "change", self.model)

    def work_on(
        self,
        request: HttpRequest,
        rows: QuerySet[Any],
        work: Callable[[Any], object],
        *,
        outcome: object,
        most: int,
    ) -> None:
        """Apply a function to each of at most ``most`` rows, and show the results."""
        if (count := rows.count()) > most:
            text = _("%(count)s rows are selected; the limit is %(most)s. Nothing was done.")
            values = {"count": f"{count:,}", "most": most}
            self.message_user(request, text % values, messages.ERROR)
            return
        results: Counter[str] = Counter()
        for row in rows:
            try:
                work(row)
                results[str(outcome)] += 1
            except KnowledgeBaseError as error:
                results[f"{row}: {translated_error(error)}"] += 1
        if good := results.pop(str(outcome), 0):
            self.message_user(request, f"{good} {outcome}.", messages.SUCCESS)
        for problem in list(results)[:10]:
            self.message_user(request, problem, messages.WARNING)
        if len(results) > 10:
            self.message_user(
                request,
                _("%(count)s more failed.") % {"count": len(results) - 10},
                messages.WARNING,
            )


class RecordAdmin(Table):
    """A table that only programs write; people may view, delete and start work."""

    def has_add_permission(self, request: HttpRequest, *_: Any) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return may(request, "view", self.model) or may(request, "change", self.model)


class FilledFilter(admin.AllValuesFieldListFilter):
    """Filters by the values that a column has; what is empty is called so."""

    def choices(self, changelist: Any) -> Iterator[Any]:
        for choice in super().choices(changelist):
            yield {**choice, "display": choice["display"] or "–"}


class Bytes(RecordAdmin):
    """A table of binary data, which is measured but never loaded."""

    exclude: ClassVar[Any] = ("data",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        light = super().get_queryset(request).defer("data")
        rows: QuerySet[Any] = light.annotate(size=Length("data"))
        return rows

    @admin.display(description=_("Size"), ordering="size")
    def size(self, row: Any) -> str:
        return f"{row.size:,}"


def _named(row: Model) -> tuple[str, object]:
    return _kind(type(row)), row.pk


def _kind(model: type[Model]) -> str:
    """Return what the audit trail calls a kind of rows, on every door."""
    return str(getattr(model, "audit_kind", model._meta.verbose_name_raw))


def may(request: HttpRequest, action: str, model: type[Model]) -> bool:
    """Return whether the user has a permission, such as "change", for a model."""
    codename = get_permission_codename(action, model._meta)
    return bool(request.user.has_perm(f"{model._meta.app_label}.{codename}"))


def words(text: str) -> list[str]:
    return [word[:60] for part in text.split(",") if (word := part.strip())]


@admin.register(AuditEntry)
class AuditEntryAdmin(RecordAdmin):
    list_display = ("at", "who", "what", "collection", "details")
    list_filter = ("at", "door", "action", "kind")
    search_fields = ("actor", "thing", "collection")

    @admin.display(description=_("actor"), ordering="actor")
    def who(self, entry: AuditEntry) -> str:
        """Show the user with the token, the door, and where the request came from."""
        return " · ".join(filter(None, (entry.actor, entry.token, entry.door, entry.address)))

    @admin.display(description=_("action"), ordering="action")
    def what(self, entry: AuditEntry) -> str:
        return f"{entry.get_action_display()} {_(entry.kind)} {entry.thing}"

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

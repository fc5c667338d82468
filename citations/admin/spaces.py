"""Embedding spaces: the active one, the one being built, and retired ones."""

from typing import Any

from django import forms
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _

from citations.conf import EmbeddingChoice
from citations.maintenance import migration
from citations.models import EmbeddingSpace
from citations.tasks import dispatch
from transcripts.admin import RecordAdmin
from transcripts.admin.tables import may
from transcripts.core.errors import KnowledgeBaseError

PROVIDERS = ("local", "voyage", "openai", "e5-small", "bge", "bge-base", "ollama")


class MigrateForm(forms.Form):
    provider = forms.ChoiceField(label=_("Provider"), choices=[(name, name) for name in PROVIDERS])
    model = forms.CharField(
        label=_("Model"),
        required=False,
        max_length=200,
        help_text=_("Empty: the provider's default model."),
    )
    dimensions = forms.IntegerField(
        label=_("Dimensions"),
        required=False,
        min_value=0,
        max_value=4_000,
        help_text=_("The length of its vectors, if the model is not a known one."),
    )
    guarded = forms.BooleanField(
        label=_("Guarded"),
        required=False,
        help_text=_("Do not switch if hits marked as right would rank lower."),
    )

    @property
    def choice(self) -> EmbeddingChoice:
        values = self.cleaned_data
        return EmbeddingChoice(
            provider=values["provider"], model=values["model"], dimensions=values["dimensions"] or 0
        )


@admin.register(EmbeddingSpace)
class EmbeddingSpaceAdmin(RecordAdmin):
    """The library's embedding models. To add one is to migrate the library to it."""

    list_display = (
        *("__str__", "state", "progress", "guarded", "error", "activated_at", "created_at"),
    )
    list_filter = ("state", "provider", "created_at")
    search_fields = ("provider", "model", "error")
    readonly_fields = ("progress",)
    actions = ("move", "give_up")

    def has_add_permission(self, request: HttpRequest, *_: Any) -> bool:
        return may(request, "add", EmbeddingSpace)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Allow it for nobody: only a migration replaces the active space."""
        return False

    @admin.display(description=_("Progress"), ordering="done")
    def progress(self, space: Any) -> str:
        if space.state != "building":
            return "–"
        percent = min(100, 100 * space.done // space.total) if space.total else 0
        numbers = {"done": f"{space.done:,}", "total": f"{space.total:,}"}
        bar = '<progress max="100" value="{0}">{0}%</progress> {1}'
        return format_html(bar, percent, _("%(done)s of %(total)s") % numbers)

    @admin.action(description=_("Move the library to this model"), permissions=["work"])
    def move(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        def begin(space: EmbeddingSpace) -> None:
            names = ("provider", "model", "dimensions")
            choice = EmbeddingChoice(**{name: getattr(space, name) for name in names})
            migration.begin(choice)

        self.work_on(request, queryset, begin, outcome=_("migration is under way"), most=1)
        dispatch()

    @admin.action(description=_("Give up the migration to this model"), permissions=["work"])
    def give_up(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        self.work_on(request, queryset, migration.cancel, outcome=_("given up"), most=1)

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """Ask for a model, show the size of the migration, then start it."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        form = MigrateForm(request.POST or None)
        context: dict[str, Any] = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": _("Move to another model"),
            "media": self.media,
        }
        if form.is_valid():
            try:
                context["plan"] = migration.plan(form.choice)
                if "begin" in request.POST:
                    space = migration.begin(form.choice, guarded=form.cleaned_data["guarded"])
                    dispatch()
                    return HttpResponseRedirect(
                        reverse("admin:citations_embeddingspace_change", args=[space.pk])
                    )
            except KnowledgeBaseError as error:
                context |= {"problem": error, "plan": None}
        return TemplateResponse(
            request, "admin/citations/embeddingspace/migrate.html", {**context, "form": form}
        )

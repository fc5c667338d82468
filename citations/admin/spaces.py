"""The models that the library is, was and will be searched with."""

from typing import Any

from django import forms
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.html import format_html

from citations.conf import EmbeddingChoice
from citations.maintenance import migration
from citations.models import EmbeddingSpace
from citations.tasks import dispatch
from transcripts.admin import RecordAdmin
from transcripts.admin.tables import may
from transcripts.errors import KnowledgeBaseError

PROVIDERS = ("local", "voyage", "openai", "bge", "bge-base", "ollama")


class MigrateForm(forms.Form):
    """The model to move to."""

    provider = forms.ChoiceField(choices=[(name, name) for name in PROVIDERS])
    model = forms.CharField(
        required=False,
        max_length=200,
        help_text="Another model of that provider than its usual one.",
    )
    dimensions = forms.IntegerField(
        required=False,
        min_value=0,
        max_value=4_000,
        help_text="Length of its vectors, for a remote model that is not known.",
    )
    guarded = forms.BooleanField(
        required=False,
        help_text="Do not switch where hits that people marked as right would be found worse.",
    )

    @property
    def choice(self) -> EmbeddingChoice:
        """Return what was chosen."""
        values = self.cleaned_data
        return EmbeddingChoice(
            provider=values["provider"], model=values["model"], dimensions=values["dimensions"] or 0
        )


@admin.register(EmbeddingSpace)
class EmbeddingSpaceAdmin(RecordAdmin):
    """The model that the library is locked to, the one it moves to, and those before. Adding one is moving the library to it."""

    list_display = (
        "__str__",
        "state",
        "progress",
        "guarded",
        "error",
        "activated_at",
        "created_at",
    )
    list_filter = ("state", "provider", "created_at")
    search_fields = ("provider", "model", "error")
    readonly_fields = ("progress",)
    actions = ("move", "give_up")

    def has_add_permission(self, request: HttpRequest, *_: Any) -> bool:
        """Whoever may add one."""
        return may(request, "add", EmbeddingSpace)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Nobody: the lock goes with a migration, not without."""
        return False

    @admin.display(ordering="done")
    def progress(self, space: Any) -> str:
        """Show a bar while it is being built."""
        if space.state != "building":
            return "–"
        percent = min(100, 100 * space.done // space.total) if space.total else 0
        return format_html(
            '<progress max="100" value="{0}">{0}%</progress> {1} of {2}',
            percent,
            f"{space.done:,}",
            f"{space.total:,}",
        )

    @admin.action(description="Move the library to this model", permissions=["work"])
    def move(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        """Begin, or go on with, a migration to one that is chosen."""
        self.work_on(request, queryset, _begin, done="migration is under way", most=1)
        dispatch()

    @admin.action(description="Give up the migration to this model", permissions=["work"])
    def give_up(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        """Search on with the active one."""
        self.work_on(request, queryset, migration.cancel, done="given up", most=1)

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """Ask for the model, tell how much it is, begin."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        form = MigrateForm(request.POST or None)
        context: dict[str, Any] = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": "Move to another model",
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


def _begin(space: EmbeddingSpace) -> None:
    migration.begin(
        EmbeddingChoice(provider=space.provider, model=space.model, dimensions=space.dimensions)
    )

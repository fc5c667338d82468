"""The admin of jobs, the gate to YouTube and the workers."""

from typing import Any, ClassVar, cast

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.widgets import AutocompleteSelect
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.html import format_html, format_html_join
from django.utils.translation import gettext_lazy as _

from transcripts.adding import acquisition
from transcripts.admin.tables import QUEUED_AT_ONCE, Bytes, FilledFilter, RecordAdmin, may, words
from transcripts.core.errors import KnowledgeBaseError
from transcripts.core.translation import translated
from transcripts.forms import LanguageField
from transcripts.models import Collection, HeardPart, Job, JobFile, Video, WorkerPulse, YouTubeGate
from transcripts.tasks import dispatch


class PasteForm(forms.Form):
    addresses = forms.CharField(
        label=_("Addresses"),
        widget=forms.Textarea(attrs={"rows": 10, "cols": 90}),
        max_length=200_000,
        help_text=_("Videos, playlists or channels, one per line."),
    )
    collection = forms.ModelChoiceField(
        label=_("Collection"),
        queryset=Collection.objects.all(),
        widget=AutocompleteSelect(Video._meta.get_field("collection"), admin.site),
    )
    language = LanguageField(help_text=_("By its name or code; empty: the preferred one."))
    tags = forms.CharField(
        label=_("Tags"), required=False, max_length=1000, help_text=_("Separated by commas.")
    )

    def clean_addresses(self) -> list[str]:
        """Return the distinct lines."""
        stripped = (line.strip() for line in self.cleaned_data["addresses"].splitlines())
        lines = list(dict.fromkeys(filter(None, stripped)))
        if len(lines) > QUEUED_AT_ONCE:
            raise forms.ValidationError(
                _("These are %(count)s lines; the limit is %(most)s."),
                params={"count": len(lines), "most": QUEUED_AT_ONCE},
            )
        return lines

    def clean_tags(self) -> list[str]:
        return words(self.cleaned_data["tags"])


@admin.register(Job)
class JobAdmin(RecordAdmin):
    """Jobs. To add jobs, paste addresses."""

    list_display = (
        "id",
        "kind",
        "target",
        "collection",
        "state",
        "progress",
        "error_code",
        "created_by",
        "created_at",
    )
    list_display_links = ("id", "target")
    list_filter = ("state", "kind", ("error_code", FilledFilter), "collection", "created_at")
    list_select_related = ("collection", "created_by")
    search_fields = ("target", "error", "video__title")
    exclude: ClassVar[Any] = ("problems", "read", "feed", "video")
    readonly_fields = ("progress", "parts_that_failed")
    actions = ("retry",)

    def has_add_permission(self, request: HttpRequest, *_: Any) -> bool:
        return may(request, "add", Job)

    @admin.display(description=_("Progress"), ordering="done")
    def progress(self, job: Any) -> str:
        bar = '<progress max="100" value="{0}">{0}%</progress> {0}% {1}'
        return format_html(bar, job.percent, translated(job.step))

    @admin.display(description=_("problems"))
    def parts_that_failed(self, job: Any) -> str:
        first = job.problems[:100]
        texts = ((problem["name"], problem["message"], problem["hint"]) for problem in first)
        rows = ((name, translated(text), translated(hint)) for name, text, hint in texts)
        items = format_html_join("", "<li>{}: {} {}</li>", rows)
        return format_html("<ul>{}</ul>", items) if first else "–"

    @admin.action(description=_("Try again"), permissions=["work"])
    def retry(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        self.work_on(request, queryset, acquisition.retry, outcome=_("queued"), most=QUEUED_AT_ONCE)
        dispatch()

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """Queue a job for each address. Invalid ones stay in the box, with the reason."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        form = PasteForm(request.POST or None)
        jobs, problems = (
            self._queue(cast(User, request.user), form) if form.is_valid() else ([], [])
        )
        if jobs or problems:
            form = PasteForm(
                initial={
                    **form.cleaned_data,
                    "addresses": "\n".join(line for line, _ in problems),
                    "tags": ", ".join(form.cleaned_data["tags"]),
                }
            )
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": _("Add videos"),
            "form": form,
            "media": self.media + form.media,
            "jobs": jobs,
            "problems": problems,
        }
        return TemplateResponse(request, "admin/transcripts/job/paste.html", context)

    def _queue(
        self, user: User, form: PasteForm
    ) -> tuple[list[Job], list[tuple[str, KnowledgeBaseError]]]:
        jobs, problems = [], []
        options = {name: form.cleaned_data[name] for name in ("language", "tags")}
        collection = form.cleaned_data["collection"]
        for line in form.cleaned_data["addresses"]:
            try:
                jobs.append(acquisition.request(collection, line, by=user, **options))
            except KnowledgeBaseError as error:
                problems.append((line, error))
        dispatch()
        return jobs, problems


@admin.register(JobFile)
class JobFileAdmin(Bytes):
    list_display = ("name", "job", "size")
    list_filter = ("job__state",)
    list_select_related = ("job",)
    search_fields = ("name",)


@admin.register(HeardPart)
class HeardPartAdmin(RecordAdmin):
    list_display = ("__str__", "language", "made_by", "seconds")
    list_filter = ("made_by",)
    search_fields = ("job__target",)
    exclude: ClassVar[Any] = ("cues", "word_times")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).defer("cues", "word_times")


@admin.register(YouTubeGate)
class YouTubeGateAdmin(RecordAdmin):
    list_display = (
        "__str__",
        "free_at",
        "closed_until",
        "refusals",
        "reason_code",
        "last_success_at",
    )
    search_fields = ("reason",)
    list_filter = (("reason_code", FilledFilter),)
    actions = ("reopen",)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    @admin.action(description=_("Reopen: forget the refusals"), permissions=["work"])
    def reopen(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        acquisition.reopen_gate()
        self.message_user(request, _("The gate is open."), messages.SUCCESS)
        dispatch()


@admin.register(WorkerPulse)
class WorkerPulseAdmin(RecordAdmin):
    list_display = ("__str__", "seen_at", "schedule_ran_at")
    search_fields = ("pk",)
    list_filter = ("seen_at",)

"""The admin of videos, transcripts and jobs. Whoever gets in here is staff and sees every collection: scopes do not apply."""

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.widgets import AutocompleteSelect
from django.contrib.auth import get_permission_codename
from django.core.exceptions import PermissionDenied
from django.db.models import CASCADE, Count, Model, Prefetch, QuerySet
from django.db.models.functions import Length
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.utils.html import format_html, format_html_join

from transcripts import acquisition
from transcripts.errors import KnowledgeBaseError
from transcripts.models import (
    Collection,
    Feed,
    Job,
    JobFile,
    Membership,
    RawCaptions,
    Thumbnail,
    Transcript,
    TranscriptIndex,
    Video,
    WorkerPulse,
    YouTubeGate,
)
from transcripts.tasks import dispatch
from transcripts.timecodes import clock

PARSED_AT_ONCE = 50  # what one action parses while the page waits
QUEUED_AT_ONCE = 500  # jobs that one action makes while the page waits
DELETED_AT_ONCE = 500  # rows in one statement
LONG_VIDEO = ("description", "chapters", "languages", "tags")

if TYPE_CHECKING:  # Django's own classes cannot be subscripted when they run
    Admin = admin.ModelAdmin[Any]
    Inline = admin.TabularInline[Any, Any]
    VideoForm = forms.ModelForm[Video]
else:
    Admin, Inline, VideoForm = admin.ModelAdmin, admin.TabularInline, forms.ModelForm


def what_goes(rows: QuerySet[Any]) -> dict[type[Model], int]:
    """Count what deleting these rows would delete, themselves first: one counting query for each kind, however many there are."""
    counts: dict[type[Model], int] = {}
    waiting: list[QuerySet[Any]] = [rows.order_by()]
    for doomed in waiting:
        if doomed.model not in counts:
            counts[doomed.model] = doomed.count()
            waiting += [
                _dependents(relation, doomed) for relation in doomed.model._meta.get_fields(include_hidden=True) if _cascades(relation)
            ]
    return {model: count for model, count in counts.items() if count}


class Table(Admin):
    """What all tables share: no second count of all rows, deletions told by counts and done in batches, work for those who may change things."""

    show_full_result_count = False
    list_per_page = 50
    list_max_show_all = 200

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> tuple[list[Any], dict[Any, int], set[Any], list[Any]]:
        """Return what deleting would delete: numbers, where Django would load and list every row."""
        rows = objs if isinstance(objs, QuerySet) else self.model._default_manager.filter(pk__in=[one.pk for one in objs])
        counts = what_goes(rows)
        # Through tables and the like have no page of their own here, and no permission that anybody is given.
        lacking = {
            model._meta.verbose_name for model in counts if self.admin_site.is_registered(model) and not _may(request, "delete", model)
        }
        named = {str(model._meta.verbose_name_plural): count for model, count in counts.items()}
        return [f"{count:,} {name}" for name, count in named.items()], named, lacking, []

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        """Delete some at a time, so that neither memory nor a statement grows with the selection."""
        keys = list(queryset.order_by().values_list("pk", flat=True))
        for start in range(0, len(keys), DELETED_AT_ONCE):
            self.model._default_manager.filter(pk__in=keys[start : start + DELETED_AT_ONCE]).only("pk").delete()

    def has_work_permission(self, request: HttpRequest) -> bool:
        """Whether work may be asked for here: as for changing, also where the rows themselves cannot be changed."""
        return _may(request, "change", self.model)

    def work_on(self, request: HttpRequest, rows: QuerySet[Any], work: Callable[[Any], object], *, done: str, most: int) -> None:
        """Do something to each of the rows, at most so many, and say what came of it."""
        if (count := rows.count()) > most:
            self.message_user(request, f"{count:,} are selected; at most {most} can be taken at once. Nothing was done.", messages.ERROR)
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
            self.message_user(request, f"{len(results) - 10} more could not be done.", messages.WARNING)


class Record(Table):
    """A table that programs write: people look, delete, and ask for work."""

    def has_add_permission(self, request: HttpRequest, *_: Any) -> bool:
        """Nobody."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Nobody."""
        return False

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Whoever may view or change these rows in general."""
        return _may(request, "view", self.model) or _may(request, "change", self.model)


class Bytes(Record):
    """A table of long values, which are never loaded, only measured."""

    exclude: ClassVar[Any] = ("data",)
    list_per_page = 50

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Leave the bytes where they are."""
        rows: QuerySet[Any] = super().get_queryset(request).defer("data").annotate(size=Length("data"))
        return rows

    @admin.display(ordering="size")
    def size(self, row: Any) -> str:
        """Show the length in bytes."""
        return f"{row.size:,}"


# Collections


class MembershipInline(Inline):
    """Members, beside their collection."""

    model = Membership
    extra = 1
    autocomplete_fields = ("user",)


@admin.register(Collection)
class CollectionAdmin(Table):
    """Shelves and their members."""

    list_display = ("name", "slug", "videos", "created_at")
    search_fields = ("name", "slug")
    list_filter = ("created_at",)
    prepopulated_fields: ClassVar[Any] = {"slug": ("name",)}
    inlines = (MembershipInline,)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Count the videos."""
        rows: QuerySet[Any] = super().get_queryset(request).annotate(video_count=Count("videos"))
        return rows

    @admin.display(ordering="video_count")
    def videos(self, collection: Any) -> int:
        """Show how many it holds."""
        return int(collection.video_count)


@admin.register(Membership)
class MembershipAdmin(Table):
    """Who may do what."""

    list_display = ("user", "collection", "role")
    list_filter = ("role", "collection")
    list_select_related = ("user", "collection")
    search_fields = ("user__username", "collection__name")
    autocomplete_fields = ("user", "collection")


# Videos


class TagsForm(VideoForm):
    """A video, whose tags are words between commas."""

    tags = forms.CharField(required=False, max_length=3000, help_text="Separated by commas.")

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.initial["tags"] = ", ".join(self.instance.tags)

    def clean_tags(self) -> list[str]:
        """Return the words."""
        return _words(self.cleaned_data["tags"])


class TranscriptInline(Inline):
    """Transcripts, beside their video."""

    model = Transcript
    fields = readonly_fields = ("language", "origin", "cue_count", "characters", "updated_at")
    can_delete = show_change_link = True
    extra = max_num = 0

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Leave the cues where they are."""
        return super().get_queryset(request).defer("cues", "word_times")


@admin.register(Video)
class VideoAdmin(Table):
    """Recordings. They are added by pasting their addresses."""

    form = TagsForm
    list_display = ("title", "key", "channel", "collection", "length", "spoken", "created_at")
    list_filter = ("collection", "created_at", "partial", ("transcripts", admin.EmptyFieldListFilter), "transcripts__origin")
    list_select_related = ("collection",)
    search_fields = ("title", "key", "channel", "youtube_id")
    search_help_text = "Title, id or channel"
    fields = (
        "title",
        "channel",
        "description",
        "tags",
        "collection",
        "key",
        "youtube_id",
        "length",
        "published_at",
        "partial",
        "created_at",
        "updated_at",
    )
    readonly_fields = ("collection", "key", "youtube_id", "length", "published_at", "partial", "created_at", "updated_at")
    inlines = (TranscriptInline,)
    actions = ("fetch", "reparse")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Leave the long columns where they are, and bring the languages along."""
        light = Prefetch("transcripts", queryset=Transcript.objects.light())
        return super().get_queryset(request).defer(*LONG_VIDEO).prefetch_related(light)

    def add_view(self, request: HttpRequest, form_url: str = "", extra_context: Any = None) -> HttpResponse:
        """Go to where addresses are pasted."""
        return redirect("admin:transcripts_job_add")

    @admin.display(ordering="duration")
    def length(self, video: Any) -> str:
        """Show the duration as a clock does."""
        return clock(video.duration)

    @admin.display(description="transcripts")
    def spoken(self, video: Any) -> str:
        """Show the languages it is there in."""
        return ", ".join(one.language or "?" for one in video.transcripts.all()) or "none"

    @admin.action(description="Fetch again from YouTube", permissions=["work"])
    def fetch(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        """Queue them."""
        self.work_on(request, queryset, lambda video: acquisition.refetch(video, by=request.user), done="queued", most=QUEUED_AT_ONCE)
        dispatch()

    @admin.action(description="Parse the kept originals again", permissions=["work"])
    def reparse(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        """Read their transcripts with today's parser."""
        rows = Transcript.objects.light().filter(video__in=queryset.order_by().values("pk")).select_related("video__collection")
        self.work_on(request, rows, acquisition.reparse, done="transcripts parsed", most=PARSED_AT_ONCE)


@admin.register(Transcript)
class TranscriptAdmin(Record):
    """What is said; the text is read on the pages, not here."""

    list_display = ("video", "language", "origin", "cue_count", "characters", "length", "updated_at")
    list_filter = ("origin", "language", "updated_at")
    search_fields = ("video__title", "video__key")
    exclude: ClassVar[Any] = ("cues", "word_times")
    actions = ("reparse",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Leave the long columns where they are."""
        long_ones = ("cues", "word_times", *(f"video__{name}" for name in LONG_VIDEO))
        return super().get_queryset(request).select_related("video__collection").defer(*long_ones)

    @admin.display(ordering="duration")
    def length(self, transcript: Any) -> str:
        """Show the duration as a clock does."""
        return clock(transcript.duration)

    @admin.action(description="Parse the kept originals again", permissions=["work"])
    def reparse(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        """Read them with today's parser."""
        self.work_on(request, queryset, acquisition.reparse, done="transcripts parsed", most=PARSED_AT_ONCE)


@admin.register(Thumbnail)
class ThumbnailAdmin(Bytes):
    """Pictures of videos."""

    list_display = ("video", "content_type", "size")
    list_filter = ("content_type",)
    search_fields = ("video__title", "video__key")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Bring the titles along, and no more."""
        return super().get_queryset(request).select_related("video").defer(*(f"video__{name}" for name in LONG_VIDEO))


@admin.register(RawCaptions)
class RawCaptionsAdmin(Bytes):
    """The files that transcripts were parsed from."""

    list_display = ("name", "size")
    list_filter = ("transcript__origin",)
    search_fields = ("name", "transcript__video__key")


@admin.register(TranscriptIndex)
class TranscriptIndexAdmin(Bytes):
    """Derived indexes: deleting one only means that it is built again."""

    list_display = ("pk", "segment_seconds", "tokenizer_version", "size")
    list_filter = ("tokenizer_version", "segment_seconds")
    search_fields = ("transcript__video__title", "transcript__video__key")


@admin.register(Feed)
class FeedAdmin(Table):
    """Playlists and channels. They are added by pasting their addresses."""

    list_display = ("title", "kind", "collection", "newest", "every_hours", "last_synced_at", "next_sync_at")
    list_filter = ("kind", "collection", "last_synced_at")
    list_select_related = ("collection",)
    search_fields = ("title", "youtube_id")
    readonly_fields = ("collection", "kind", "youtube_id", "last_synced_at", "next_sync_at", "created_at")
    actions = ("sync",)

    def add_view(self, request: HttpRequest, form_url: str = "", extra_context: Any = None) -> HttpResponse:
        """Go to where addresses are pasted."""
        return redirect("admin:transcripts_job_add")

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Plan the next look anew."""
        super().save_model(request, obj, form, change)
        obj.plan()

    @admin.action(description="Look for new videos now", permissions=["work"])
    def sync(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        """Queue a look at them."""
        self.work_on(request, queryset, lambda feed: acquisition.request_feed(feed, by=request.user), done="queued", most=QUEUED_AT_ONCE)
        dispatch()


# Jobs


class PasteForm(forms.Form):
    """Addresses of YouTube, one a line."""

    addresses = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 10, "cols": 90}), max_length=200_000, help_text="Videos, playlists or channels, one a line."
    )
    collection = forms.ModelChoiceField(
        queryset=Collection.objects.all(), widget=AutocompleteSelect(Video._meta.get_field("collection"), admin.site)
    )
    language = forms.CharField(required=False, max_length=35, help_text="A language code, such as en; empty: the preferred one.")
    tags = forms.CharField(required=False, max_length=1000, help_text="Separated by commas.")

    def clean_addresses(self) -> list[str]:
        """Return the lines that are not empty, each once."""
        lines = list(dict.fromkeys(line.strip() for line in self.cleaned_data["addresses"].splitlines() if line.strip()))
        if len(lines) > QUEUED_AT_ONCE:
            raise forms.ValidationError(f"{len(lines)} lines; at most {QUEUED_AT_ONCE} can be taken at once.")
        return lines

    def clean_tags(self) -> list[str]:
        """Return the words between the commas."""
        return _words(self.cleaned_data["tags"])


@admin.register(Job)
class JobAdmin(Record):
    """Work, its progress and how it ended. Adding one is pasting addresses."""

    list_display = ("pk", "kind", "target", "collection", "state", "progress", "error_code", "created_by", "created_at")
    list_display_links = ("pk", "target")
    list_filter = ("state", "kind", "error_code", "collection", "created_at")
    list_select_related = ("collection", "created_by")
    search_fields = ("target", "error", "video__title")
    exclude: ClassVar[Any] = ("problems", "feed", "video")
    readonly_fields = ("progress", "parts_that_failed")
    actions = ("retry",)

    def has_add_permission(self, request: HttpRequest, *_: Any) -> bool:
        """Whoever may add videos."""
        return _may(request, "add", Job)

    @admin.display(ordering="done")
    def progress(self, job: Any) -> str:
        """Show a bar, and what is done just now."""
        return format_html('<progress max="100" value="{0}">{0}%</progress> {0}% {1}', job.percent, job.step)

    @admin.display
    def parts_that_failed(self, job: Any) -> str:
        """List them, the first hundred."""
        rows = ((one["name"], one["message"], one["hint"]) for one in job.problems[:100])
        return format_html("<ul>{}</ul>", format_html_join("", "<li>{}: {} {}</li>", rows)) if job.problems else "none"

    @admin.action(description="Try again", permissions=["work"])
    def retry(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        """Queue them again."""
        self.work_on(request, queryset, acquisition.retry, done="queued", most=QUEUED_AT_ONCE)
        dispatch()

    def add_view(self, request: HttpRequest, form_url: str = "", extra_context: Any = None) -> HttpResponse:
        """Take addresses, one job a line; what cannot be used stays in the box, with the reason."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        form = PasteForm(request.POST or None)
        jobs, problems = self._queue(request, form) if form.is_valid() else ([], [])
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
            "title": "Add videos",
            "form": form,
            "media": self.media + form.media,
        }
        return TemplateResponse(request, "admin/transcripts/job/paste.html", {**context, "jobs": jobs, "problems": problems})

    def _queue(self, request: HttpRequest, form: PasteForm) -> tuple[list[Job], list[tuple[str, KnowledgeBaseError]]]:
        jobs, problems = [], []
        wishes = {name: form.cleaned_data[name] for name in ("language", "tags")}
        for line in form.cleaned_data["addresses"]:
            try:
                jobs.append(acquisition.request(form.cleaned_data["collection"], line, by=request.user, **wishes))
            except KnowledgeBaseError as error:
                problems.append((line, error))
        dispatch()
        return jobs, problems


@admin.register(JobFile)
class JobFileAdmin(Bytes):
    """Files that wait to be imported."""

    list_display = ("name", "job", "size")
    list_filter = ("job__state",)
    list_select_related = ("job",)
    search_fields = ("name",)


@admin.register(YouTubeGate)
class YouTubeGateAdmin(Record):
    """Whether YouTube may be asked."""

    list_display = ("__str__", "free_at", "closed_until", "refusals", "reason_code", "last_success_at")
    search_fields = ("reason",)
    list_filter = ("reason_code",)
    actions = ("reopen",)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Nobody."""
        return False

    @admin.action(description="Reopen: forget the refusals", permissions=["work"])
    def reopen(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        """Let the queue ask at once."""
        YouTubeGate.reopen()
        self.message_user(request, "The gate is open.", messages.SUCCESS)
        dispatch()


@admin.register(WorkerPulse)
class WorkerPulseAdmin(Record):
    """When a worker was last seen."""

    list_display = ("__str__", "seen_at")
    search_fields = ("pk",)
    list_filter = ("seen_at",)


def _words(text: str) -> list[str]:
    return [word[:60] for part in text.split(",") if (word := part.strip())]


def _may(request: Any, what: str, model: type[Model]) -> bool:
    return bool(request.user.has_perm(f"{model._meta.app_label}.{get_permission_codename(what, model._meta)}"))


def _cascades(relation: Any) -> bool:
    return relation.auto_created and not relation.concrete and getattr(relation, "on_delete", None) is CASCADE


def _dependents(relation: Any, doomed: QuerySet[Any]) -> QuerySet[Any]:
    return QuerySet(relation.related_model).filter(**{f"{relation.field.name}__in": doomed.values("pk")})

"""The admin of videos, transcripts and their files."""

from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from django import forms
from django.contrib import admin
from django.db.models import Prefetch, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _

from transcripts.adding import acquisition, transcript_rows
from transcripts.admin.tables import (
    PARSED_AT_ONCE,
    QUEUED_AT_ONCE,
    Bytes,
    Inline,
    RecordAdmin,
    Table,
    words,
)
from transcripts.core.views.requests import CallerRequest
from transcripts.models import (
    MediaFile,
    MediaPart,
    RawCaptions,
    Thumbnail,
    Transcript,
    TranscriptIndex,
    Video,
)
from transcripts.tasks import dispatch
from transcripts.text.timecodes import clock

LONG_VIDEO = ("description", "chapters", "languages", "tags")

if TYPE_CHECKING:  # Django's own classes cannot be subscripted when they run
    VideoForm = forms.ModelForm[Video]
else:
    VideoForm = forms.ModelForm


@admin.action(description=_("Parse the stored originals again"), permissions=["work"])
def reparse(table: Table, request: HttpRequest, queryset: QuerySet[Any]) -> None:
    """Parse transcripts again, or those of videos."""
    rows = queryset
    if queryset.model is Video:
        light = Transcript.objects.light().select_related("video__collection")
        rows = light.filter(video__in=queryset.order_by().values("pk"))
    outcome = _("transcripts parsed")
    table.work_on(request, rows, transcript_rows.reparse, outcome=outcome, most=PARSED_AT_ONCE)


class TagsForm(VideoForm):
    tags = forms.CharField(
        label=_("Tags"), required=False, max_length=3000, help_text=_("Separated by commas.")
    )

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.initial["tags"] = ", ".join(self.instance.tags)

    def clean_tags(self) -> list[str]:
        return words(self.cleaned_data["tags"])


class TranscriptInline(Inline):
    model = Transcript
    fields = readonly_fields = ("page", "origin", "cue_count", "characters", "updated_at")
    can_delete = True
    extra = max_num = 0

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).defer("cues", "word_times")

    @admin.display(description=_("language"))
    def page(self, transcript: Any) -> str:
        """Link to the transcript's own page."""
        address = reverse("admin:transcripts_transcript_change", args=[transcript.pk])
        return format_html('<a href="{}">{}</a>', address, transcript.language)


class TranscriptsFilter(admin.EmptyFieldListFilter):
    """Finds videos with a transcript, or without; Django calls it by the name in the code."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.title = _("transcripts")


@admin.register(Video)
class VideoAdmin(Table):
    """Videos. To add videos, paste addresses."""

    form = TagsForm
    list_display = ("title", "key", "channel", "collection", "length", "spoken", "created_at")
    list_filter = (
        "collection",
        "created_at",
        "partial",
        ("transcripts", TranscriptsFilter),
        "transcripts__origin",
    )
    list_select_related = ("collection",)
    search_fields = ("title", "key", "channel", "youtube_id")
    search_help_text = _("Title, id or channel")
    readonly_fields = (
        "collection",
        "key",
        "youtube_id",
        "length",
        "published_at",
        "partial",
        "created_at",
        "updated_at",
    )
    fields = ("title", "channel", "description", "tags", *readonly_fields)
    inlines = (TranscriptInline,)
    actions = ("fetch", reparse)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        light = Prefetch("transcripts", queryset=Transcript.objects.light())
        return super().get_queryset(request).defer(*LONG_VIDEO).prefetch_related(light)

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        return redirect("admin:transcripts_job_add")

    @admin.display(description=_("Length"), ordering="duration")
    def length(self, video: Any) -> str:
        return clock(video.duration)

    @admin.display(description=_("transcripts"))
    def spoken(self, video: Any) -> str:
        languages = (transcript.language or "?" for transcript in video.transcripts.all())
        return ", ".join(languages) or "–"

    @admin.action(description=_("Fetch again from YouTube"), permissions=["work"])
    def fetch(self, request: CallerRequest, queryset: QuerySet[Any]) -> None:
        refetch = partial(acquisition.refetch, by=request.user)
        self.work_on(request, queryset, refetch, outcome=_("queued"), most=QUEUED_AT_ONCE)
        dispatch()


@admin.register(Transcript)
class TranscriptAdmin(RecordAdmin):
    """Transcripts without their text, which has pages of its own."""

    list_display = (
        "video",
        "language",
        "origin",
        "cue_count",
        "characters",
        "length",
        "updated_at",
    )
    list_filter = ("origin", "language", "updated_at")
    search_fields = ("video__title", "video__key")
    exclude: ClassVar[Any] = ("cues", "word_times")
    actions = (reparse,)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        long = ("cues", "word_times", *(f"video__{name}" for name in LONG_VIDEO))
        return super().get_queryset(request).select_related("video__collection").defer(*long)

    @admin.display(description=_("Length"), ordering="duration")
    def length(self, transcript: Any) -> str:
        return clock(transcript.duration)


class BesideVideo(RecordAdmin):
    """Rows that belong to a video, which is read without its long columns."""

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        long = (f"video__{name}" for name in LONG_VIDEO)
        return super().get_queryset(request).select_related("video").defer(*long)


@admin.register(Thumbnail)
class ThumbnailAdmin(BesideVideo, Bytes):
    list_display = ("video", "content_type", "size")
    list_filter = ("content_type",)
    search_fields = ("video__title", "video__key")


@admin.register(MediaFile)
class MediaFileAdmin(BesideVideo):
    """Audio and video files without their parts."""

    list_display = ("name", "video", "media_type", "size", "created_at")
    list_filter = ("media_type", "created_at")
    search_fields = ("name", "video__title", "video__key")


@admin.register(MediaPart)
class MediaPartAdmin(Bytes):
    list_display = ("media", "ordinal", "size")
    list_filter = ("media__media_type",)
    list_select_related = ("media",)
    search_fields = ("media__name",)


@admin.register(RawCaptions)
class RawCaptionsAdmin(Bytes):
    list_display = ("name", "size")
    list_filter = ("transcript__origin",)
    search_fields = ("name", "transcript__video__key")


@admin.register(TranscriptIndex)
class TranscriptIndexAdmin(Bytes):
    """Search indexes. A deleted one is built again."""

    list_display = ("pk", "segment_seconds", "tokenizer_version", "size")
    list_filter = ("tokenizer_version", "segment_seconds")
    search_fields = ("transcript__video__title", "transcript__video__key")

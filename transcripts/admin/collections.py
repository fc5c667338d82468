"""The admin of collections, their members and feeds."""

from functools import partial
from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext_lazy as _

from transcripts.adding import acquisition
from transcripts.admin.tables import QUEUED_AT_ONCE, Inline, RecordAdmin, Table
from transcripts.core.views.requests import CallerRequest
from transcripts.models import Collection, Feed, FeedEntry, Membership
from transcripts.tasks import dispatch


class MembershipInline(Inline):
    model = Membership
    extra = 1
    autocomplete_fields = ("user",)


@admin.register(Collection)
class CollectionAdmin(Table):
    list_display = ("name", "slug", "videos", "created_at")
    search_fields = ("name", "slug", "description")
    list_filter = ("created_at",)
    prepopulated_fields: ClassVar[Any] = {"slug": ("name",)}
    inlines = (MembershipInline,)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows: QuerySet[Any] = super().get_queryset(request).annotate(video_count=Count("videos"))
        return rows

    @admin.display(description=_("videos"), ordering="video_count")
    def videos(self, collection: Any) -> int:
        return int(collection.video_count)


@admin.register(Membership)
class MembershipAdmin(Table):
    list_display = ("user", "collection", "role")
    list_filter = ("role", "collection")
    list_select_related = ("user", "collection")
    search_fields = ("user__username", "collection__name")
    autocomplete_fields = ("user", "collection")


@admin.register(Feed)
class FeedAdmin(Table):
    """Playlists and channels. To add them, paste addresses."""

    list_display = (
        "title",
        "kind",
        "collection",
        "newest",
        "every_hours",
        "last_synced_at",
        "next_sync_at",
    )
    list_filter = ("kind", "collection", "last_synced_at")
    list_select_related = ("collection",)
    search_fields = ("title", "youtube_id")
    readonly_fields = (
        "collection",
        "kind",
        "youtube_id",
        "last_synced_at",
        "next_sync_at",
        "created_at",
    )
    actions = ("sync",)

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        return redirect("admin:transcripts_job_add")

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Save the feed and schedule its next check."""
        super().save_model(request, obj, form, change)
        obj.plan()

    @admin.action(description=_("Check for new videos now"), permissions=["work"])
    def sync(self, request: CallerRequest, queryset: QuerySet[Any]) -> None:
        request_feed = partial(acquisition.request_feed, by=request.user)
        self.work_on(request, queryset, request_feed, outcome=_("queued"), most=QUEUED_AT_ONCE)
        dispatch()


@admin.register(FeedEntry)
class FeedEntryAdmin(RecordAdmin):
    """The videos of playlists and channels, as they were last read."""

    list_display = ("title", "youtube_id", "feed", "position", "refusal", "seen_at")
    list_filter = ("feed__collection", "seen_at")
    list_select_related = ("feed",)
    search_fields = ("title", "youtube_id", "feed__title", "feed__youtube_id")

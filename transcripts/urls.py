"""The pages of the transcripts app."""

from django.urls import URLPattern, URLResolver, path

from transcripts.views import activity, collections, videos

urlpatterns: list[URLPattern | URLResolver] = [
    path("videos/find/", videos.find, name="find-video"),
    path("videos/<int:pk>/download/<str:form>/", videos.download, name="video-download"),
    path("videos/<int:pk>/thumbnail", videos.thumbnail, name="video-thumbnail"),
    path("videos/<int:pk>/media", videos.show_media, name="video-media"),
    path("videos/<int:pk>/media/", videos.change_media, name="video-media-change"),
    path("videos/<int:pk>/fetch/", videos.fetch, name="video-fetch"),
    path("videos/<int:pk>/listen/", videos.listen, name="video-listen"),
    path("jobs/<int:pk>/", activity.show_job, name="job"),
    path("jobs/<int:pk>/events/", activity.job_events, name="job-events"),
    path("jobs/<int:pk>/retry/", activity.retry, name="job-retry"),
    path("jobs/<int:pk>/stop/", activity.stop, name="job-stop"),
    path("gate/reopen/", activity.reopen_gate, name="gate-reopen"),
    path("feeds/find/", activity.find_feed, name="find-feed"),
    path("feeds/<int:pk>/", activity.show_feed, name="feed"),
    path("feeds/<int:pk>/sync/", activity.sync_feed, name="feed-sync"),
    path("feeds/<int:pk>/fetch/", activity.fetch_entry, name="feed-fetch"),
    path("feeds/<int:pk>/schedule/", activity.schedule_feed, name="feed-schedule"),
    path("feeds/<int:pk>/remove/", activity.remove_feed, name="feed-remove"),
    path("collections/create/", collections.create, name="collection-create"),
    path("collections/<int:pk>/settings/", collections.show_settings, name="collection-settings"),
    path("collections/<int:pk>/rename/", collections.describe, name="collection-rename"),
    path("collections/<int:pk>/members/", collections.set_member, name="collection-members"),
    path(
        "collections/<int:pk>/members/<int:user>/remove/",
        collections.remove_member,
        name="collection-member-remove",
    ),
    path("collections/<int:pk>/delete/", collections.delete, name="collection-delete"),
]

"""The pages of the transcripts app."""

from django.urls import URLPattern, URLResolver, path

from transcripts.views import shelf, shelves, videos, work

urlpatterns: list[URLPattern | URLResolver] = [
    path("library/", shelf.show_library, name="library"),
    path("library/add/", shelf.add, name="add"),
    path("library/find/", shelf.find, name="find-video"),
    path("videos/<int:pk>/", videos.show_video, name="video"),
    path("videos/<int:pk>/chunks/<int:index>/", videos.show_chunk, name="video-chunk"),
    path("videos/<int:pk>/search/", videos.search, name="video-search"),
    path("videos/<int:pk>/download/<str:form>/", videos.download, name="video-download"),
    path("videos/<int:pk>/thumbnail", videos.thumbnail, name="video-thumbnail"),
    path("videos/<int:pk>/fetch/", videos.fetch, name="video-fetch"),
    path("videos/<int:pk>/delete/", videos.delete, name="video-delete"),
    path("activity/", work.show_activity, name="activity"),
    path("activity/events/", work.activity_events, name="activity-events"),
    path("jobs/<int:pk>/", work.show_job, name="job"),
    path("jobs/<int:pk>/events/", work.job_events, name="job-events"),
    path("jobs/<int:pk>/retry/", work.retry, name="job-retry"),
    path("gate/reopen/", work.reopen_gate, name="gate-reopen"),
    path("feeds/<int:pk>/sync/", work.sync_feed, name="feed-sync"),
    path("feeds/<int:pk>/schedule/", work.schedule_feed, name="feed-schedule"),
    path("feeds/<int:pk>/remove/", work.remove_feed, name="feed-remove"),
    path("collections/", shelves.list_collections, name="collections"),
    path("collections/create/", shelves.create, name="collection-create"),
    path("collections/<int:pk>/", shelves.show_collection, name="collection"),
    path("collections/<int:pk>/rename/", shelves.rename, name="collection-rename"),
    path("collections/<int:pk>/members/", shelves.set_member, name="collection-members"),
    path("collections/<int:pk>/members/<int:user>/remove/", shelves.remove_member, name="collection-member-remove"),
    path("collections/<int:pk>/delete/", shelves.delete, name="collection-delete"),
]

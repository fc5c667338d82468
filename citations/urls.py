"""The pages of the citations app."""

from django.urls import URLPattern, URLResolver, path

from citations.views import search, sources

urlpatterns: list[URLPattern | URLResolver] = [
    path("search/", search.show_search, name="search"),
    path("search/mark/", search.mark, name="search-mark"),
    path("sources/", sources.show_sources, name="sources"),
    path("sources/events/", sources.source_events, name="source-events"),
    path("sources/<uuid:source_id>/", sources.show_source, name="source"),
    path("sources/<uuid:source_id>/index/", sources.index, name="source-index"),
    path("sources/<uuid:source_id>/delete/", sources.delete, name="source-delete"),
]

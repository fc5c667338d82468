"""The pages of the citations app."""

from django.urls import URLPattern, URLResolver, path

from citations.views import adding, lectures, pages, search, sources

urlpatterns: list[URLPattern | URLResolver] = [
    path("search/", search.show_search, name="search"),
    path("search/mark/", search.mark, name="search-mark"),
    path("sources/", sources.show_sources, name="sources"),
    path("sources/events/", sources.source_events, name="source-events"),
    path("sources/add/", adding.add, name="source-add"),
    path("sources/<uuid:source_id>/", sources.show_source, name="source"),
    path("sources/<uuid:source_id>/state/", adding.show_state, name="source-state"),
    path("sources/<uuid:source_id>/pages/<int:number>/", pages.show_page, name="source-page"),
    path("sources/<uuid:source_id>/pages/<int:number>/image/", pages.page_image, name="source-page-image"),
    path("sources/<uuid:source_id>/file/", pages.plain_file, name="source-file"),
    path("sources/<uuid:source_id>/index/", sources.index, name="source-index"),
    path("sources/<uuid:source_id>/delete/", sources.delete, name="source-delete"),
    path("lectures/", lectures.show_lectures, name="lectures"),
    path("lectures/new/", lectures.new, name="lecture-new"),
    path("lectures/<uuid:lecture_id>/", lectures.show_lecture, name="lecture"),
    path("lectures/<uuid:lecture_id>/windows/<int:index>/", lectures.show_window, name="lecture-window"),
    path("lectures/<uuid:lecture_id>/citations/", lectures.show_citations, name="lecture-citations"),
    path("lectures/<uuid:lecture_id>/figures/", lectures.show_figures, name="lecture-figures"),
    path("lectures/<uuid:lecture_id>/notes.md", lectures.notes, name="lecture-notes"),
    path("lectures/<uuid:lecture_id>/say/", lectures.say, name="lecture-say"),
    path("lectures/<uuid:lecture_id>/advance/", lectures.advance, name="lecture-advance"),
    path("lectures/<uuid:lecture_id>/end/", lectures.end, name="lecture-end"),
    path("lectures/<uuid:lecture_id>/again/", lectures.again, name="lecture-again"),
    path("lectures/<uuid:lecture_id>/delete/", lectures.delete, name="lecture-delete"),
]

"""The pages of the citations app."""

from django.urls import URLPattern, URLResolver, path

from citations.views import (
    activity,
    citation,
    conversations,
    highlight_files,
    lectures,
    pages,
    palette,
    recordings,
    search,
    shared_links,
    sources,
)
from citations.views import add as view_add
from citations.views import archives as view_archives
from citations.views import ask as view_ask
from citations.views import highlights as view_highlights
from citations.views import library as view_library
from citations.views import notes as view_notes

urlpatterns: list[URLPattern | URLResolver] = [
    path("activity/", activity.show_activity, name="activity"),
    path("activity/now/", activity.show_now, name="activity-now"),
    path("activity/events/", activity.activity_events, name="activity-events"),
    path("library/", view_library.show_library, name="library"),
    path("add/", view_add.add, name="add"),
    path("go/", palette.go_to, name="go-to"),
    path("videos/<int:pk>/", recordings.show_recording, name="video"),
    path("videos/<int:pk>/chunks/<int:index>/", recordings.show_part, name="video-chunk"),
    path("videos/<int:pk>/search/", recordings.find, name="video-search"),
    path("search/", search.show_search, name="search"),
    path("search/mark/", search.mark, name="search-mark"),
    path("ask/", view_ask.ask, name="ask"),
    path("ask/sources/", view_ask.show_sources, name="ask-sources"),
    path("ask/conversations/", conversations.show_conversations, name="conversations"),
    path("ask/<uuid:conversation_id>/", view_ask.show_conversation, name="conversation"),
    path("ask/<uuid:conversation_id>/change/", conversations.change, name="conversation-change"),
    path("ask/<uuid:conversation_id>/note/", conversations.keep_all, name="conversation-note"),
    path("ask/<uuid:conversation_id>/delete/", conversations.delete, name="conversation-delete"),
    path(
        "ask/<uuid:conversation_id>/export/<slug:form>/",
        conversations.export,
        name="conversation-export",
    ),
    path("ask/answers/<uuid:answer_id>/", view_ask.show_answer, name="answer"),
    path("ask/answers/<uuid:answer_id>/again/", view_ask.again, name="answer-again"),
    path("ask/answers/<uuid:answer_id>/rate/", conversations.rate, name="answer-rate"),
    path("ask/answers/<uuid:answer_id>/note/", conversations.keep, name="answer-note"),
    path("ask/citations/<uuid:citation_id>/", citation.show_citation, name="citation-details"),
    path("citations/<uuid:citation_id>/", citation.go, name="citation"),
    path("shared-links/", shared_links.show_links, name="shared-links"),
    path("shared-links/<uuid:link_id>/revoke/", shared_links.revoke, name="shared-link-revoke"),
    path("collections/<int:pk>/links/", shared_links.allow, name="collection-links"),
    path("ask/answers/<uuid:answer_id>/share/", shared_links.share_answer, name="answer-share"),
    path(
        "highlights/<uuid:highlight_id>/share/",
        shared_links.share_highlight,
        name="highlight-share",
    ),
    path("notes/", view_notes.show_notes, name="notes"),
    path("notes/add/", view_notes.add, name="note-add"),
    path("notes/<uuid:note_id>/", view_notes.change, name="note"),
    path("notes/<uuid:note_id>/delete/", view_notes.delete, name="note-delete"),
    path("highlights/", view_highlights.show_highlights, name="highlights"),
    path("highlights/add/", view_highlights.add, name="highlight-add"),
    path("highlights/export/<slug:form>/", highlight_files.export, name="highlights-export"),
    path("highlights/import/", highlight_files.import_file, name="highlights-import"),
    path("highlights/<uuid:highlight_id>/", view_highlights.change, name="highlight"),
    path("highlights/<uuid:highlight_id>/delete/", view_highlights.delete, name="highlight-delete"),
    path("export/", view_archives.show_archive, name="archive"),
    path("export/<uuid:archive_id>/file/", view_archives.file, name="archive-file"),
    path("export/<uuid:archive_id>/delete/", view_archives.delete, name="archive-delete"),
    path("sources/<uuid:source_id>/", sources.show_source, name="source"),
    path("sources/<uuid:source_id>/passages/", sources.show_passages, name="source-passages"),
    path("sources/<uuid:source_id>/hit/", search.open_hit, name="hit"),
    path("sources/<uuid:source_id>/state/", view_add.show_state, name="source-state"),
    path("sources/<uuid:source_id>/pages/<int:number>/", pages.show_page, name="source-page"),
    path(
        "sources/<uuid:source_id>/pages/<int:number>/image/",
        pages.page_image,
        name="source-page-image",
    ),
    path("sources/<uuid:source_id>/file/", pages.plain_file, name="source-file"),
    path("sources/<uuid:source_id>/index/", sources.index, name="source-index"),
    path("sources/<uuid:source_id>/delete/", sources.delete, name="source-delete"),
    path("lectures/", lectures.show_lectures, name="lectures"),
    path("lectures/new/", lectures.new, name="lecture-new"),
    path("lectures/<uuid:lecture_id>/", lectures.show_lecture, name="lecture"),
    path(
        "lectures/<uuid:lecture_id>/windows/<int:index>/",
        lectures.show_window,
        name="lecture-window",
    ),
    path(
        "lectures/<uuid:lecture_id>/citations/", lectures.show_citations, name="lecture-citations"
    ),
    path("lectures/<uuid:lecture_id>/figures/", lectures.show_figures, name="lecture-figures"),
    path("lectures/<uuid:lecture_id>/notes.md", lectures.notes, name="lecture-notes"),
    path("lectures/<uuid:lecture_id>/say/", lectures.say, name="lecture-say"),
    path("lectures/<uuid:lecture_id>/advance/", lectures.advance, name="lecture-advance"),
    path("lectures/<uuid:lecture_id>/end/", lectures.end, name="lecture-end"),
    path("lectures/<uuid:lecture_id>/again/", lectures.again, name="lecture-again"),
    path("lectures/<uuid:lecture_id>/delete/", lectures.delete, name="lecture-delete"),
]

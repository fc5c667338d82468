"""The palette: go to any source, collection, lecture, conversation, note, highlight or page; ask.

Staff go to the tables of the admin, too.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, islice
from operator import itemgetter
from typing import Any, Final
from urllib.parse import urlencode

from django.contrib import admin
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from citations.errors import SourceNotFound
from citations.lectures import sessions
from citations.library import sources
from citations.library.filters import find_source, tags
from citations.models import Source
from citations.notebook import conversations, highlights, notes
from citations.notebook.highlight_export import HighlightFormat
from citations.notebook.highlights import HighlightFilter
from citations.views.forms import words_of
from transcripts.core.languages import name_of
from transcripts.core.views.requests import PageRequest, fragment
from transcripts.library import activity, collections
from transcripts.library import reading as library

MAX_OF_KIND: Final = 5
MAX_NAMED: Final = 3  # that are called like the words, or begin with them
PAGES: Final = (
    (_("Library"), "library", ""),
    (_("Search"), "search", ""),
    (_("Ask"), "ask", ""),
    (_("Collections"), "collections", ""),
    (_("Conversations"), "conversations", ""),
    (_("Notes"), "notes", ""),
    (_("Highlights"), "highlights", ""),
    (_("Shared links"), "shared-links", ""),
    (_("Lectures"), "lectures", ""),
    (_("Activity"), "activity", ""),
    (_("Playlists and channels"), "activity", "#feeds"),
    (_("Settings"), "preferences", ""),
    (_("Applications and tokens"), "tokens", ""),
    (_("Webhooks"), "webhooks", ""),
    (_("REST for programs"), "api-docs", ""),
    (_("Password"), "choose-password", ""),
    (_("Second factor"), "mfa_index", ""),
    (_("Glossary"), "glossary", ""),
)
STAFF_PAGES: Final = (
    (_("Language model"), "language-model", ""),
    (_("Administration"), "admin:index", ""),
)
EDITOR_ACTIONS: Final = (
    (_("Add videos or documents"), "add", ""),
    (_("Write a note"), "notes", "?new=1"),
    (_("Follow a lecture"), "lecture-new", ""),
)
ACTIONS: Final = (
    (_("Ask a question"), "ask", ""),
    (_("New collection"), "collections", "#new"),
    (_("Import highlights"), "highlights-import", ""),
    (_("Export everything as one ZIP"), "archive", ""),
)
# Groups whose places stand above the search for their names.
TITLED: Final = (
    _("Pages"),
    _("Actions"),
    _("Collections"),
    _("Playlists and channels"),
    _("Sources"),
    _("Lectures"),
    _("Notes"),
    _("Conversations"),
)
EXPORTS: Final = (
    ("Obsidian", HighlightFormat.OBSIDIAN),
    ("Readwise", HighlightFormat.READWISE),
    ("Anki", HighlightFormat.ANKI),
    ("Web Annotations", HighlightFormat.WEB_ANNOTATIONS),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Destination:
    """A place to go to, or something to do; ``detail`` tells it from others of the same name."""

    label: str
    address: str
    icon: str
    detail: str = ""
    is_question: bool = False  # which the page asks that it leads to
    is_post: bool = False  # which changes something


@dataclass(frozen=True, slots=True, kw_only=True)
class DestinationGroup:
    name: str
    places: tuple[Destination, ...]
    has_questions: bool = False


@require_safe
def go_to(request: PageRequest) -> HttpResponse:
    """Show where the words of ``q`` lead; HTMX gets the list alone.

    Questions are asked of ``source``, which is being read.
    """
    words = words_of(request.GET)
    source: Source | None = None
    with suppress(KeyError, SourceNotFound):
        source = find_source(request.access, request.GET["source"])
    context = {"words": words, "source": source, "groups": [*_groups(request, words, source)]}
    if request.htmx:
        return fragment(request, "citations/_destinations.html", context)
    return render(request, "citations/go_to.html", context)


def _groups(request: PageRequest, words: str, source: Source | None) -> Iterator[DestinationGroup]:
    pages = PAGES + STAFF_PAGES * request.user.is_staff
    actions = EDITOR_ACTIONS * bool(request.access.writable) + ACTIONS
    groups = {
        _("Sources"): _sources(request, words),
        _("Collections"): _collections(request, words),
        _("Lectures"): _lectures(request, words),
        _("Playlists and channels"): _feeds(request, words),
        _("Tags"): _tags(request, words),
        _("Conversations"): _conversations(request, words),
        _("Notes"): _notes(request, words),
        _("Highlights"): _highlights(request, words),
        _("Actions"): chain(_named(actions, "plus", words, source), _actions_on(request, words)),
        _("Pages"): _named(pages, "right", words, source),
        _("Administration"): _administration(request, words),
    }
    places = {name: tuple(group) for name, group in groups.items()}
    path = request.htmx.current_url_abs_path or ""
    is_in_admin = path.startswith(reverse("admin:index"))
    titled = [*([_("Administration")] * is_in_admin), *TITLED]
    if named := _called(words, *(place for name in titled for place in places[name])):
        yield DestinationGroup(name=str(_("Best matches")), places=named)
    if words:
        query = {"q": words}
        search = _place(_("Search for “%s”") % words, "search", "search", query=query)
        ask = _place(
            _("Ask “%s”") % words,
            "chat",
            "ask",
            query=query | ({"source": str(source.uuid)} if source else {}),
            detail=source.title if source else "",
            is_question=True,
        )
        heading = _("Search and ask")
        yield DestinationGroup(name=str(heading), places=(search, ask), has_questions=True)
    for name, group in places.items():
        if rest := tuple(place for place in group if place not in named):
            yield DestinationGroup(name=str(name), places=rest)


def _called(words: str, *places: Destination) -> tuple[Destination, ...]:
    """Return the places whose names are the words, then those whose names begin with them, then
    those that have several in a row, each at least as it begins: “calc vol” is “Calculus Volume 1”.
    """
    typed = words.casefold().split()
    ranked = [
        (rank, place)
        for place in places
        for rank in [_closeness(place.label.casefold().split(), typed)]
        if typed and rank is not None
    ]
    return tuple(place for _rank, place in sorted(ranked, key=itemgetter(0))[:MAX_NAMED])


def _closeness(label: Sequence[str], typed: Sequence[str]) -> int | None:
    """Return 0 for the label itself, 1 for its beginning, 2 for words within, None otherwise."""
    runs = [label[start : start + len(typed)] for start in range(len(label) - len(typed) + 1)]
    starts = [
        start
        for start, run in enumerate(runs)
        if all(word.startswith(own) for word, own in zip(run, typed, strict=True))
    ]
    if not starts or (starts[0] and len(typed) == 1):  # a word is more likely searched for
        return None
    return 0 if list(typed) == list(label) else 1 if not starts[0] else 2


def _place(
    label: object,
    icon: str,
    name: str,
    *arguments: object,
    query: Mapping[str, str] | None = None,
    part: str = "",
    **about: Any,
) -> Destination:
    """Return a page by the name of its address; ``part`` stands at the end of that."""
    question = f"?{urlencode(query)}" if query else ""
    address = f"{reverse(name, args=arguments)}{question}{part}"
    return Destination(label=str(label), address=address, icon=icon, **about)


def _sources(request: PageRequest, words: str) -> Iterator[Destination]:
    titled = sources.titled(request.access, words, limit=MAX_NAMED) if words else []
    newest = sources.list_sources(request.access, words=words, limit=MAX_OF_KIND).sources
    for source in dict.fromkeys((*titled, *newest)):
        about = (source.author, name_of(source.language), source.collection.title)
        icon = "video" if source.video_id else "document"
        detail = " · ".join(filter(None, about))
        yield _place(source.title, icon, "source", source.uuid, detail=detail)


def _collections(request: PageRequest, words: str) -> Iterator[Destination]:
    rows = library.collections(request.access) if words else ()
    for row in [row for row in rows if _has(row.title, words)][:MAX_OF_KIND]:
        yield _place(row.title, "collection", "collection", row.pk)


def _lectures(request: PageRequest, words: str) -> Iterator[Destination]:
    if words:
        page = sessions.list_sessions(request.access, words=words, limit=MAX_OF_KIND)
        for lecture in page.sessions:
            begun = date_format(timezone.localtime(lecture.created_at), "SHORT_DATETIME_FORMAT")
            detail = f"{lecture.collection.title} · {begun}"
            yield _place(lecture.title, "wave", "lecture", lecture.uuid, detail=detail)


def _feeds(request: PageRequest, words: str) -> Iterator[Destination]:
    feeds = activity.list_feeds(request.access) if words else ()
    for feed in [feed for feed in feeds if _has(feed, words)][:MAX_OF_KIND]:
        yield _place(feed, "play", "feed", feed.pk, detail=feed.collection.title)


def _tags(request: PageRequest, words: str) -> Iterator[Destination]:
    for tag in tags(request.access, words=words, limit=MAX_OF_KIND) if words else ():
        yield _place(f"#{tag}", "filter", "library", query={"tag": tag})


def _conversations(request: PageRequest, words: str) -> Iterator[Destination]:
    page = conversations.list_conversations(
        request.access, request.user, words=words, limit=MAX_OF_KIND
    )
    for row in page.conversations:
        yield _place(row.title, "chat", "conversation", row.uuid)


def _notes(request: PageRequest, words: str) -> Iterator[Destination]:
    if words:
        for note in notes.list_notes(request.access, words=words, limit=MAX_OF_KIND).notes:
            part, detail = f"#note-{note.uuid}", note.collection.title
            yield _place(note.title, "note", "notes", part=part, detail=detail)


def _highlights(request: PageRequest, words: str) -> Iterator[Destination]:
    if words:
        filter = HighlightFilter(words=words)
        page = highlights.list_highlights(request.access, request.user, filter, limit=MAX_OF_KIND)
        for placed in page.highlights:
            quote = " ".join(placed.row.quote.split())
            detail = placed.row.source.title
            yield Destination(label=quote, address=placed.link, icon="highlight", detail=detail)


def _named(
    entries: tuple[tuple[Any, str, str], ...], icon: str, words: str, source: Source | None
) -> Iterator[Destination]:
    """Yield the pages that have the words in their names; the source is asked."""
    for label, name, part in entries:
        if _has(label, words):
            query = {"source": str(source.uuid)} if source and name == "ask" else None
            yield _place(label, icon, name, query=query, part=part)


def _actions_on(request: PageRequest, words: str) -> Iterator[Destination]:
    """Yield what can be done with something that the words name: highlights for a program, what is
    new of a playlist or channel that the user may change, new members of a collection of theirs.
    """
    if not words:
        return
    exports = (
        _place(_("Export highlights: %s") % program, "download", "highlights-export", form)
        for program, form in EXPORTS
    )
    feeds = (
        _place(_("Fetch what is new: %s") % feed, "refresh", "feed-sync", feed.pk, is_post=True)
        for feed in activity.list_feeds(request.access)
        if feed.collection_id in request.access.writable
    )
    role_in = collections.roles_of(request.user)
    invitations = (
        _place(
            _("Invite somebody to “%s”") % row,
            "person",
            "collection-settings",
            row.pk,
            part="#new-member",
        )
        for row in library.collections(request.access)
        if role_in(row) == "owner"
    )
    for places in (exports, feeds, invitations):
        yield from islice((place for place in places if _has(place.label, words)), MAX_OF_KIND)


def _administration(request: PageRequest, words: str) -> Iterator[Destination]:
    """Yield the tables of the admin that the user may open, and where to add a row."""
    apps = admin.site.get_app_list(request) if words and request.user.is_staff else ()
    ways = (
        (label, model[kind], icon)
        for model in chain.from_iterable(app["models"] for app in apps)
        for label, kind, icon in (
            (model["name"], "admin_url", "right"),
            (_("Add %s") % model["model"]._meta.verbose_name, "add_url", "plus"),
        )
        if model[kind] and _has(label, words)
    )
    for label, address, icon in islice(ways, MAX_OF_KIND):
        detail = _("Administration")
        yield Destination(label=str(label), address=address, icon=icon, detail=str(detail))


def _has(label: object, words: str) -> bool:
    return all(word in str(label).casefold() for word in words.casefold().split())

"""The palette: go to any source, collection, lecture, conversation, note, highlight or page; ask.

Staff go to the tables of the admin, too.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
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
    (_("Applications and tokens"), "tokens", ""),
    (_("Webhooks"), "webhooks", ""),
    (_("REST for programs"), "api-docs", ""),
    (_("Password"), "choose-password", ""),
    (_("Second factor"), "mfa_index", ""),
    (_("Glossary"), "glossary", ""),
)
STAFF_PAGES: Final = ((_("Administration"), "admin:index", ""),)
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
    words, source = words_of(request.GET), _source(request)
    context = {"words": words, "source": source, "groups": [*_groups(request, words, source)]}
    if request.htmx:
        return fragment(request, "citations/_destinations.html", context)
    return render(request, "citations/go_to.html", context)


def _source(request: PageRequest) -> Source | None:
    try:
        return find_source(request.access, request.GET["source"])
    except (KeyError, SourceNotFound):
        return None


def _groups(request: PageRequest, words: str, source: Source | None) -> Iterator[DestinationGroup]:
    pages = PAGES + STAFF_PAGES * request.user.is_staff
    actions = EDITOR_ACTIONS * bool(request.access.writable) + ACTIONS
    scope = urlencode({"source": source.uuid}) if source else ""
    groups = {
        _("Sources"): _sources(request, words),
        _("Collections"): _collections(request, words),
        _("Lectures"): _lectures(request, words),
        _("Playlists and channels"): _feeds(request, words),
        _("Tags"): _tags(request, words),
        _("Conversations"): _conversations(request, words),
        _("Notes"): _notes(request, words),
        _("Highlights"): _highlights(request, words),
        _("Actions"): chain(
            _named(actions, words, icon="plus", scope=scope),
            _exports(words),
            _new_videos(request, words),
            _invitations(request, words),
        ),
        _("Pages"): _named(pages, words, icon="right", scope=scope),
        _("Administration"): _administration(request, words),
    }
    places = {name: tuple(group) for name, group in groups.items()}
    titled = [*([_("Administration")] * _is_in_admin(request)), *TITLED]
    named = _called(words, *(place for name in titled for place in places[name]))
    if named:
        yield DestinationGroup(name=str(_("Best matches")), places=named)
    if questions := tuple(_questions(words, source)):
        yield DestinationGroup(name=str(_("Search and ask")), places=questions, has_questions=True)
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


def _questions(words: str, source: Source | None) -> Iterator[Destination]:
    if words:
        address = f"{reverse('search')}?{urlencode({'q': words})}"
        yield Destination(label=_("Search for “%s”") % words, address=address, icon="search")
        scope = {"source": source.uuid} if source else {}
        yield Destination(
            label=_("Ask “%s”") % words,
            address=f"{reverse('ask')}?{urlencode({'q': words, **scope})}",
            icon="chat",
            detail=source.title if source else "",
            is_question=True,
        )


def _sources(request: PageRequest, words: str) -> Iterator[Destination]:
    titled = sources.titled(request.access, words, limit=MAX_NAMED) if words else []
    newest = sources.list_sources(request.access, words=words, limit=MAX_OF_KIND).sources
    for source in dict.fromkeys((*titled, *newest)):
        yield Destination(
            label=source.title,
            address=reverse("source", args=(source.uuid,)),
            icon="video" if source.video_id else "document",
            detail=" · ".join(
                filter(None, (source.author, name_of(source.language), source.collection.title))
            ),
        )


def _collections(request: PageRequest, words: str) -> Iterator[Destination]:
    named = [row for row in library.collections(request.access) if _has(row.title, words)]
    for collection in named[:MAX_OF_KIND] if words else []:
        address = reverse("collection", args=(collection.pk,))
        yield Destination(label=collection.title, address=address, icon="collection")


def _lectures(request: PageRequest, words: str) -> Iterator[Destination]:
    if words:
        page = sessions.list_sessions(request.access, words=words, limit=MAX_OF_KIND)
        for lecture in page.sessions:
            address = reverse("lecture", args=(lecture.uuid,))
            begun = date_format(timezone.localtime(lecture.created_at), "SHORT_DATETIME_FORMAT")
            detail = f"{lecture.collection.title} · {begun}"
            yield Destination(label=lecture.title, address=address, icon="wave", detail=detail)


def _invitations(request: PageRequest, words: str) -> Iterator[Destination]:
    """Yield a way to new members for each collection that the user owns."""
    role_in = collections.roles_of(request.user)
    rows = library.collections(request.access) if words else ()
    labels = {row.pk: _("Invite somebody to “%s”") % row for row in rows if role_in(row) == "owner"}
    named = [key for key, label in labels.items() if _has(label, words)]
    for key in named[:MAX_OF_KIND]:
        address = f"{reverse('collection-settings', args=(key,))}#new-member"
        yield Destination(label=labels[key], address=address, icon="person")


def _feeds(request: PageRequest, words: str) -> Iterator[Destination]:
    named = [feed for feed in activity.list_feeds(request.access) if _has(str(feed), words)]
    for feed in named[:MAX_OF_KIND] if words else []:
        address = reverse("feed", args=(feed.pk,))
        detail = feed.collection.title
        yield Destination(label=str(feed), address=address, icon="play", detail=detail)


def _new_videos(request: PageRequest, words: str) -> Iterator[Destination]:
    """Yield the fetching of what is new for each playlist and channel that the user may change."""
    feeds = activity.list_feeds(request.access) if words else ()
    labels = {
        feed.pk: _("Fetch what is new: %s") % feed
        for feed in feeds
        if feed.collection_id in request.access.writable
    }
    for key in [key for key, label in labels.items() if _has(label, words)][:MAX_OF_KIND]:
        address = reverse("feed-sync", args=(key,))
        yield Destination(label=labels[key], address=address, icon="refresh", is_post=True)


def _exports(words: str) -> Iterator[Destination]:
    for program, form in EXPORTS if words else ():
        label = _("Export highlights: %s") % program
        if _has(label, words):
            address = reverse("highlights-export", args=(form,))
            yield Destination(label=label, address=address, icon="download")


def _tags(request: PageRequest, words: str) -> Iterator[Destination]:
    for tag in tags(request.access, words=words, limit=MAX_OF_KIND) if words else ():
        address = f"{reverse('library')}?{urlencode({'tag': tag})}"
        yield Destination(label=f"#{tag}", address=address, icon="filter")


def _conversations(request: PageRequest, words: str) -> Iterator[Destination]:
    page = conversations.list_conversations(
        request.access, request.user, words=words, limit=MAX_OF_KIND
    )
    for conversation in page.conversations:
        address = reverse("conversation", args=(conversation.uuid,))
        yield Destination(label=conversation.title, address=address, icon="chat")


def _notes(request: PageRequest, words: str) -> Iterator[Destination]:
    if words:
        for note in notes.list_notes(request.access, words=words, limit=MAX_OF_KIND).notes:
            address = f"{reverse('notes')}#note-{note.uuid}"
            detail = note.collection.title
            yield Destination(label=note.title, address=address, icon="note", detail=detail)


def _highlights(request: PageRequest, words: str) -> Iterator[Destination]:
    if words:
        filter = HighlightFilter(words=words)
        page = highlights.list_highlights(request.access, request.user, filter, limit=MAX_OF_KIND)
        for placed in page.highlights:
            quote = " ".join(placed.row.quote.split())
            detail = placed.row.source.title
            yield Destination(label=quote, address=placed.link, icon="highlight", detail=detail)


def _named(
    entries: tuple[tuple[Any, str, str], ...], words: str, *, icon: str, scope: str
) -> Iterator[Destination]:
    """Yield the pages that have the words in their names; ``scope`` is what the Ask page takes."""
    for label, name, place in entries:
        if _has(label, words):
            query = f"?{scope}" if scope and name == "ask" else ""
            address = f"{reverse(name)}{query}{place}"
            yield Destination(label=str(label), address=address, icon=icon)


def _administration(request: PageRequest, words: str) -> Iterator[Destination]:
    """Yield the tables of the admin that the user may open, and where to add a row."""
    apps = admin.site.get_app_list(request) if words and request.user.is_staff else ()
    about: dict[str, Any] = {"detail": _("Administration")}
    left = MAX_OF_KIND
    for model in chain.from_iterable(app["models"] for app in apps):
        adding = _("Add %s") % model["model"]._meta.verbose_name
        ways = ((model["name"], "admin_url", "right"), (adding, "add_url", "plus"))
        for label, kind, icon in ways:
            if left and model[kind] and _has(label, words):
                left -= 1
                yield Destination(label=str(label), address=model[kind], icon=icon, **about)


def _is_in_admin(request: PageRequest) -> bool:
    return (request.htmx.current_url_abs_path or "").startswith(reverse("admin:index"))


def _has(label: object, words: str) -> bool:
    return all(word in str(label).casefold() for word in words.casefold().split())

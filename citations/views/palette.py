"""The palette: go to any source, collection, conversation, note or page; search; ask."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from citations.library import sources
from citations.notebook import conversations, notes
from citations.views.forms import words_of
from transcripts import library
from transcripts.views.requests import PageRequest, fragment

MOST: Final = 5  # of each kind
PAGES: Final = (
    ("Library", "library", ""),
    ("Search", "search", ""),
    ("Ask", "ask", ""),
    ("Collections", "collections", ""),
    ("Conversations", "conversations", ""),
    ("Notes", "notes", ""),
    ("Highlights", "highlights", ""),
    ("Shared links", "shared-links", ""),
    ("Lectures", "lectures", ""),
    ("Activity", "activity", ""),
    ("Applications and tokens", "tokens", ""),
    ("Webhooks", "webhooks", ""),
)
ACTIONS: Final = (
    ("Add videos or documents", "add", ""),
    ("Ask a question", "ask", ""),
    ("Write a note", "notes", ""),
    ("Follow a lecture", "lecture-new", ""),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Destination:
    """A place to go to; ``detail`` tells it from others of the same name."""

    label: str
    address: str
    icon: str
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DestinationGroup:
    name: str
    places: tuple[Destination, ...]


@require_safe
def go_to(request: PageRequest) -> HttpResponse:
    """Show where the words of ``q`` lead; HTMX gets the list alone."""
    words = words_of(request.GET)
    context = {"words": words, "groups": [*_groups(request, words)]}
    if request.htmx:
        return fragment(request, "citations/_destinations.html", context)
    return render(request, "citations/go_to.html", context)


def _groups(request: PageRequest, words: str) -> Iterator[DestinationGroup]:
    destinations = {
        "Search and ask": _questions(words),
        "Sources": _sources(request, words),
        "Collections": _collections(request, words),
        "Conversations": _conversations(request, words),
        "Notes": _notes(request, words),
        "Actions": _named(ACTIONS, words, icon="plus"),
        "Pages": _named(PAGES, words, icon="right"),
    }
    for name, places in destinations.items():
        if group := tuple(places):
            yield DestinationGroup(name=name, places=group)


def _questions(words: str) -> Iterator[Destination]:
    if words:
        question = urlencode({"q": words})
        for verb, name, icon in (("Search for", "search", "search"), ("Ask", "ask", "chat")):
            address = f"{reverse(name)}?{question}"
            yield Destination(label=f"{verb} “{words}”", address=address, icon=icon)


def _sources(request: PageRequest, words: str) -> Iterator[Destination]:
    for source in sources.list_sources(request.access, words=words, limit=MOST).sources:
        yield Destination(
            label=source.title,
            address=reverse("source", args=(source.uuid,)),
            icon="play" if source.video_id else "document",
            detail=" · ".join(
                filter(None, (source.author, source.language, source.collection.name))
            ),
        )


def _collections(request: PageRequest, words: str) -> Iterator[Destination]:
    named = [row for row in library.collections(request.access) if _has(row.name, words)]
    for collection in named[:MOST] if words else []:
        address = reverse("collection", args=(collection.pk,))
        yield Destination(label=collection.name, address=address, icon="collection")


def _conversations(request: PageRequest, words: str) -> Iterator[Destination]:
    page = conversations.list_conversations(request.access, request.user, words=words, limit=MOST)
    for conversation in page.conversations:
        address = reverse("conversation", args=(conversation.uuid,))
        yield Destination(label=conversation.title, address=address, icon="chat")


def _notes(request: PageRequest, words: str) -> Iterator[Destination]:
    if words:
        for note in notes.list_notes(request.access, words=words, limit=MOST).notes:
            address = f"{reverse('notes')}#note-{note.uuid}"
            detail = note.collection.name
            yield Destination(label=note.title, address=address, icon="note", detail=detail)


def _named(
    known: tuple[tuple[str, str, str], ...], words: str, *, icon: str
) -> Iterator[Destination]:
    for label, name, place in known:
        if _has(label, words):
            yield Destination(label=label, address=f"{reverse(name)}{place}", icon=icon)


def _has(label: str, words: str) -> bool:
    return all(word in label.casefold() for word in words.casefold().split())

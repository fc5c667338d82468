"""The Search page, its filter as removable chips, and selects to extend it."""

from dataclasses import dataclass
from functools import partial
from typing import Any, Final
from urllib.parse import urlencode
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST, require_safe

from citations.errors import EmbeddingMismatch, InvalidProvider
from citations.formats import kind_choices
from citations.guide import storage as guide_storage
from citations.library import sources
from citations.library.filters import Values, facets, find_source
from citations.models import Source
from citations.passages import Results, SearchMode
from citations.reading import landing
from citations.reading.landing import Landing
from citations.reading.position import Position
from citations.schemas.filters import MAX_LIMIT
from citations.search import candidates, judgments
from citations.search import pipeline as search_pipeline
from citations.views import for_pages
from citations.views.search_form import (
    LISTS,
    MarkForm,
    PageForm,
    SearchForm,
    SubmittedSearch,
    label_of,
)
from citations.views.search_hits import carried_place, in_order, list_hits
from transcripts.core.errors import KnowledgeBaseError, NotFound, Unavailable
from transcripts.core.languages import name_of
from transcripts.core.scope import Scope
from transcripts.core.views.requests import PageRequest, back, fragment, number_of
from transcripts.text.timecodes import watch_url


@dataclass(frozen=True, slots=True, kw_only=True)
class Chip:
    """A value of the filter; ``without`` is the address of the search without it.

    ``is_kept``: no other field of the form carries it.
    """

    name: str
    value: str
    label: str
    shown: str
    without: str
    is_kept: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class FilterSelect:
    """A select that adds a value to the filter; options are (value, label)."""

    name: str
    label: str
    options: tuple[tuple[str, str], ...]


def chips(scope: Scope, search: SubmittedSearch, facets: dict[str, Values]) -> list[Chip]:
    return [
        Chip(
            name=name,
            value=value,
            label=label_of(name),
            shown=find_source(scope, value).title
            if name == "source"
            else _named(name, dict(facets.get(LISTS.get(name, name), ())).get(value, value)),
            without=search.without(name, value).address,
            is_kept=name in LISTS,
        )
        for name, value in search.filters
    ]


def choices(search: SubmittedSearch, facets: dict[str, Values]) -> list[FilterSelect]:
    """Return selects of values that are not chosen yet, without empty ones."""
    chosen = set(search.filters)
    remaining = {
        name: tuple(
            (value, _named(name, title))
            for value, title in facets.get(part, ())
            if (name, value) not in chosen
        )
        for name, part in LISTS.items()
    }
    return [
        FilterSelect(name=name, label=label_of(name), options=pairs)
        for name, pairs in remaining.items()
        if pairs
    ]


def _named(name: str, value: str) -> str:
    """Return a value of a filter as people know it; kinds are those to search, among which are
    recordings of which nothing plays.
    """
    if name == "kind":
        return str(dict(kind_choices()).get(value, value))
    return name_of(value) if name == "language" else value


MODES: Final = (
    (SearchMode.BOTH, _("Both"), _("words and meaning")),
    (SearchMode.WORDS, _("Words"), _("exactly these words")),
    (SearchMode.MEANING, _("Meaning"), _("in other words too")),
)
JUDGES: Final = "judges"  # the cookie of who marks hits as right or wrong


@require_safe
def show_search(request: PageRequest) -> HttpResponse:
    """Search. HTMX gets the part below the search box, or only the final results."""
    form = SearchForm(request.GET)
    try:
        context = _context(request, form.parameters())
    except KnowledgeBaseError as error:
        if request.htmx:
            raise  # the page stays, and the message is shown on top
        status = 404 if isinstance(error, NotFound) else 422
        context = {"criteria": form.question(), "modes": MODES, "error": for_pages(error)}
        return render(request, "citations/search.html", context, status=status)
    if not request.htmx:
        return render(request, "citations/search.html", context)
    if request.htmx.target == "results":
        return fragment(request, "citations/_search_results.html", context)
    response = fragment(request, "citations/_search_body.html", context)
    response["HX-Push-Url"] = f"{reverse('search')}?{context['criteria'].address}"
    return response


@require_POST
def mark(request: PageRequest) -> HttpResponse:
    """Mark a hit as right or wrong, or remove the mark."""
    form = MarkForm(request.POST)
    verdict = form.verdict_of()
    values = form.cleaned_data
    judgments.mark(request.access, request.user, values["query"], values["chunk"], right=verdict)
    if request.htmx:
        context = {name: values[name] for name in ("chunk", "query")}
        context |= {"mark": verdict, "is_new": True}
        return fragment(request, "citations/_judgment.html", context)
    return back(request, "search")


@require_safe
def open_hit(request: PageRequest, source_id: UUID) -> HttpResponse:
    """Redirect to the sentence of a passage that the query is about."""
    source, query, landed = _landing(request, source_id)
    if landed is None:
        return redirect("source", source_id=source_id)
    first, last = landed.sentence.span
    place = carried_place(request.GET)
    parts = {"from": first, "to": last, "q": query, **(place.parts if place else {})}
    if source.video_id:
        second = f"{(landed.sentence.start or 0) // 1000}s"
        parts = {"t": second, **parts, "lang": source.language}
        return redirect(f"{reverse('video', args=(source.video_id,))}?{urlencode(parts)}")
    page = reverse("source-page", args=(source_id, landed.sentence.page or 1))
    return redirect(f"{page}?{urlencode(parts)}")


@require_safe
def open_step(request: PageRequest) -> HttpResponse:
    """Open the hit of a search that has the number ``hit``; the search if it has no such hit."""
    criteria = SearchForm(request.GET).parameters()
    results, _ = _search(request, criteria, is_first=False)
    likely, unlikely = list_hits(results, criteria, names={})
    for hit in in_order([*likely, *unlikely]):
        if hit.place and hit.place.number == number_of(request.GET.get("hit", "")):
            first, last = hit.passage.locator.span
            parts = {"from": first, "to": last, "q": criteria.query, **hit.place.parts}
            address = reverse("hit", args=(hit.passage.origin.id,))
            return redirect(f"{address}?{urlencode(parts)}")
    return redirect(f"{reverse('search')}?{criteria.address}")


@require_safe
def play_hit(request: PageRequest, source_id: UUID) -> HttpResponse:
    """Show the player of a recording from that sentence to the end of the passage, as a fragment;
    ``on=youtube`` redirects to YouTube at that second.
    """
    source, _, landed = _landing(request, source_id)
    if source.video is None or landed is None:
        page = redirect("source", source_id=source_id)
        return HttpResponse(status=204, headers={"HX-Redirect": page.url}) if request.htmx else page
    begin, until = landed.sentence.start or 0, landed.rest.end
    if request.GET.get("on") == "youtube" and source.video.youtube_id:
        return redirect(watch_url(source.video.youtube_id, at_ms=begin))
    if not request.htmx:
        return redirect(f"{reverse('hit', args=(source_id,))}?{request.GET.urlencode()}")
    context = {"video": source.video, "position": Position(begin=begin, until=until)}
    return fragment(request, "citations/_player.html", context)


def _landing(request: PageRequest, source_id: UUID) -> tuple[Source, str, Landing | None]:
    source = find_source(request.access, str(source_id))
    parameters = PageForm(request.GET).parameters()
    return (
        source,
        parameters.words,
        parameters.quote and landing.find(source, parameters.quote, parameters.words),
    )


def _context(request: PageRequest, criteria: SubmittedSearch) -> dict[str, Any]:
    available = facets(request.access)
    context: dict[str, Any] = {
        "criteria": criteria,
        "modes": MODES,
        "chips": chips(request.access, criteria, available),
        "choices": choices(criteria, available),
        "counts": sources.count(Source.objects.visible(request.access)),
    }
    if not criteria.query:
        return context | {"suggested": guide_storage.suggested(request.access)}
    is_final = "full" in request.GET
    is_first = not is_final and bool(search_pipeline.slow_stages(mode=criteria.mode))
    results, problem = _search(request, criteria, is_first=is_first)
    groups, unlikely = list_hits(results, criteria, names=dict(available["collections"]))
    return context | {
        "results": results,
        "suggested": criteria.asking(results.suggestion) if results.suggestion else None,
        "shown": len(in_order([*groups, *unlikely])),
        "source_count": len({group.origin.id for group in (*groups, *unlikely)}),
        "groups": groups,
        "unlikely": unlikely,
        "unlikely_count": len(in_order(unlikely)),
        "problem": problem,
        "is_partial": criteria.mode != SearchMode.WORDS and candidates.is_by_words(results.stages),
        "is_first": is_first and problem is None,
        "is_final": is_final,
        "others": [
            (criteria.in_mode(mode), label) for mode, label, _ in MODES if mode != criteria.mode
        ],
        "more": criteria.more() if results.total >= criteria.limit < MAX_LIMIT else None,
    }


def _search(
    request: PageRequest, criteria: SubmittedSearch, *, is_first: bool
) -> tuple[Results, KnowledgeBaseError | None]:
    """Search. If no model is available, search by words, and return the error."""
    search = partial(
        search_pipeline.search,
        request.access,
        criteria.query,
        filter=criteria.filter,
        explain=True,
        limit=criteria.limit,
        user=request.user,
        for_readers=True,
    )
    try:
        return search(mode=criteria.mode, quick=is_first), None
    except (EmbeddingMismatch, InvalidProvider, Unavailable) as error:
        if criteria.mode == SearchMode.WORDS:
            raise
        return search(mode=SearchMode.WORDS, rerank=False), error

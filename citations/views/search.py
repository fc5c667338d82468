"""The Search page: a question over the whole library, answered by passages."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST, require_safe

from citations.errors import EmbeddingMismatch, InvalidProvider
from citations.library import sources
from citations.library.facets import facets
from citations.models import Source
from citations.passages import Passage, PassageSource, Results, SearchMode
from citations.search import judgments
from citations.search import pipeline as search_pipeline
from citations.views.filter_chips import chips, choices
from citations.views.search_form import MOST, MarkForm, SearchForm, SearchRequest
from transcripts.errors import KnowledgeBaseError, NotFound, Unavailable
from transcripts.views.requests import PageRequest, fragment

MODES: Final = (
    (SearchMode.HYBRID, "Both", "words and meaning"),
    (SearchMode.LEXICAL, "Words", "exactly these words"),
    (SearchMode.VECTOR, "Meaning", "in other words too"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedPassage:
    """A passage and its rank among all that were found, counted from 1."""

    rank: int
    passage: Passage


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceHits:
    """The hits of one source, best first, and its collection's name; groups stand in the order of their best hits."""

    origin: PassageSource
    collection: str
    hits: tuple[RankedPassage, ...]


@require_safe
def show_search(request: PageRequest) -> HttpResponse:
    """Search, and show the passages; HTMX gets what lies below the search box, or the passages alone when they come in their final order."""
    form = SearchForm(request.GET)
    try:
        context = _context(request, form.asked())
    except KnowledgeBaseError as error:
        if request.htmx:
            raise  # the page stays as it is, and the message is laid over it
        status = 404 if isinstance(error, NotFound) else 422
        return render(
            request,
            "citations/search.html",
            {"asked": form.question(), "modes": MODES, "error": error},
            status=status,
        )
    return _answer(request, context)


@require_POST
def mark(request: PageRequest) -> HttpResponse:
    """Mark a hit as right or wrong, or take the mark back."""
    form = MarkForm(request.POST)
    verdict = form.verdict_of()
    values = form.cleaned_data
    judgments.mark(request.reach, request.user, values["query"], values["chunk"], right=verdict)
    if request.htmx:
        return fragment(
            request,
            "citations/_marks.html",
            {"chunk": values["chunk"], "query": values["query"], "mark": verdict, "is_new": True},
        )
    back = request.POST.get("next", "")
    is_ours = url_has_allowed_host_and_scheme(
        back, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    return redirect(back if is_ours else "search")


def _answer(request: PageRequest, context: dict[str, Any]) -> HttpResponse:
    if not request.htmx:
        return render(request, "citations/search.html", context)
    if request.htmx.target == "results":
        return fragment(request, "citations/_results.html", context)
    response = fragment(request, "citations/_found.html", context)
    response["HX-Push-Url"] = f"{reverse('search')}?{context['asked'].address}"
    return response


def _context(request: PageRequest, asked: SearchRequest) -> dict[str, Any]:
    known = facets(request.reach)
    context = {
        "asked": asked,
        "modes": MODES,
        "chips": chips(request.reach, asked, known),
        "choices": choices(asked, known),
        "counts": sources.count(Source.objects.visible(request.reach)),
    }
    return (
        {**context, **_found(request, asked, names=dict(known.collections))}
        if asked.query
        else context
    )


def _found(request: PageRequest, asked: SearchRequest, *, names: dict[str, str]) -> dict[str, Any]:
    is_final = "full" in request.GET
    is_first = not is_final and bool(search_pipeline.slow_stages(mode=asked.mode))
    results, problem = _search(request, asked, is_first=is_first)
    return {
        "results": results,
        "groups": _grouped(results.passages, names),
        "problem": problem,
        "is_partial": asked.mode != SearchMode.LEXICAL
        and all(stage.name != search_pipeline.VECTOR for stage in results.stages),
        "is_first": is_first and problem is None,
        "is_final": is_final,
        "others": [(asked.in_mode(mode), label) for mode, label, _ in MODES if mode != asked.mode],
        "more": asked.more() if len(results.passages) == asked.limit < MOST else None,
    }


def _search(
    request: PageRequest, asked: SearchRequest, *, is_first: bool
) -> tuple[Results, KnowledgeBaseError | None]:
    """Search; what no model can be found for is looked for by its words, and the error is returned as well."""
    look = partial(
        search_pipeline.search,
        request.reach,
        asked.query,
        limit=asked.limit,
        filter=asked.filter,
        explain=True,
        user=request.user,
    )
    try:
        return look(mode=asked.mode, quick=is_first), None
    except (EmbeddingMismatch, InvalidProvider, Unavailable) as error:
        if asked.mode == SearchMode.LEXICAL:
            raise
        return look(mode=SearchMode.LEXICAL, rerank=False), error


def _grouped(passages: Sequence[Passage], names: dict[str, str]) -> list[SourceHits]:
    found: dict[UUID, list[RankedPassage]] = {}
    for rank, passage in enumerate(passages, start=1):
        found.setdefault(passage.origin.id, []).append(RankedPassage(rank=rank, passage=passage))
    heads = ((hits[0].passage.origin, tuple(hits)) for hits in found.values())
    return [
        SourceHits(origin=origin, collection=names.get(origin.collection, ""), hits=hits)
        for origin, hits in heads
    ]

"""Current work: jobs, sources that are being indexed, the gate to YouTube and the worker."""

from typing import Any, Final

from django.db.models import F
from django.http import HttpResponse
from django.middleware.csrf import get_token
from django.shortcuts import render
from django.template.loader import render_to_string
from django.views.decorators.http import require_GET, require_safe

from citations.ingest import time_left
from citations.lexical import index as lexical_index
from citations.library import sources
from citations.library.sources import Counts
from citations.models import UNFINISHED, Source, State
from transcripts.core.announcements import JOBS, SOURCES
from transcripts.core.scope import Scope
from transcripts.core.views import events
from transcripts.core.views.events import EventStream, Fragment
from transcripts.core.views.requests import PageRequest, fragment, offset_of
from transcripts.library import activity
from transcripts.library.activity import Activity
from transcripts.models import Job
from transcripts.views.activity import may_reopen

PAUSE: Final = 2.0  # seconds; each open page counts the jobs: 50 ms for a hundred thousand
INDEXED: Final = 10  # sources whose progress or failure is shown
DRAWN: Final = 8  # jobs in the drawer


@require_safe
def show_activity(request: PageRequest) -> HttpResponse:
    """Show the page, or to HTMX the drawer, which has the latest alone."""
    context = {**_activity(request, request.access), "feeds": activity.list_feeds(request.access)}
    if request.htmx:
        return fragment(request, "citations/_activity_drawer.html", context)
    return render(request, "citations/activity.html", context)


@require_safe
def show_now(request: PageRequest) -> HttpResponse:
    """Show the indicator of the header, how much is going on, and the counter of searches."""
    now = activity.summary(request.access)
    counts = sources.count(Source.objects.visible(request.access))
    context = {"now": now, "counts": counts, **_readiness(request.access, now, counts)}
    return fragment(request, "citations/_activity_now.html", context)


@require_safe
def show_job_sources(request: PageRequest, pk: int) -> HttpResponse:
    """Show how far the sources of one job are: a fragment that asks again until they are ready."""
    job = activity.find_job(request.access, pk)
    own = sources.of_jobs(request.access, [job])[job.pk]
    return fragment(request, "citations/_job_sources.html", {"job": job, "sources": own})


@require_GET
def activity_events(request: PageRequest) -> EventStream:
    """Send the list of current work whenever it changes."""
    token = get_token(request)  # a constant one, so that the list changes only when its rows do

    def render(scope: Scope) -> Fragment:
        context = {**_activity(request, scope), "csrf_token": token, "is_pushed": True}
        html = render_to_string("citations/_activity.html", context, request=request)
        return Fragment(html, is_busy=bool(context["now"].is_busy or context["outdated"]))

    return events.stream(
        "activity", render, caller=request.caller, topics=(JOBS, SOURCES), pause=PAUSE
    )


def _readiness(scope: Scope, now: Activity, counts: Counts) -> dict[str, Any]:
    """Return how much is on its way, how many sources there will be, and in how many seconds: what
    is still fetched is counted, though a playlist has many.
    """
    busy = now.unfinished + counts.unfinished
    return {
        "busy": busy,
        "expected": counts.total + now.unfinished,
        "seconds_left": time_left.seconds_left(scope, now) if busy else None,
    }


def _activity(request: PageRequest, scope: Scope) -> dict[str, Any]:
    state, offset = request.GET.get("state", ""), offset_of(request)
    is_drawer = bool(request.htmx) or "drawer" in request.GET
    limit = {"limit": DRAWN} if is_drawer else {}
    visible = Source.objects.visible(scope)
    unfinished = visible.filter(state__in=UNFINISHED)
    opened_last = F("wanted_at").desc(nulls_last=True)
    indexed = unfinished.select_related("collection").order_by("-total", opened_last, "pk")
    failed = visible.filter(state=State.FAILED).select_related("collection")
    now, counts = activity.summary(scope), sources.count(visible)
    outdated = lexical_index.outdated(visible).count()
    page = activity.list_jobs(scope, state=state, offset=offset, **limit)
    return {
        "now": now,
        **_readiness(scope, now, counts),
        "page": page,
        "job_sources": sources.of_jobs(scope, page.jobs),
        "state": state,
        "states": Job.State.choices,
        "offset": offset,
        "may_write": bool(scope.writable),
        "may_reopen": may_reopen(request),
        "is_drawer": is_drawer,
        "counts": counts,
        "outdated": outdated,
        "indexed": indexed[:INDEXED],
        "failed": failed.order_by("-updated_at", "-pk")[:INDEXED],
        "writable": scope.writable,
    }

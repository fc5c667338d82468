"""Jobs, the gate to YouTube, and playlists and channels: look at one, try it again."""

from typing import Any, Final
from urllib.parse import urlencode

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import (
    require_GET,
    require_http_methods,
    require_POST,
    require_safe,
)

from transcripts.adding import acquisition, feed_entries, listening
from transcripts.core.announcements import JOBS
from transcripts.core.errors import Forbidden
from transcripts.core.scope import Scope
from transcripts.core.views import events
from transcripts.core.views.events import EventStream, Fragment
from transcripts.core.views.requests import PageRequest, offset_of, redirect_with_message
from transcripts.forms import ScheduleForm, require_valid
from transcripts.library import activity
from transcripts.models import Feed
from transcripts.tasks import dispatch, send
from transcripts.text.timecodes import target_url, watch_url

PAGE_SIZE: Final = 100  # entries


@require_safe
def show_job(request: PageRequest, pk: int) -> HttpResponse:
    return render(request, "transcripts/job.html", _job(request.access, pk))


@require_GET
def job_events(request: PageRequest, pk: int) -> EventStream:
    """Send a job whenever it changes, until it ends."""
    activity.find_job(request.access, pk)

    def render(scope: Scope) -> Fragment:
        context = _job(scope, pk)
        html = render_to_string("transcripts/_job.html", context, request=request)
        return Fragment(html, is_final=context["job"].is_finished, is_busy=True)

    return events.stream("job", render, caller=request.caller, topics=(JOBS,))


@require_POST
def retry(request: PageRequest, pk: int) -> HttpResponse:
    job = activity.find_job(request.access, pk)
    request.access.require_write(job.collection_id)
    send(acquisition.retry(job, listens="listen" in request.POST))
    return redirect_with_message(
        request, _("“%(title)s” is queued again.") % {"title": job.target}, "activity"
    )


@require_POST
def stop(request: PageRequest, pk: int) -> HttpResponse:
    """Stop listening to a recording."""
    job = activity.find_job(request.access, pk)
    request.access.require_write(job.collection_id)
    listening.stop(job)
    message = _("Listening to “%(title)s” is stopped; what was heard is kept.")
    return redirect_with_message(request, message % {"title": job.target}, "activity")


@require_POST
def reopen_gate(request: PageRequest) -> HttpResponse:
    if not may_reopen(request):
        raise Forbidden(
            "Only administrators may do this: the gate is that of all collections.",
            hint="Ask an administrator of this server.",
        )
    acquisition.reopen_gate()
    dispatch()
    return redirect_with_message(
        request, _("The gate is open; the next video is requested now."), "activity"
    )


def may_reopen(request: PageRequest) -> bool:
    """Return whether the user may open the gate, which is that of all collections."""
    return request.user.has_perm("transcripts.change_youtubegate")


def _job(scope: Scope, pk: int) -> dict[str, Any]:
    job = activity.find_job(scope, pk)
    return {"job": job, "may_write": bool(scope.writable), "scope": scope}


@require_safe
def find_feed(request: PageRequest) -> HttpResponse:
    """Go to the page of the channel or playlist of a name, or to what the library has of it."""
    collection = request.GET.get("collection", "")
    name = next((name for name in ("playlist", "channel") if request.GET.get(name)), "")
    lookup = {"playlist": activity.of_playlist, "channel": activity.of_channel}.get(name)
    if lookup is None:
        return redirect("library")
    feeds = lookup(request.access, request.GET[name], collection=collection).feeds
    if len(feeds) == 1:
        return redirect("feed", pk=feeds[0].pk)
    parts = {name: request.GET[name], **({"collection": collection} if collection else {})}
    return redirect(f"{reverse('library')}?{urlencode(parts)}")


@require_safe
def show_feed(request: PageRequest, pk: int) -> HttpResponse:
    """Show the videos of a playlist or channel in its order, and what became of each."""
    feed = activity.find_feed(request.access, pk)
    offset = offset_of(request)
    context = {
        "feed": feed,
        "address": target_url(feed.target),
        "page": feed_entries.list_items(request.access, feed, offset=offset, limit=PAGE_SIZE),
        "offset": offset,
        "job": feed.jobs.unfinished().filter(kind="feed").first(),
        "may_write": feed.collection_id in request.access.writable,
    }
    return render(request, "transcripts/feed.html", context)


@require_POST
def sync_feed(request: PageRequest, pk: int) -> HttpResponse:
    """Read the list again, and fetch what is new."""
    feed = _changeable(request, pk)
    send(acquisition.request_feed(feed, by=request.user))
    message = _("Looking for new videos of “%(feed)s”.") % {"feed": feed}
    return redirect_with_message(request, message, "feed", pk=pk)


@require_POST
def fetch_entry(request: PageRequest, pk: int) -> HttpResponse:
    """Fetch one video of the list, though it was deleted, or failed before."""
    feed = _changeable(request, pk)
    entry = feed_entries.find(feed, request.POST.get("video", ""))
    address = watch_url(entry.youtube_id)
    send(acquisition.request(feed.collection, address, by=request.user))
    return redirect_with_message(
        request, _("“%(video)s” is queued.") % {"video": entry}, "feed", pk=pk
    )


@require_POST
def schedule_feed(request: PageRequest, pk: int) -> HttpResponse:
    """Set how many videos are added, and how often the list is read."""
    feed = _changeable(request, pk)
    activity.schedule(feed, **require_valid(ScheduleForm(request.POST)))
    message = _("The schedule of “%(feed)s” was changed.") % {"feed": feed}
    return redirect_with_message(request, message, "feed", pk=pk)


@require_http_methods(["GET", "HEAD", "POST"])
def remove_feed(request: PageRequest, pk: int) -> HttpResponse:
    """Ask for confirmation, then remove the feed."""
    feed = _changeable(request, pk)
    if request.method != "POST":
        context = {"feed": feed, "unfinished": feed.jobs.unfinished().count()}
        return render(request, "transcripts/remove_feed.html", context)
    collection = feed.collection_id
    activity.remove_feed(feed)
    message = _("“%(feed)s” was removed; its videos stay.") % {"feed": feed}
    return redirect_with_message(request, message, "collection", pk=collection)


def _changeable(request: PageRequest, pk: int) -> Feed:
    feed = activity.find_feed(request.access, pk)
    request.access.require_write(feed.collection_id)
    return feed

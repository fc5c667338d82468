"""Jobs and the gate to YouTube: look at one, try it again."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST, require_safe

from transcripts.adding import acquisition
from transcripts.core.announcements import JOBS
from transcripts.core.errors import Forbidden
from transcripts.core.scope import Scope
from transcripts.core.views import events
from transcripts.core.views.events import EventStream, Fragment
from transcripts.core.views.requests import PageRequest, redirect_with_message
from transcripts.library import activity
from transcripts.tasks import dispatch, send


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
    send(acquisition.retry(job))
    return redirect_with_message(
        request, _("“%(title)s” is queued again.") % {"title": job.target}, "activity"
    )


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

"""The guided start: a minute with the sample library, one hint on each of its pages.

A cookie holds where a person is. Without one, the library offers the start; 0 says that it was
left, so it is offered no more, only by the menu.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from django.http import HttpResponse
from django.shortcuts import redirect, resolve_url
from django.utils.functional import Promise
from django.utils.http import urlencode
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST, require_safe

from citations import samples
from citations.models import LectureSession
from kbsite.callers import SignedInRequest
from transcripts import samples as talks
from transcripts.core.errors import NotFound
from transcripts.core.scope import Scope
from transcripts.core.site_path import site_path
from transcripts.core.views.requests import A_YEAR, back
from transcripts.models import Video

QUESTION: Final = "How long should a program wait before it asks again?"
LEFT: Final = "0"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One page of the start, and what to try there."""

    hint: Promise
    address: Callable[[Scope], str]  # raises ``NotFound`` without the sample


def _search(scope: Scope) -> str:
    return f"{resolve_url('search')}?{urlencode({'q': QUESTION})}"


def _talk(scope: Scope) -> str:
    talk = Video.objects.visible(scope).filter(key=talks.LONG).order_by("pk").first()
    if talk is None:
        raise NotFound("The sample library is not here.", hint="Press “Try the sample” first.")
    return f"{talk.path}?t=64"


def _ask(scope: Scope) -> str:
    return f"{resolve_url('ask')}?{urlencode({'q': QUESTION})}"


def _lecture(scope: Scope) -> str:
    lectures = LectureSession.objects.visible(scope).filter(title=samples.LECTURE)
    lecture = lectures.order_by("pk").first()
    return resolve_url("lecture", lecture.uuid) if lecture else resolve_url("lectures")


STEPS: Final = (
    Step(
        address=_search,
        hint=_(
            "This is a search in everything that is said and written here, by words and by "
            "meaning. Open a hit: a recording opens at its second, a document at its page."
        ),
    ),
    Step(
        address=_talk,
        hint=_(
            "A transcript opens at its second, and plays there if there is sound. Select some "
            "words and choose a colour: that is a highlight, with its second."
        ),
    ),
    Step(
        address=lambda scope: resolve_url("highlights"),
        hint=_(
            "Your highlights are collected here. Open one and press Share: the link opens this "
            "clip for anybody, for as long as you say."
        ),
    ),
    Step(
        address=_ask,
        hint=_(
            "Press Ask. The answer is made of quotations that were checked word for word; each "
            "number leads to its place."
        ),
    ),
    Step(
        address=_lecture,
        hint=_(
            "Press Replay: while the lecture is heard, the pages of the textbook that belong to "
            "it appear beside it."
        ),
    ),
)


def number_of(request: SignedInRequest) -> int | None:
    """Return the step that a person is at, 0 if they have left, None if they never began."""
    value = request.COOKIES.get(_cookie(request), "")
    return int(value) if value in {LEFT, *map(str, range(1, len(STEPS) + 1))} else None


@require_safe
def go(request: SignedInRequest, number: int) -> HttpResponse:
    """Open the page of a step, from 1. Raises ``NotFound``."""
    if not 1 <= number <= len(STEPS):
        raise NotFound("There is no such step.", hint="Begin at the first one.")
    response = redirect(STEPS[number - 1].address(request.access))
    return _remember(request, response, str(number))


@require_POST
def leave(request: SignedInRequest) -> HttpResponse:
    """Show no hints and offer the start no more."""
    response = HttpResponse() if request.htmx else back(request, "library")
    return _remember(request, response, LEFT)


def _remember(request: SignedInRequest, response: HttpResponse, value: str) -> HttpResponse:
    response.set_cookie(
        _cookie(request),
        value,
        max_age=A_YEAR,
        samesite="Lax",
        path=site_path("/"),
        httponly=True,
        secure=request.is_secure(),
    )
    return response


def _cookie(request: SignedInRequest) -> str:
    return f"start-{request.user.pk}"

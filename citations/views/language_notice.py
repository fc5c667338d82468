"""The notice about languages that the model of meaning does not know, until it is dismissed.

The browser keeps for which languages a user dismissed it: another language shows it again.
"""

from django.http import HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_POST

from citations.models import Source, SourceQuerySet
from citations.vectors import language_gap
from citations.vectors.language_gap import LanguageGap
from transcripts.core.views.requests import A_YEAR, PageRequest, back

_BETWEEN = "."  # codes of languages


def current(request: PageRequest, among: SourceQuerySet) -> LanguageGap | None:
    """Return the gap that the notice tells of, None if there is none, or none that is new."""
    gap = language_gap.find(among)
    dismissed = request.COOKIES.get(_cookie(request), "").split(_BETWEEN)
    return gap if gap and not {*gap.languages} <= {*dismissed} else None


@require_POST
def dismiss(request: PageRequest) -> HttpResponse:
    """Show the notice no more for the languages that it names now."""
    gap = language_gap.find(Source.objects.visible(request.access))
    response = HttpResponse() if request.htmx else back(request, reverse("library"))
    if gap:
        codes = _BETWEEN.join(gap.languages)
        response.set_cookie(_cookie(request), codes, max_age=A_YEAR, samesite="Lax", httponly=True)
    return response


def _cookie(request: PageRequest) -> str:
    return f"languages-{request.user.pk}"

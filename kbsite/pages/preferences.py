"""The page Settings: what one person chooses, and the way to what they have set up."""

from typing import Any, Final

from allauth.mfa.utils import is_mfa_enabled
from django import forms
from django.conf import settings
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods

from citations import conf
from citations.views.search import JUDGES
from kbsite.callers import SignedInRequest
from kbsite.models import ApiToken, Webhook
from kbsite.oauth import connections
from transcripts.core.errors import InvalidInput
from transcripts.core.site_path import site_path
from transcripts.core.views.requests import A_YEAR

AS_ASKED: Final = ("", _("As the browser asks for"))


class PreferencesForm(forms.Form):
    """What cookies of this browser keep for a year."""

    language = forms.ChoiceField(choices=[AS_ASKED, *settings.LANGUAGES], required=False)
    judges = forms.BooleanField(required=False)


@require_http_methods(["GET", "HEAD", "POST"])
def show(request: SignedInRequest) -> HttpResponse:
    """Show the settings; keep those of this browser."""
    if request.method != "POST":
        return render(request, "kbsite/preferences.html", _context(request))
    form = PreferencesForm(request.POST)
    if not form.is_valid():
        raise InvalidInput("This is no language of Cuebase.", hint="Choose one of the list.")
    response = redirect("preferences")
    chosen = {
        settings.LANGUAGE_COOKIE_NAME: form.cleaned_data["language"],
        JUDGES: "1" if form.cleaned_data["judges"] else "",
    }
    for name, value in chosen.items():
        if value:
            about: dict[str, Any] = {"samesite": "Lax", "secure": request.is_secure()}
            path = site_path("/")
            response.set_cookie(name, value, A_YEAR, path=path, httponly=True, **about)
        else:
            response.delete_cookie(name, path=site_path("/"))
    return response


def _context(request: SignedInRequest) -> dict[str, Any]:
    model = conf.llm()
    tokens = ApiToken.objects.filter(user=request.user, revoked_at=None, application=None)
    return {
        "languages": [AS_ASKED, *settings.LANGUAGES],
        "language": request.COOKIES.get(settings.LANGUAGE_COOKIE_NAME, ""),
        "judges": JUDGES in request.COOKIES,
        "has_second_factor": is_mfa_enabled(request.user),
        "tokens": tokens.count(),
        "applications": connections.live(request.user).count(),
        "webhooks": Webhook.objects.filter(user=request.user).count(),
        "model": "" if model.provider == conf.NO_LLM else model.model or model.provider,
    }

"""The language of pages: what the browser asks for first, of English and those in kbsite/locale.

What programs read stays English: they compare it and store it. So does what pages say about REST;
the site around that is in the reader's language.
"""

from collections.abc import Mapping
from typing import Any, Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.middleware.locale import LocaleMiddleware
from django.shortcuts import render
from django.utils import translation

from kbsite.errors import API

FOR_PROGRAMS: Final = (
    API,
    *("/oauth/token/", "/oauth/revoke/", "/oauth/register/", "/.well-known/"),
    *("/healthz", "/readyz", "/metrics", "/static/"),
)
REST_PAGES: Final = f"{API}v1/docs"
# For base.html: what a page about REST says is English, whoever reads it.
REFERENCE: Final = {"content_language": settings.LANGUAGE_CODE}


class PageLanguageMiddleware(LocaleMiddleware):
    """Activates the language of a request, and says that a page depends on it."""

    def process_request(self, request: HttpRequest) -> None:
        if _is_for_programs(request):
            translation.activate(settings.LANGUAGE_CODE)
        else:
            super().process_request(request)

    def process_response(self, request: HttpRequest, response: Any) -> Any:
        """Add ``Vary: Accept-Language`` and ``Content-Language`` to pages."""
        if _is_for_programs(request):
            return response
        return super().process_response(request, response)


def reference(request: HttpRequest, template: str, context: Mapping[str, Any]) -> HttpResponse:
    """Render a page about REST."""
    response = render(request, template, {**REFERENCE, **context})
    response["Content-Language"] = settings.LANGUAGE_CODE
    return response


def _is_for_programs(request: HttpRequest) -> bool:
    path = request.path_info
    return path.startswith(FOR_PROGRAMS) and not path.startswith(REST_PAGES)

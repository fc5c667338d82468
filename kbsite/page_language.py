"""The language of pages: what the browser asks for first, of English and those in kbsite/locale.

What programs read stays English: they compare it and store it. The pages about REST are pages.
"""

from typing import Any, Final

from django.conf import settings
from django.http import HttpRequest
from django.middleware.locale import LocaleMiddleware
from django.utils import translation

from kbsite.errors import API

FOR_PROGRAMS: Final = (
    API,
    *("/oauth/token/", "/oauth/revoke/", "/oauth/register/", "/.well-known/"),
    *("/healthz", "/readyz", "/metrics", "/static/"),
)
REST_PAGES: Final = f"{API}v1/docs"


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


def _is_for_programs(request: HttpRequest) -> bool:
    path = request.path_info
    return path.startswith(FOR_PROGRAMS) and not path.startswith(REST_PAGES)

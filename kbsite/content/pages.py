"""The resources as pages of the site: the answer as JSON, and forms for what may be sent."""

import json
from typing import Any, Final

from django.conf import settings
from django.utils import translation
from django.utils.cache import patch_vary_headers
from rest_framework.renderers import BrowsableAPIRenderer, JSONRenderer
from rest_framework.request import Request, override_method

from kbsite.middleware.page_language import REFERENCE

SENT: Final = ("POST", "PATCH", "DELETE")


class BrowsablePage(BrowsableAPIRenderer):
    """An answer in the clothes of the site, under the policy of all its pages."""

    template = "kbsite/content.html"

    def render(
        self, data: Any, accepted_media_type: str | None = None, renderer_context: Any = None
    ) -> str:
        """Return the page, with the site around it in the reader's language."""
        response = renderer_context["response"]
        language = translation.get_language_from_request(renderer_context["request"])
        response["Content-Language"] = settings.LANGUAGE_CODE
        patch_vary_headers(response, ("Accept-Language",))
        with translation.override(language):
            page: str = super().render(data, accepted_media_type, renderer_context)
        return page

    def get_context(
        self, data: Any, accepted_media_type: str | None, renderer_context: Any
    ) -> dict[str, Any]:
        """Return what the page shows; the library's forms need inline styles, so are left out."""
        view, request = renderer_context["view"], renderer_context["request"]
        response = renderer_context["response"]
        with translation.override(settings.LANGUAGE_CODE):
            content = JSONRenderer().render(data, "application/json; indent=2").decode()
        return {
            **REFERENCE,
            "content": content,
            "view": view,
            "request": request,
            "response": response,
            "user": request.user,
            "name": self.get_name(view),
            "description": self.get_description(view, response.status_code),
            "crumbs": self.get_breadcrumbs(request)[:-1],
            "sendings": self._sendings(data, view, request),
            "pages": _pages(data, view, request),
        }

    def _sendings(self, data: Any, view: Any, request: Request) -> list[dict[str, str]]:
        """Return the methods that the caller may use here, each with a body to begin with."""
        if isinstance(data, dict) and "code" in data:  # a problem
            return []
        serializer = getattr(data, "serializer", None)
        is_list = getattr(serializer, "many", False)
        instance = None if is_list else serializer and serializer.instance
        sendings = []
        for method in SENT:
            with override_method(view, request, method) as overridden:
                if not self.show_form_for_method(view, method, overridden, instance):
                    continue
                body = ""
                if method != "DELETE":
                    form = view.get_serializer(**({"instance": instance} if instance else {}))
                    fields = form.fields.items()
                    written = {n: form.data.get(n) for n, field in fields if not field.read_only}
                    body = json.dumps(written, indent=2, ensure_ascii=False, default=str)
                sendings.append({"method": method, "body": body})
        return sendings


def _pages(data: Any, view: Any, request: Request) -> dict[str, str]:
    paginator: Any = getattr(view, "paginator", None)
    if not isinstance(data, dict) or "next" not in data or paginator is None:
        return {}
    limit, offset = paginator.limit, paginator.offset or 0
    offsets = {"previous": max(0, offset - limit) if offset else None, "next": data["next"]}
    addresses = {}
    for name, start in offsets.items():
        if start is not None:
            parameters = request.query_params.copy()
            parameters["offset"] = str(start)
            addresses[name] = f"?{parameters.urlencode()}"
    return addresses

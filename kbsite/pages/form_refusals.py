"""Forms that are refused because nothing shows that they come from a page of this site, and why:
an old page, cookies that are not allowed, or an address that the settings do not name.
"""

from urllib.parse import urlsplit

from django.core.exceptions import DisallowedHost
from django.http import HttpResponse
from django.middleware import csrf
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt

from kbsite.callers import AnyRequest, is_superuser
from kbsite.errors import error_page


@csrf_exempt
def show(request: AnyRequest, reason: str = "") -> HttpResponse:
    """Say why a form was refused, and who can change what."""
    origin = request.headers.get("Origin", "")
    if origin and not reason.startswith(("CSRF", "Referer")):
        message, hint = _of_origin(request, origin)
    elif reason.startswith("Referer"):
        message = _("The browser does not say which page this form comes from.")
        hint = _("Allow it to send the referrer to this site, then reload the page.")
    elif reason == csrf.REASON_NO_CSRF_COOKIE:
        message = _("This form came without the cookie of its page.")
        hint = _("Allow cookies for this site, reload the page, and send the form again.")
    else:
        message = _("This form has expired.")
        hint = _("Reload the page, and send it again.")
    return error_page(request, {"message": message, "hint": hint}, 403)


def _of_origin(request: AnyRequest, origin: str) -> tuple[str, str]:
    try:
        name, parts = request.get_host(), urlsplit(origin)
    except (DisallowedHost, ValueError):
        name, parts = "", urlsplit("")
    if parts.scheme not in ("http", "https") or not parts.netloc:  # "null"
        message = _("The browser does not say which page this form comes from.")
        hint = _(
            "A proxy or an extension of the browser hides it: its Referrer-Policy has to be"
            " `strict-origin-when-cross-origin`, not `no-referrer`."
        )
        return message, hint
    trusted = f"{parts.scheme}://{parts.netloc}"
    message = _("This server does not trust the address %(origin)s, from which the form came.") % {
        "origin": trusted[:200]
    }
    if not is_superuser(request):
        hint = _(
            "If this is the address in your browser, the operator of this server has to name it in"
            " the settings: `CSRF_TRUSTED_ORIGINS`, `PUBLIC_URL` and, behind an HTTPS proxy,"
            " `SECURE`."
        )
        return message, hint
    lines = [f"PUBLIC_URL={trusted}", f"CSRF_TRUSTED_ORIGINS={trusted}"]
    if parts.scheme == "https" and not request.is_secure():
        lines.append("SECURE=true")
    hint = _("If this is the address in your browser, set `%(lines)s` and restart the server.") % {
        "lines": " ".join(lines)
    }
    if parts.netloc != name:
        hint += " " + _(
            "The proxy has to pass on the name, too: it was %(host)s here. nginx:"
            " `proxy_set_header Host $http_host;`"
        ) % {"host": name or "?"}
    if "SECURE=true" in lines and request.headers.get("X-Forwarded-Proto") != "https":
        hint += " " + _(
            "The proxy has to say that the page came over HTTPS. nginx:"
            " `proxy_set_header X-Forwarded-Proto $scheme;`"
        )
    check = _("`kb doctor --url %(address)s` checks the proxy.") % {"address": trusted}
    return message, f"{hint} {check}"

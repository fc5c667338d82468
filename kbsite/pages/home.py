"""Pages of the site: home, signing in and out, API tokens, health, and errors."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from typing import Any

from allauth.account.internal.flows.login import perform_password_login
from allauth.account.models import Login
from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import LoginView, redirect_to_login
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import redirect, render, resolve_url
from django.template.loader import render_to_string
from django.templatetags.static import static
from django.utils.translation import gettext as _
from django.views.decorators.cache import cache_control
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_GET, require_POST, require_safe

from kbsite import extension, health
from kbsite import mcp_clients as clients
from kbsite.accounts import passwords, sign_in
from kbsite.accounts.users import Invitation
from kbsite.callers import AnyRequest, SignedInRequest, is_superuser
from kbsite.errors import DATABASE_ERRORS, EVENTS, RETRY_SECONDS, error_page, status_of
from kbsite.models import ApiToken, SignInLink
from kbsite.models.credentials import ACCESS_LABELS
from kbsite.oauth import audience, connections
from kbsite.pages.glossary import TERMS
from transcripts.conf import public_url
from transcripts.core import audit
from transcripts.core.access import AccessLevel
from transcripts.core.alphabet import alphabet_key
from transcripts.core.audit import Action
from transcripts.core.errors import DatabaseLost, InvalidInput, NotFound, UnexpectedError
from transcripts.core.site_path import site_path
from transcripts.core.views.events import EventStream, event
from transcripts.core.work.disk import storage_full
from transcripts.models import Collection

# Opens the page that adds, with the address of the page it is clicked on.
BOOKMARKLET = (
    "javascript:void open('%s?'+new URLSearchParams({url:location.href,title:document.title}))"
)
BACKEND = "django.contrib.auth.backends.ModelBackend"


class TokenForm(forms.Form):
    """A new API token."""

    name = forms.CharField(max_length=80)
    access = forms.ChoiceField(choices=ACCESS_LABELS, required=False)
    collections = forms.ModelMultipleChoiceField(Collection.objects.none(), required=False)
    days = forms.IntegerField(required=False, min_value=1, max_value=3650)

    def __init__(self, *args: Any, collections: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["collections"].queryset = collections  # type: ignore[attr-defined]


class SignIn(LoginView):
    """Sign in by name and password; ``sign_in`` counts the attempts."""

    template_name = "kbsite/sign_in.html"
    authentication_form = sign_in.SignInForm
    redirect_authenticated_user = True

    extra_context = {"provider": settings.OIDC_ISSUER and settings.OIDC_NAME}

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        """Sign in, or ask for the second factor first."""
        user = form.get_user()
        signing_in = Login(user=user, redirect_url=self.get_success_url())
        credentials = {"username": user.get_username()}
        response: HttpResponse = perform_password_login(self.request, credentials, signing_in)
        return response


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    return redirect("library")


@login_not_required
@sensitive_variables("secret")
@require_GET
@transaction.atomic
def sign_in_link(request: HttpRequest, secret: str) -> HttpResponse:
    """Sign in by a one-time link, and use it up."""
    user = SignInLink.redeem(secret)
    if user is not None:
        then = passwords.after_link(request, user)
        login(request, user, backend=BACKEND)
        audit.record(Action.SIGN_IN, "sign-in link", user.get_username())
        response: HttpResponse = redirect(then)
        sign_in.remember_browser(response, user.get_username())
    elif request.user.is_authenticated:
        response = redirect(passwords.next_page(request))  # the link was followed twice
    else:
        sign_in.count_link(request)
        sign_in.record_refusal("")
        context = {"invitation": Invitation.read(request)}
        response = render(request, "kbsite/expired_link.html", context, status=410)
    return response


@login_not_required
def admin_sign_in(request: HttpRequest) -> HttpResponse:
    """Lead to the sign-in page. Raises PermissionDenied for users without access to the admin."""
    page = passwords.next_page(request, default="admin:index")
    if not request.user.is_authenticated:
        return redirect_to_login(page)
    if not admin.site.has_permission(request):
        raise PermissionDenied
    return redirect(page)


@require_safe
def show_glossary(request: HttpRequest) -> HttpResponse:
    terms = sorted(TERMS, key=lambda term: alphabet_key(str(term.word)))
    return render(request, "kbsite/glossary.html", {"terms": terms})


@login_not_required
@require_safe
def favicon(request: HttpRequest) -> HttpResponse:
    """Redirect to the icon, for pages that do not name it (the admin, the APIs)."""
    return redirect(static("cuebase/icon.svg"))


@login_not_required
@cache_control(public=True, max_age=3600)
@require_safe
def web_manifest(request: HttpRequest) -> HttpResponse:
    """Describe the site as an application, to which a phone can share a video."""
    icons = [
        {"src": static(f"cuebase/{name}"), "sizes": size, "type": kind}
        for name, size, kind in (
            ("icon.svg", "any", "image/svg+xml"),
            ("icon-192.png", "192x192", "image/png"),
            ("icon.png", "512x512", "image/png"),
        )
    ]
    manifest = {
        "id": site_path("/"),
        "name": "Cuebase",
        "description": _("Your library of transcripts and documents."),
        "start_url": resolve_url("library"),
        "scope": site_path("/"),
        "display": "minimal-ui",
        "background_color": "#f6f5f1",
        "theme_color": "#0b655d",
        "icons": icons,
        "share_target": {
            "action": resolve_url("add"),
            "method": "GET",
            "enctype": "application/x-www-form-urlencoded",
            "params": {name: name for name in ("title", "text", "url")},
        },
    }
    return JsonResponse(manifest, content_type="application/manifest+json")


@login_not_required
@require_safe
def healthz(request: HttpRequest) -> HttpResponseBase:
    """Report that this process answers; to whoever names the address that was called, whether the
    proxy has passed it on; and in a stream, that streams arrive as they are written.
    """
    if request.headers.get("Accept") == EVENTS:
        return EventStream(_beats())
    if "host" not in request.GET:
        return HttpResponse("ok", content_type="text/plain")
    seen = {
        "scheme": request.scheme,
        "host": request.get_host(),
        "path": settings.PUBLIC_PATH,
        "url": public_url(),
    }  # only whether they are the same: the rest is the server's own
    return JsonResponse({name: request.GET.get(name) == value for name, value in seen.items()})


async def _beats() -> AsyncIterator[str]:
    for number in range(3):
        yield event("beat", str(number))
        await asyncio.sleep(0.5)


@login_not_required
@require_safe
def readyz(request: AnyRequest) -> HttpResponse:
    """Report what works, with status 503 if this instance should get no requests.

    Strangers see codes alone; superusers, by session or token, see details.
    """
    results = health.check_all()
    state = health.worst(results)
    is_told = state != "failed" and is_superuser(request)
    checks = [
        {"name": result.name, "state": result.state}
        | ({} if result.state == "ok" else {"code": result.code})
        | ({"detail": result.detail, "hint": result.hint} if is_told else {})
        for result in results
    ]
    return JsonResponse(
        {"state": state, "checks": checks}, status=503 if state == "failed" else 200
    )


@require_safe
def tokens(request: SignedInRequest) -> HttpResponse:
    return render(request, "kbsite/tokens.html", _tokens(request))


@sensitive_variables("text")
@require_POST
def create_token(request: SignedInRequest) -> HttpResponse:
    """Create a token and show its text once."""
    form = TokenForm(request.POST, collections=Collection.objects.visible(request.access))
    if not form.is_valid():
        raise InvalidInput(
            f"The token was not created: {next(iter(form.errors.values()))[0]}",
            hint="Give it a name, and days as a number.",
        )
    values = form.cleaned_data
    token, text = ApiToken.issue(
        request.user,
        name=values["name"],
        access=AccessLevel(values["access"] or AccessLevel.READ),
        collections=tuple(values["collections"]),
        days=values["days"],
    )
    headers = {"Authorization": f"Bearer {text}"}
    server = {"type": "http", "url": _mcp_url(request), "headers": headers}
    config = json.dumps({"mcpServers": {"cuebase": server}}, indent=2)
    new = {"new_token": token, "text": text, "config": config}
    return render(request, "kbsite/tokens.html", {**_tokens(request, text), **new})


@require_safe
def mcp_bundle(request: HttpRequest) -> HttpResponse:
    """Download the bundle for Claude Desktop, with the address of this server in it."""
    return _download(clients.BUNDLE, clients.build_bundle(audience.origin_of(request)))


@require_safe
def browser_extension(request: HttpRequest) -> HttpResponse:
    """Download the browser extension, with the address of this server in it."""
    return _download(extension.FILE, extension.build(audience.origin_of(request)))


@require_POST
def revoke_token(request: SignedInRequest, pk: int) -> HttpResponse:
    token = ApiToken.objects.filter(user=request.user, pk=pk, revoked_at=None).first()
    if token is None:
        raise NotFound("There is no such token.", hint="It may have been revoked already.")
    token.revoke()
    messages.success(
        request, _("The %(kind)s “%(name)s” is revoked.") % {"kind": token.kind, "name": token.name}
    )
    return redirect("tokens")


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    hint = _("Go back and try again; a very large upload may have to be sent in parts.")
    return _error_page(request, 400, _("This request cannot be read."), hint)


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _error_page(
        request, 403, _("You may not do this."), _("Ask the operator of this server.")
    )


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    hint = _("It may have been deleted, or the address mistyped.")
    return _error_page(request, 404, _("There is nothing at this address."), hint)


def broken(request: HttpRequest) -> HttpResponse:
    """Report an unexpected error without details, or that the database is away for a moment."""
    cause = sys.exc_info()[1]
    full = storage_full(cause) if cause else None
    is_lost = isinstance(cause, DATABASE_ERRORS) and not full
    error = full or (DatabaseLost() if is_lost else UnexpectedError())
    reload_after = RETRY_SECONDS if is_lost and request.method == "GET" else None
    # Without the request, and so without the database, which may be broken.
    name = "kbsite/_error.html" if getattr(request, "htmx", False) else "kbsite/error.html"
    text = render_to_string(name, {"error": error, "reload_after": reload_after})
    headers = {"Retry-After": str(RETRY_SECONDS)} if is_lost else {}
    return HttpResponse(text, status=503 if is_lost else status_of(error), headers=headers)


def _error_page(request: HttpRequest, status: int, message: str, hint: str) -> HttpResponse:
    return error_page(request, {"message": message, "hint": hint}, status)


def _download(name: str, content: bytes) -> HttpResponse:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(content, content_type="application/zip", headers=headers)


def _tokens(request: SignedInRequest, text: str = "") -> dict[str, Any]:
    """Return what the page shows; the links to clients contain the text of a new token."""
    url = _mcp_url(request)
    tokens = ApiToken.objects.filter(user=request.user, revoked_at=None, application=None)
    connected = connections.live(request.user)
    return {
        "tokens": tokens.prefetch_related("collections"),
        "connections": connected.select_related("application").prefetch_related("collections"),
        "collections": Collection.objects.visible(request.access),
        "access_levels": ACCESS_LABELS,
        "mcp_url": url,
        "bookmarklet": BOOKMARKLET % request.build_absolute_uri(resolve_url("add")),
        "is_public": request.is_secure(),
        "claude_link": clients.claude_link(url),
        "claude_code_command": clients.claude_code_command(url, text),
        "cursor_link": clients.cursor_link(url, text),
        "vscode_link": clients.vscode_link(url, text),
    }


def _mcp_url(request: HttpRequest) -> str:
    return request.build_absolute_uri(site_path("/mcp"))

# ruff: noqa: PLC0415 -- its Django is another one, with settings of its own
"""An OIDC provider on loopback, by django-oauth-toolkit in a process of its own.

Started as a program it serves the port of its last argument. Everybody whom the query of
``/login/`` names is signed in there, with the groups that are named.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx2
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.instance import ROOT, free_port, kill, wait_until
from tests.loopback import NO_TLS

CLIENT = {"id": "cuebase", "secret": "a-secret-of-the-provider"}


@dataclass(frozen=True)
class Provider:
    """A running provider."""

    issuer: str

    def approve(self, address: str, user: str, groups: list[str]) -> str:
        """Go through the provider's pages as a user; return where they lead back to."""
        with httpx2.Client(follow_redirects=False, timeout=30, verify=NO_TLS) as browser:
            about = urlencode({"user": user, "groups": json.dumps(groups)})
            browser.get(f"{self.issuer}/login/?{about}").raise_for_status()
            answer = browser.get(address)
            assert answer.status_code == 302, answer.text
            return str(answer.headers["location"])


@contextmanager
def running(callback: str) -> Iterator[Provider]:
    """Run a provider that knows this server by one address."""
    port = free_port()
    issuer = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-m", "tests.kbsite.identity.oidc_standin", callback, str(port)]
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(
            command, cwd=ROOT, stdout=log, stderr=log, start_new_session=True
        )
        try:
            wait_until(lambda: _answers(issuer), what="the OIDC provider")
            yield Provider(issuer)
        finally:
            kill(process)


def _answers(issuer: str) -> bool:
    try:
        address = f"{issuer}/.well-known/openid-configuration"
        return httpx2.get(address, verify=NO_TLS).status_code == 200
    except httpx2.TransportError:
        return False


def _serve(callback: str, port: int) -> None:
    from django.conf import settings

    key = rsa.generate_private_key(public_exponent=65537, key_size=2048).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    settings.configure(
        SECRET_KEY="only-for-tests",
        ALLOWED_HOSTS=["127.0.0.1"],
        ROOT_URLCONF=__name__,
        DATABASES={
            "default": {
                "ENGINE": "django.db.backends.sqlite3",
                "NAME": str(Path(tempfile.mkdtemp()) / "provider.sqlite3"),
            }
        },
        INSTALLED_APPS=[
            "django.contrib.auth",
            "django.contrib.contenttypes",
            "django.contrib.sessions",
            "oauth2_provider",
        ],
        MIDDLEWARE=[
            "django.contrib.sessions.middleware.SessionMiddleware",
            "django.contrib.auth.middleware.AuthenticationMiddleware",
        ],
        USE_TZ=True,
        SESSION_COOKIE_NAME="provider",
        OAUTH2_PROVIDER={
            "OIDC_ENABLED": True,
            "OIDC_RSA_PRIVATE_KEY": key.decode(),
            "OAUTH2_VALIDATOR_CLASS": f"{__name__}.validator_class",
            "SCOPES": {"openid": "", "profile": ""},
            "PKCE_REQUIRED": True,
        },
    )
    import django

    django.setup()
    from django.contrib.auth import get_user_model, login
    from django.contrib.auth.models import Group
    from django.core.management import call_command
    from django.core.servers.basehttp import run
    from django.core.wsgi import get_wsgi_application
    from django.http import HttpResponse
    from django.urls import include, path
    from oauth2_provider.models import Application
    from oauth2_provider.oauth2_validators import OAuth2Validator

    class Validator(OAuth2Validator):
        oidc_claim_scope = None

        def get_additional_claims(self, request: Any) -> dict[str, Any]:
            groups = list(request.user.groups.values_list("name", flat=True))
            return {"preferred_username": request.user.username, "groups": groups}

    def sign_in(request: Any) -> HttpResponse:
        user, _ = get_user_model().objects.get_or_create(username=request.GET["user"])
        names = json.loads(request.GET["groups"])
        user.groups.set([Group.objects.get_or_create(name=name)[0] for name in names])
        login(request, user)
        return HttpResponse("signed in")

    module = sys.modules[__name__]
    vars(module)["validator_class"] = Validator
    vars(module)["urlpatterns"] = [
        path("login/", sign_in),
        path("", include("oauth2_provider.urls", namespace="oauth2_provider")),
    ]
    call_command("migrate", verbosity=0)
    Application.objects.create(
        client_id=CLIENT["id"],
        client_secret=CLIENT["secret"],
        client_type="confidential",
        authorization_grant_type="authorization-code",
        redirect_uris=callback,
        algorithm="RS256",
        skip_authorization=True,
    )
    run("127.0.0.1", port, get_wsgi_application(), threading=True)


if __name__ == "__main__":
    sys.modules["tests.kbsite.identity.oidc_standin"] = sys.modules[__name__]
    _serve(sys.argv[1], int(sys.argv[2]))

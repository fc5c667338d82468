"""A program that speaks OAuth to the site, and the browser of the user whom it asks."""

import base64
import hashlib
import json
import re
from html import unescape
from typing import Any
from urllib.parse import parse_qs, urlsplit

from django.contrib.auth.models import User
from django.test import Client

from transcripts.core.access import AccessLevel

CALLBACK = "http://127.0.0.1:33418/callback"
VERIFIER = "a-verifier-of-more-than-forty-three-characters-it-is"
METADATA = {
    "client_name": "Reader",
    "redirect_uris": [CALLBACK],
    "grant_types": ["authorization_code", "refresh_token"],
    "response_types": ["code"],
    "token_endpoint_auth_method": "none",
}


class Program:
    """A public client, registered when it is made, with a server of this name."""

    def __init__(self, *, host: str = "testserver", **metadata: Any) -> None:
        self.host = {"host": host}
        self.http = Client(headers=self.host)
        self.client_id = register(**metadata).json()["client_id"]

    def request(self, **changes: str) -> dict[str, str]:
        """Return the parameters of an authorization request; an empty one is left out."""
        challenge = hashlib.sha256(VERIFIER.encode()).digest()
        parameters = {
            "response_type": "code",
            "client_id": self.client_id,
            "redirect_uri": CALLBACK,
            "scope": "read write",
            "state": "a-state",
            "code_challenge": base64.urlsafe_b64encode(challenge).rstrip(b"=").decode(),
            "code_challenge_method": "S256",
            "resource": f"http://{self.host['host']}/mcp",
            **changes,
        }
        return {name: value for name, value in parameters.items() if value}

    def ask(self, user: User, choices: dict[str, Any] | None = None, **changes: str) -> str:
        """Let the user decide on the consent page; return the address that it leads to."""
        browser = Client(headers=self.host)
        browser.force_login(user)
        page = browser.get("/oauth/authorize/", self.request(**changes))
        assert page.status_code == 200, page.content
        answer = browser.post(
            "/oauth/authorize/",
            {**hidden(page.content.decode()), "allow": "true", **(choices or {})},
        )
        assert answer.status_code == 302, answer.content
        return str(answer["Location"])

    def exchange(self, location: str, **changes: str) -> Any:
        """Exchange the code of that address for tokens."""
        parameters = {
            "grant_type": "authorization_code",
            "code": parse_qs(urlsplit(location).query)["code"][0],
            "redirect_uri": CALLBACK,
            "code_verifier": VERIFIER,
        }
        return self.token(**{**parameters, **changes})

    def connect(
        self, user: User, *, access: AccessLevel = AccessLevel.READ, **choices: Any
    ) -> dict[str, Any]:
        """Go through the whole flow; return the tokens."""
        location = self.ask(user, {"access": access, **choices}, scope=" ".join(AccessLevel))
        answer = self.exchange(location)
        assert answer.status_code == 200, answer.content
        return dict(answer.json())

    def connect_to_all(
        self, user: User, choices: dict[str, Any] | None = None, **changes: str
    ) -> dict[str, Any]:
        """Return tokens that are good for every part of the server."""
        return dict(self.exchange(self.ask(user, choices, resource="", **changes)).json())

    def refresh(self, tokens: dict[str, Any], **changes: str) -> Any:
        return self.token(
            grant_type="refresh_token", refresh_token=tokens["refresh_token"], **changes
        )

    def token(self, **parameters: str) -> Any:
        return self.http.post("/oauth/token/", {"client_id": self.client_id, **parameters})

    def revoke(self, token: str) -> int:
        parameters = {"client_id": self.client_id, "token": token}
        return self.http.post("/oauth/revoke/", parameters).status_code


def register(**metadata: Any) -> Any:
    """Send a registration, of these metadata besides the usual ones."""
    return Client().post(
        "/oauth/register/", json.dumps({**METADATA, **metadata}), content_type="application/json"
    )


def hidden(page: str) -> dict[str, str]:
    """Return the hidden fields of a page's form."""
    return {
        name: unescape(value)
        for name, value in re.findall(r'type="hidden" name="(\w+)"(?: value="([^"]*)")?', page)
    }


def call(tokens: dict[str, Any], path: str = "/api/v1/search?q=x") -> Any:
    """Call the API with an access token."""
    return Client().get(path, headers={"Authorization": f"Bearer {tokens['access_token']}"})

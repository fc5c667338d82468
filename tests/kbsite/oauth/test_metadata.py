"""What programs ask first names this server as it is called."""

from typing import Any

import pytest
from django.test import Client

AT = "/.well-known/oauth-protected-resource"
pytestmark = pytest.mark.django_db


def test_the_server_says_where_tokens_come_from_and_how() -> None:
    answer = Client().get("/.well-known/oauth-authorization-server")
    assert answer["Access-Control-Allow-Origin"] == "*"
    assert answer.json() == {
        "issuer": "http://testserver",
        "authorization_endpoint": "http://testserver/oauth/authorize/",
        "token_endpoint": "http://testserver/oauth/token/",
        "revocation_endpoint": "http://testserver/oauth/revoke/",
        "registration_endpoint": "http://testserver/oauth/register/",
        "response_types_supported": ["code"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "scopes_supported": ["read", "write"],
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": METHODS,
        "revocation_endpoint_auth_methods_supported": METHODS,
        "client_id_metadata_document_supported": True,
        "authorization_response_iss_parameter_supported": True,
    }


METHODS = ["none", "client_secret_post", "client_secret_basic"]


@pytest.mark.parametrize("part", ["", "/mcp", "/api"])
def test_each_part_says_who_issues_its_tokens(part: str) -> None:
    assert Client().get(AT + part).json() == {
        "resource": f"http://testserver{part}",
        "resource_name": "Cuebase",
        "authorization_servers": ["http://testserver"],
        "scopes_supported": ["read", "write"],
        "bearer_methods_supported": ["header"],
    }


def test_a_public_address_is_the_issuer_whatever_name_is_called(settings: Any) -> None:
    public = {"OIDC_ISS_ENDPOINT": "https://kb.example.org"}
    settings.OAUTH2_PROVIDER = {**settings.OAUTH2_PROVIDER, **public}
    assert Client().get(f"{AT}/mcp").json()["resource"] == "https://kb.example.org/mcp"
    metadata = Client().get("/.well-known/oauth-authorization-server").json()
    assert metadata["issuer"] == "https://kb.example.org"
    assert metadata["token_endpoint"] == "https://kb.example.org/oauth/token/"


@pytest.mark.parametrize("path", ["/api/v1/search?q=x", "/api/content/videos/"])
def test_a_call_without_a_token_is_told_where_to_get_one(path: str) -> None:
    answer = Client().get(path)
    assert answer.status_code == 401
    assert f'resource_metadata="http://testserver{AT}/api"' in answer["WWW-Authenticate"]

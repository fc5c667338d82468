"""Signing in and out, tokens, health, and what is shown when something is not there."""

import io
import json
import re
import zipfile
from datetime import timedelta
from typing import Any
from urllib.parse import unquote

import pytest
from django.contrib.auth.models import User
from django.contrib.staticfiles import finders
from django.core.exceptions import SuspiciousOperation
from django.db import InterfaceError, OperationalError, connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.http import HttpResponse
from django.test import AsyncRequestFactory, Client, RequestFactory
from django.utils import timezone
from typer.testing import CliRunner

from citations.models import Embedding, EmbeddingSpace, SpaceState
from kbsite import health
from kbsite.accounts import auth
from kbsite.cli.app import app
from kbsite.models import ApiToken, SignInLink
from kbsite.pages import home as views
from tests.html import text_of
from tests.makers import make_source, make_user, make_video
from transcripts.models import Collection, WorkerPulse

# Signing in


def test_home_leads_to_the_library_by_way_of_signing_in(client: Client, owner: User) -> None:
    assert client.get("/")["Location"] == "/sign-in/?next=/"
    client.force_login(owner)
    assert client.get("/")["Location"] == "/library/"


def test_a_password_signs_in_and_leads_to_where_one_wanted(client: Client, owner: User) -> None:
    response = client.post(
        "/sign-in/?next=/activity/",
        {"username": "ada", "password": "correct horse battery", "next": "/activity/"},
    )
    assert response["Location"] == "/activity/"


def test_a_wrong_password_says_what_to_check(client: Client, owner: User) -> None:
    html = text_of(client.post("/sign-in/", {"username": "ada", "password": "wrong"}))
    assert "is wrong" in html
    assert "_auth_user_id" not in client.session


def test_a_link_signs_in_once(client: Client, owner: User) -> None:
    path = f"/sign-in/{SignInLink.issue(owner)}/"
    assert client.get(path)["Location"] == "/library/"
    assert client.get("/library/").status_code == 200
    assert Client().get(path).status_code == 410


def test_a_link_that_is_loaded_twice_in_one_browser_still_leads_in(
    client: Client, owner: User
) -> None:
    path = f"/sign-in/{SignInLink.issue(owner)}/"
    client.get(path)
    assert client.get(path)["Location"] == "/library/"


def test_an_expired_link_says_how_to_get_another(client: Client, owner: User) -> None:
    secret = SignInLink.issue(owner)
    SignInLink.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    response = client.get(f"/sign-in/{secret}/")
    assert response.status_code == 410
    assert "kb user link NAME" in text_of(response)


@pytest.mark.parametrize("valid", [True, False])
def test_a_links_address_does_not_travel_on(client: Client, owner: User, valid: bool) -> None:
    secret = SignInLink.issue(owner) if valid else "wrong"
    response = client.get(f"/sign-in/{secret}/")
    assert response["Referrer-Policy"] == "no-referrer"
    assert "no-store" in response["Cache-Control"]


def test_looking_at_a_links_head_does_not_use_it_up(client: Client, owner: User) -> None:
    path = f"/sign-in/{SignInLink.issue(owner)}/"
    assert client.head(path).status_code == 405
    assert client.get(path).status_code == 302


@pytest.mark.parametrize(
    ("wanted", "given"),
    [
        ("/activity/", "/activity/"),
        ("https://evil.example/", "/library/"),
        ("//evil.example", "/library/"),
        ("javascript:alert(1)", "/library/"),
    ],
)
def test_a_link_leads_only_to_pages_of_this_site(
    client: Client, owner: User, wanted: str, given: str
) -> None:
    assert client.get(f"/sign-in/{SignInLink.issue(owner)}/", {"next": wanted})["Location"] == given


def test_signing_out_takes_a_form_of_this_site(page: Client) -> None:
    assert page.get("/sign-out/").status_code == 405
    assert page.post("/sign-out/")["Location"] == "/sign-in/"
    assert page.get("/library/").status_code == 302


def test_a_form_from_elsewhere_is_refused_with_a_page_that_helps(owner: User) -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(owner)
    response = browser.post("/collections/create/", {"name": "x"})
    assert response.status_code == 403
    assert "This form came without the cookie of its page" in text_of(response)


@pytest.mark.parametrize("secure", [True, False])
def test_our_scope_does_not_hide_whether_a_request_came_over_https(secure: bool) -> None:
    request: Any = AsyncRequestFactory().get("/", secure=secure)
    auth.CallerMiddleware(lambda _: HttpResponse()).process_request(request)
    assert request.is_secure() is secure


# Health


def test_health_needs_no_session(client: Client, db: None) -> None:
    assert text_of(client.get("/healthz")) == "ok"
    assert client.get("/readyz").status_code == 200


def test_health_is_answered_without_https_and_pages_are_not(
    client: Client, db: None, settings: Any
) -> None:
    settings.SECURE_SSL_REDIRECT = True
    for path in ("/healthz", "/readyz"):
        assert client.get(path).status_code == 200
    assert client.get("/").headers["Location"].startswith("https://")


def test_settings_that_do_not_fit_the_library_are_told_but_the_server_is_ready(
    page: Client, settings: Any
) -> None:
    space = EmbeddingSpace.objects.create(
        provider="fake", model="others", dimensions=4, state=SpaceState.ACTIVE
    )
    assert state_of(page, "Embeddings") == "ok", "nothing is embedded yet"
    source = make_source(make_video(Collection.objects.get(slug="lectures")), texts=["One."])
    Embedding.objects.create(
        space=space, source=source, chunk=source.chunks.get(), digest=b"", vector=[1, 0, 0, 0]
    )
    response = page.get("/readyz")
    assert response.status_code == 200
    mismatch = {"name": "Embeddings", "state": "degraded", "code": "embedding_mismatch"}
    assert mismatch in response.json()["checks"]
    assert "others" not in text_of(response), "which models are used is for superusers"
    sources = text_of(page.get("/library/"))
    assert "The library is locked to fake · others · 4 dimensions" in sources
    assert "kb db migrate-embeddings --to" in sources


def test_the_library_tells_staff_what_was_split_with_other_sizes(
    page: Client, settings: Any
) -> None:
    make_source(make_video(Collection.objects.get(slug="lectures")), texts=["One."])
    assert "kb db reindex" not in text_of(page.get("/library/"))
    settings.CHUNK_SIZE = 300
    assert "was split with other values" not in text_of(page.get("/library/"))
    User.objects.update(is_staff=True)
    assert "1 source was split with other values" in text_of(page.get("/library/"))


def test_a_server_without_database_is_healthy_but_not_ready_and_tells_nothing(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken:
        def cursor(self) -> None:
            raise OperationalError("password authentication failed for user secret")

    monkeypatch.setattr(health, "connection", Broken())
    assert client.get("/healthz").status_code == 200
    response = client.get("/readyz")
    assert response.status_code == 503
    assert response.json()["state"] == "failed"
    broken = {"name": "PostgreSQL", "state": "failed", "code": "database_lost"}
    assert broken in response.json()["checks"]
    assert "secret" not in text_of(response)


def state_of(browser: Client, name: str) -> str:
    """Return the state of one check, as everybody sees it."""
    checks = browser.get("/readyz").json()["checks"]
    return str(next(check["state"] for check in checks if check["name"] == name))


def test_without_a_worker_pages_are_served_all_the_same(client: Client, db: None) -> None:
    assert (state_of(client, "Worker"), state_of(client, "Schedule")) == ("degraded", "degraded")
    WorkerPulse.record_schedule()
    assert (state_of(client, "Worker"), state_of(client, "Schedule")) == ("ok", "ok")
    response = client.get("/readyz")
    assert (response.status_code, response.json()["state"]) == (200, "ok")


def test_a_schedule_that_stands_still_is_told_although_workers_live(
    client: Client, db: None
) -> None:
    WorkerPulse.record_schedule()
    ago = timezone.now() - timedelta(seconds=health.SCHEDULE_LATE + 5)
    WorkerPulse.objects.update(schedule_ran_at=ago)
    assert (state_of(client, "Worker"), state_of(client, "Schedule")) == ("ok", "degraded")


def test_a_server_is_not_ready_before_the_migrations_that_its_code_needs(
    client: Client, db: None
) -> None:
    (latest,) = MigrationLoader(connection).graph.leaf_nodes("transcripts")
    MigrationRecorder(connection).record_unapplied(*latest)
    response = client.get("/readyz")
    assert response.status_code == 503
    missing = {"name": "Migrations", "state": "failed", "code": "migrations_missing"}
    assert missing in response.json()["checks"]


def test_a_disk_that_is_nearly_full_degrades_the_server(
    client: Client, db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "MIN_FREE", 2**70)
    assert state_of(client, "Free disk") == "degraded"
    assert client.get("/readyz").status_code == 200


def test_details_of_the_state_are_for_superusers(client: Client, owner: User, boss: User) -> None:
    def answer(**headers: str) -> Any:
        return client.get("/readyz", headers=headers).json()["checks"][0]

    def bearer(of: User) -> str:
        return f"Bearer {ApiToken.issue(of, name='monitor')[1]}"

    plain = {"name": "PostgreSQL", "state": "ok"}
    assert answer() == answer(authorization=bearer(owner)) == plain
    assert answer(authorization="Bearer kb_wrong") == plain
    assert "embedded" in answer(authorization=bearer(boss))["detail"]


def test_the_doctor_and_the_probe_name_the_same_checks(client: Client, db: None) -> None:
    probed = {check["name"] for check in client.get("/readyz").json()["checks"]}
    checks = json.loads(CliRunner().invoke(app, ["doctor", "--json"]).stdout)["checks"]
    assert probed <= {check["name"] for check in checks}


# Tokens


def test_a_token_is_shown_once_with_the_configuration_for_mcp(page: Client, owner: User) -> None:
    html = text_of(page.post("/tokens/create/", {"name": "Laptop", "access": "write"}))
    secret = re.findall(r'id="token-text">(kb_[\w-]+)<', html)[0]
    token = ApiToken.find(secret)
    assert token is not None
    assert (token.user, token.access, token.limited) == (owner, "write", False)
    assert "http://testserver/mcp" in html
    assert secret not in text_of(page.get("/tokens/"))


def test_the_configuration_is_json_with_the_token(page: Client) -> None:
    response = page.post("/tokens/create/", {"name": "Laptop"})
    config = json.loads(response.context["config"])
    assert (
        config["mcpServers"]["cuebase"]["headers"]["Authorization"]
        == f"Bearer {response.context['text']}"
    )


def test_the_links_to_clients_contain_a_token_that_was_just_made(page: Client) -> None:
    response = page.post("/tokens/create/", {"name": "Laptop"})
    token = response.context["text"]
    assert token in unquote(response.context["vscode_link"])
    assert f"Bearer {token}" in response.context["claude_code_command"]
    later = page.get("/tokens/")
    assert "headers" not in unquote(later.context["vscode_link"])
    assert 'href="cursor://anysphere.cursor-deeplink/mcp/install?' in text_of(later)


def test_what_runs_elsewhere_is_offered_to_servers_with_a_public_address_alone(
    page: Client,
) -> None:
    assert "https://claude.ai/" not in text_of(page.get("/tokens/"))
    html = text_of(page.get("/tokens/", secure=True))
    address = "connectorUrl=https%3A%2F%2Ftestserver%2Fmcp"
    assert "https://claude.ai/customize/connectors?" in html
    assert address in html
    assert "https://chatgpt.com/" in html


def test_a_phone_learns_where_to_share_a_video() -> None:
    response = Client().get("/manifest.webmanifest")
    assert response["Content-Type"] == "application/manifest+json"
    manifest = response.json()
    assert manifest["share_target"]["action"] == "/add/"
    assert manifest["share_target"]["method"] == "GET"
    for icon in manifest["icons"]:
        assert finders.find(icon["src"].removeprefix("/static/"))


def test_the_bookmark_carries_the_address_of_the_server(page: Client) -> None:
    html = text_of(page.get("/tokens/"))
    assert "javascript:void open(&#x27;http://testserver/add/?&#x27;" in html


def test_the_bundle_for_claude_desktop_is_downloaded(page: Client) -> None:
    response = page.get("/tokens/cuebase.mcpb")
    assert response.headers["Content-Disposition"] == 'attachment; filename="cuebase.mcpb"'
    with zipfile.ZipFile(io.BytesIO(response.content)) as archive:
        manifest = json.loads(archive.read("manifest.json"))
    assert manifest["user_config"]["address"]["default"] == "http://testserver"


def test_a_token_can_be_limited_to_collections_and_days(
    page: Client, collection: Collection
) -> None:
    page.post("/tokens/create/", {"name": "Narrow", "collections": [collection.pk], "days": "7"})
    token = ApiToken.objects.get()
    assert (token.limited, list(token.collections.all())) == (True, [collection])
    assert token.expires_at is not None
    assert token.expires_at - timezone.now() < timedelta(days=7, minutes=1)


def test_a_token_cannot_reach_a_collection_that_its_maker_cannot_see(page: Client) -> None:
    hidden = Collection.objects.create(name="Hidden", slug="hidden")
    assert (
        page.post("/tokens/create/", {"name": "Sly", "collections": [hidden.pk]}).status_code == 422
    )
    assert not ApiToken.objects.exists()


def test_a_token_without_a_name_is_not_made(page: Client) -> None:
    assert page.post("/tokens/create/", {"name": " "}).status_code == 422


def test_a_revoked_token_no_longer_works(page: Client, owner: User) -> None:
    token, secret = ApiToken.issue(owner, name="Old")
    page.post(f"/tokens/{token.pk}/revoke/")
    assert ApiToken.find(secret) is None


def test_nobody_sees_or_revokes_the_tokens_of_others(page: Client) -> None:
    token, secret = ApiToken.issue(make_user("bob"), name="Bob's")
    assert "Bob&#x27;s" not in text_of(page.get("/tokens/"))
    assert page.post(f"/tokens/{token.pk}/revoke/").status_code == 404
    assert ApiToken.find(secret) is not None


# What is not there


def test_an_unknown_address_helps_on(page: Client) -> None:
    response = page.get("/nowhere/")
    assert response.status_code == 404
    assert "There is nothing at this address" in text_of(response)


def test_htmx_gets_an_error_as_a_fragment(page: Client) -> None:
    html = text_of(page.get("/nowhere/", HTTP_HX_REQUEST="true"))
    assert 'role="alert"' in html
    assert "<html" not in html


def test_a_session_that_ended_sends_htmx_to_sign_in_as_a_whole_page(
    client: Client, db: None
) -> None:
    response = client.get("/library/", HTTP_HX_REQUEST="true")
    assert (response.status_code, response["HX-Redirect"]) == (204, "/sign-in/")


@pytest.mark.parametrize(
    "path", ["/", "/sign-in/", "/library/", "/admin/", "/api/v1/docs", "/api/content/", "/nowhere"]
)
def test_a_page_may_not_ask_for_what_the_site_does_not_use(page: Client, path: str) -> None:
    policy = page.get(path)["Permissions-Policy"].split(", ")
    assert {"microphone=(self)", "camera=()", "geolocation=()", "usb=()"} <= set(policy)


def test_a_broken_page_tells_nothing_and_needs_no_database(rf: RequestFactory) -> None:
    response = views.broken(rf.get("/"))  # no database fixture: a query would fail
    assert response.status_code == 500
    assert "Something unexpected went wrong" in text_of(response)


@pytest.mark.parametrize("lost", [OperationalError, InterfaceError])
def test_a_page_without_its_database_comes_back_by_itself(
    page: Client, monkeypatch: pytest.MonkeyPatch, lost: type[Exception]
) -> None:
    def fail(*_: Any) -> None:
        raise lost("the connection is closed")

    monkeypatch.setattr(Collection.objects, "visible", fail)
    page.raise_request_exception = False
    response = page.get("/collections/")
    assert (response.status_code, response["Retry-After"]) == (503, "5")
    assert "The database was out of reach." in text_of(response)
    assert '<meta http-equiv="refresh" content="5">' in text_of(response)
    posted = page.post("/collections/create/", {"name": "x"}, HTTP_HX_REQUEST="true")
    assert "refresh" not in text_of(posted)


def test_an_unreadable_request_is_told(rf: RequestFactory, db: None) -> None:
    request: Any = rf.get("/", headers={"HX-Request": "true"})
    request.htmx = True
    assert views.bad_request(request, SuspiciousOperation()).status_code == 400
    assert views.forbidden(request, Exception()).status_code == 403

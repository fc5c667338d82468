"""A team signs in at its OIDC provider, and `kb doctor` checks that: a real one, on loopback."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.contrib.auth.models import User
from django.test import Client

from kbsite.cli import doctor
from kbsite.identity import provider
from tests.kbsite.identity import oidc_standin
from tests.kbsite.identity.oidc_standin import Provider
from tests.makers import make_user
from transcripts.models import AuditEntry, Collection, Membership

pytestmark = pytest.mark.django_db
CALLBACK = "http://testserver/sign-in/team/done/"


@pytest.fixture(scope="module")
def team() -> Iterator[Provider]:
    with oidc_standin.running(CALLBACK) as running:
        yield running


@pytest.fixture(autouse=True)
def _configured(team: Provider, settings: Any) -> None:
    about = settings.SOCIALACCOUNT_PROVIDERS["openid_connect"]
    app = {
        "provider_id": "team",
        "name": "The Academy",
        "client_id": oidc_standin.CLIENT["id"],
        "secret": oidc_standin.CLIENT["secret"],
        "settings": {"server_url": team.issuer},
    }
    settings.SOCIALACCOUNT_PROVIDERS = {"openid_connect": {**about, "APPS": [app]}}
    settings.OIDC_ISSUER = team.issuer
    settings.OIDC_CLIENT_ID = oidc_standin.CLIENT["id"]
    settings.OIDC_CLIENT_SECRET = oidc_standin.CLIENT["secret"]
    settings.PUBLIC_URL = "https://cuebase.example.org/"
    settings.OIDC_GROUPS = ["students=lectures:viewer", "staff=lectures:editor"]


def sign_in(team: Provider, user: str, groups: list[str], *, to: str = "/library/") -> Any:
    """Sign in at the provider; return the browser and the answer to its coming back."""
    browser = Client()
    start = browser.get("/sign-in/team/", {"next": to})
    assert start.status_code == 302
    assert start["Location"].startswith(team.issuer)
    back = urlsplit(team.approve(start["Location"], user, groups))
    return browser, browser.get(f"{back.path}?{back.query}")


def role_of(name: str, collection: Collection) -> str | None:
    membership = Membership.objects.filter(user__username=name, collection=collection).first()
    return membership.role if membership else None


def test_somebody_new_gets_an_account_and_the_collections_of_their_groups(
    team: Provider, collection: Collection
) -> None:
    browser, answer = sign_in(team, "mira", ["students", "choir"], to="/tokens/")
    assert (answer.status_code, answer["Location"]) == (302, "/tokens/")
    assert browser.get("/tokens/").status_code == 200
    mira = User.objects.get(username="mira")
    assert not mira.has_usable_password()
    assert not mira.is_staff
    assert role_of("mira", collection) == "viewer"
    entry = AuditEntry.objects.get(action="sign_in")
    assert (entry.kind, entry.thing) == ("OIDC", "mira")


def test_groups_are_taken_over_anew_at_each_sign_in(team: Provider, collection: Collection) -> None:
    other = Collection.objects.create(name="Other", slug="other")
    sign_in(team, "mira", ["/students", "/staff"])
    assert role_of("mira", collection) == "editor"
    other.memberships.create(user=User.objects.get(username="mira"), role="owner")
    sign_in(team, "mira", ["students"])
    assert role_of("mira", collection) == "viewer"
    sign_in(team, "mira", [])
    assert role_of("mira", collection) is None
    assert role_of("mira", other) == "owner"  # OIDC_GROUPS says nothing of it
    assert User.objects.count() == 1


def test_a_name_that_is_taken_here_is_not_taken_over(team: Provider, db: None) -> None:
    ada = make_user("ada", is_superuser=True)
    browser, _ = sign_in(team, "ada", [])
    newcomer = User.objects.exclude(pk=ada.pk).get()
    assert newcomer.username != "ada"
    assert browser.session["_auth_user_id"] == str(newcomer.pk)
    assert not newcomer.is_superuser


def test_a_switched_off_account_stays_outside(team: Provider, db: None) -> None:
    sign_in(team, "mira", [])
    User.objects.update(is_active=False)
    browser, answer = sign_in(team, "mira", [])
    assert answer.status_code == 403
    assert "deactivated" in answer.content.decode()
    assert browser.get("/library/").status_code == 302


@pytest.mark.parametrize("query", ["", "?error=access_denied", "?code=x&state=y", "?state=\0"])
def test_a_callback_that_nobody_asked_for_signs_nobody_in(query: str, db: None) -> None:
    browser = Client()
    assert browser.get(f"/sign-in/team/done/{query}").status_code in (302, 403, 422)
    assert "_auth_user_id" not in browser.session


@pytest.mark.parametrize("to", ["https://[::1", "https://evil.example/", "//evil.example/"])
def test_a_sign_in_leads_to_pages_of_this_site_only(team: Provider, db: None, to: str) -> None:
    _, answer = sign_in(team, "mira", [], to=to)
    assert answer["Location"] == "/library/"


def test_a_code_of_another_browser_signs_nobody_in(team: Provider, db: None) -> None:
    start = Client().get("/sign-in/team/")
    back = urlsplit(team.approve(start["Location"], "mira", []))
    victim = Client()
    assert victim.get(f"{back.path}?{back.query}").status_code == 403
    assert not User.objects.exists()
    assert AuditEntry.objects.get().action == "refuse"


def test_many_callbacks_from_one_address_are_stopped(db: None) -> None:
    statuses = [Client().get("/sign-in/team/done/?code=x&state=y").status_code for _ in range(31)]
    assert statuses == [403] * 30 + [429]


def test_a_provider_that_does_not_answer_is_named(settings: Any, db: None) -> None:
    apps = settings.SOCIALACCOUNT_PROVIDERS["openid_connect"]["APPS"]
    apps[0]["settings"]["server_url"] = "http://127.0.0.1:1"
    answer = Client().get("/sign-in/team/")
    assert answer.status_code == 503
    assert "The sign-in of your organisation does not answer." in answer.content.decode()


def test_without_a_provider_there_is_none_to_sign_in_at(settings: Any, db: None) -> None:
    settings.OIDC_ISSUER = ""
    assert Client().get("/sign-in/team/").status_code == 404
    assert "organisation" not in Client().get("/sign-in/").content.decode()


# What the doctor says


def test_a_provider_that_fits_the_settings_is_fine(team: Provider, collection: Collection) -> None:
    redirect = "https://cuebase.example.org/sign-in/team/done/"
    assert provider.check() == (True, f"{team.issuer}, with the redirect address {redirect}", "")


def test_without_a_provider_nothing_is_asked(settings: Any) -> None:
    settings.OIDC_ISSUER = settings.OIDC_CLIENT_ID = ""
    assert provider.check() == (True, "no provider: local accounts only", "")


@pytest.mark.parametrize("name", ["OIDC_CLIENT_ID", "OIDC_CLIENT_SECRET"])
def test_what_the_provider_must_know_is_named(settings: Any, name: str) -> None:
    setattr(settings, name, "")
    ok, detail, hint = provider.check()
    assert (ok, detail) == (False, f"{name} is not set")
    assert "Register Cuebase" in hint


def test_an_address_without_a_description_is_not_the_issuer(team: Provider, settings: Any) -> None:
    for wrong in (f"{team.issuer}/realms/academy", f"{team.issuer}/.well-known/jwks.json"):
        settings.OIDC_ISSUER = wrong
        ok, detail, hint = provider.check()
        assert ok is False
        assert detail.startswith(f"{wrong} does not describe itself: no authorization_endpoint")
        assert "OIDC_ISSUER is the address before" in hint


def test_an_issuer_by_another_name_is_told_its_own(team: Provider, settings: Any) -> None:
    settings.OIDC_ISSUER = f"{team.issuer}/"
    assert provider.check()[0] is not True


def test_groups_of_collections_that_do_not_exist_are_named(
    settings: Any, collection: Collection
) -> None:
    settings.OIDC_GROUPS = [*settings.OIDC_GROUPS, "choir=songs:viewer"]
    ok, detail, _ = provider.check()
    assert ok is None
    assert detail.endswith("do not exist: songs")


def test_the_doctor_says_that_an_issuer_does_not_answer(settings: Any) -> None:
    settings.OIDC_ISSUER = "http://127.0.0.1:1"
    check = doctor._run("OIDC", doctor._oidc)
    assert (check.ok, check.detail) == (False, "the issuer does not answer: ConnectionError")
    assert "Check OIDC_ISSUER" in check.hint

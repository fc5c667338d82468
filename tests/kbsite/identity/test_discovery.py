"""`kb doctor` checks the OIDC provider: a real one, on loopback."""

from collections.abc import Iterator
from typing import Any

import pytest

from kbsite.cli import doctor
from kbsite.identity import provider
from tests.kbsite.identity import oidc_standin
from tests.kbsite.identity.oidc_standin import Provider
from transcripts.models import Collection

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def team() -> Iterator[Provider]:
    with oidc_standin.running("http://testserver/sign-in/team/done/") as running:
        yield running


@pytest.fixture(autouse=True)
def _configured(team: Provider, settings: Any, collection: Collection) -> None:
    settings.OIDC_ISSUER = team.issuer
    settings.OIDC_CLIENT_ID = oidc_standin.CLIENT["id"]
    settings.OIDC_CLIENT_SECRET = oidc_standin.CLIENT["secret"]
    settings.OIDC_GROUPS = [f"students={collection.slug}:viewer"]
    settings.PUBLIC_URL = "https://cuebase.example.org/"


def test_a_provider_that_fits_the_settings_is_fine(team: Provider) -> None:
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


def test_groups_of_collections_that_do_not_exist_are_named(settings: Any) -> None:
    settings.OIDC_GROUPS = [*settings.OIDC_GROUPS, "choir=songs:viewer"]
    ok, detail, _ = provider.check()
    assert ok is None
    assert detail.endswith("do not exist: songs")


def test_the_doctor_says_that_an_issuer_does_not_answer(settings: Any) -> None:
    settings.OIDC_ISSUER = "http://127.0.0.1:1"
    check = doctor._run("OIDC", doctor._oidc)
    assert (check.ok, check.detail) == (False, "the issuer does not answer: ConnectionError")
    assert "Check OIDC_ISSUER" in check.hint

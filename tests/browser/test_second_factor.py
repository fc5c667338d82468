"""A second factor is added, used and removed on a phone, in German and in the dark."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.accessibility import check_accessibility
from tests.browser.conftest import Visits
from tests.browser.site import Site
from tests.kbsite.identity.test_second_factor import PASSWORD, code_of

pytestmark = pytest.mark.browser
REMOVE = """
from allauth.mfa.models import Authenticator
Authenticator.objects.all().delete()
"""


@pytest.fixture(autouse=True)
def _removed(site: Site) -> Iterator[None]:
    yield
    site.python(REMOVE)


def check(page: Page, heading: str) -> None:
    expect(page.locator("h1")).to_have_text(heading)
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    check_accessibility(page)


def sign_in(page: Page) -> None:
    page.get_by_label("Passwort").fill(PASSWORD)
    page.locator("main button.button-primary").click()


def test_a_second_factor_is_added_used_and_removed(visit: Visits) -> None:
    phone = visit("vera", viewport={"width": 360, "height": 740}, locale="de-DE")
    page = phone.go("/second-factor/add/")
    sign_in(page)
    check(page, "Authenticator-App hinzufügen")
    page.get_by_label("Code").fill("000000")
    page.get_by_role("button", name="Hinzufügen").click()
    expect(page.get_by_role("alert")).to_have_text("Falscher Code.")
    secret = page.locator("#secret-text").inner_text()
    page.get_by_label("Code").fill(code_of(secret))
    page.get_by_role("button", name="Hinzufügen").click()
    check(page, "Wiederher\u00adstellungs\u00adcodes")
    phone.go("/second-factor/codes/renew/")
    check(page, "Neue Wiederher\u00adstellungs\u00adcodes erstellen?")
    phone.go("/second-factor/")
    check(page, "Zweiter Faktor")

    other = visit("", viewport={"width": 360, "height": 740}, locale="de-DE")
    other.go("/sign-in/").get_by_label("Name").fill("vera")
    sign_in(other.page)
    check(other.page, "Noch ein Schritt")
    other.page.get_by_label("Code").fill(code_of(secret, steps=1))
    other.page.get_by_role("button", name="Anmelden").click()
    expect(other.page.locator("h1")).to_have_text("Bibliothek")

    phone.go("/second-factor/remove/")
    check(page, "Authenticator-App entfernen?")
    page.get_by_role("button", name="Entfernen").click()
    expect(page.get_by_role("link", name="App hinzufügen")).to_be_visible()
    assert (phone.console, other.console) == ([], [])

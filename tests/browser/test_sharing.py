"""A bookmark and a phone's share sheet open the page that adds, filled in."""

from collections.abc import Iterator
from urllib.parse import unquote

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visits
from tests.browser.site import Site
from tests.browser.watch_standin import WatchStandIn

pytestmark = pytest.mark.browser
Open = Visits
REMOVE = """
from transcripts.models import Job, Video
Job.objects.filter(target="sharedvideo").delete()
Video.objects.filter(youtube_id="sharedvideo").delete()
"""


@pytest.fixture
def _removed(site: Site) -> Iterator[None]:
    yield
    site.python(REMOVE)


def test_the_bookmark_opens_the_form_from_the_page_of_a_video(visit: Open) -> None:
    ada = visit()
    bookmark = ada.go("/tokens/").get_by_role("link", name="Add to Cuebase")
    address = str(bookmark.get_attribute("href"))
    with WatchStandIn() as watch:
        ada.page.goto(f"{watch.url}/watch?v=sharedvideo")
        with ada.context.expect_page() as opened:
            ada.page.evaluate(unquote(address.removeprefix("javascript:")))
        form = opened.value
        expect(form.get_by_label("Addresses")).to_have_value(f"{watch.url}/watch?v=sharedvideo")
        form.get_by_role("button", name="Add", exact=True).click()
        expect(form.locator("#added")).to_contain_text("not added")


@pytest.mark.usefixtures("_removed")
@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without"])
def test_a_phone_shares_to_the_form_through_the_sign_in(visit: Open, scripts: bool) -> None:
    phone = visit("", viewport={"width": 360, "height": 740}, java_script_enabled=scripts)
    page = phone.go("/add/?title=A+talk&text=https%3A%2F%2Fyoutu.be%2Fsharedvideo")
    page.get_by_label("Name").fill("ada")
    page.get_by_label("Password").fill("correct horse battery")
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.get_by_label("Addresses")).to_have_value("https://youtu.be/sharedvideo")
    expect(page.get_by_text("A talk")).to_be_visible()
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.get_by_text("sharedvideo").first).to_be_visible()
    assert phone.console == []


def test_the_browser_finds_nothing_wrong_with_the_manifest(visit: Open, site: Site) -> None:
    ada = visit()
    ada.go("/library/")
    tools = ada.context.new_cdp_session(ada.page)
    read = tools.send("Page.getAppManifest")
    assert read["url"] == f"{site.url}/manifest.webmanifest"
    assert read["errors"] == []
    assert '"action": "/add/"' in read["data"]
    refusals = tools.send("Page.getInstallabilityErrors")["installabilityErrors"]
    assert [refusal["errorId"] for refusal in refusals] in ([], ["in-incognito"])

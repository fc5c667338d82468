"""Documents in a real browser: dropped onto the page, uploaded with progress, read, found."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visits
from tests.browser.site import Site

pytestmark = pytest.mark.browser

DROP = """() => {
    const transfer = new DataTransfer()
    const table = "| Points | Rooms | Temperature | Observations | Descriptions |\\n" +
        "|---|---|---|---|---|\\n| 1 | 2 | 3 | 4 | 5 |\\n"
    const text = "# Walruses\\n\\nThey rest on the ice.\\n\\n" + table
    transfer.items.add(new File([text], "walruses.md"))
    transfer.items.add(new File(["PK\\x03\\x04"], "slides.pptx"))
    document.querySelector("h1").dispatchEvent(
        new DragEvent("drop", {dataTransfer: transfer, bubbles: true, cancelable: true}))
}"""


def test_enter_in_the_box_of_the_words_goes_from_match_to_match_over_the_pages(
    visit: Visits, site: Site
) -> None:
    visited = visit()
    page = visited.go(f"/sources/{site.seeded['book']}/pages/2/")
    box = page.get_by_label("Search in this document")
    box.fill("network")
    count = page.locator(".found .count")
    for key, number, path in (
        ("Enter", 2, "pages/3/"),  # the next page that has the word
        ("Shift+Enter", 1, "pages/1/"),
        ("Enter", 2, "pages/3/"),
        ("Enter", 2, "pages/3/"),  # the last one
    ):
        box.press(key)
        expect(count).to_contain_text(f"{number} of 2")
        expect(page).to_have_url(re.compile(path))
        expect(box).to_be_focused()
    expect(page.locator(".sheet-quote")).to_be_in_viewport()
    box.press("Escape")  # ends the search
    expect(count).to_have_count(0)
    expect(page).to_have_url(re.compile(r"pages/3/$"))
    expect(box).to_be_focused()
    page.goto(page.url.partition("/sources/")[0] + "/search/?q=weight+gradient&mode=words")
    page.locator(".passage-open[data-page-link]").first.click()
    dialog = page.get_by_role("dialog")
    box = dialog.get_by_label("Search in this document")
    box.fill("network")
    for key, number in (("Enter", 2), ("Shift+Enter", 1)):
        box.press(key)
        expect(count).to_contain_text(f"{number} of 2")
        expect(box).to_be_focused()
    assert not visited.console


def test_documents_dropped_onto_a_page_are_read_and_shown(visit: Visits) -> None:
    page = visit(viewport={"width": 360, "height": 800}).go("/library/")
    page.evaluate(DROP)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    added = page.locator("#added")
    expect(added.get_by_role("alert")).to_contain_text("could not be read: slides.pptx")
    expect(added.locator(".state-partial")).to_contain_text("1 of 2 files read")
    expect(added.locator(".problems").first).to_contain_text("no PPTX")
    expect(added.locator(".job-sources")).to_contain_text("is ready", timeout=60_000)
    added.get_by_role("link", name="walruses.md").click()
    expect(page.locator(".prose h2")).to_have_text("Walruses")
    expect(page.locator(".prose p")).to_have_text("They rest on the ice.")
    table = page.locator(".prose table")
    heights = table.locator("th").evaluate_all("all => all.map(one => one.clientHeight)")
    assert max(heights) < 50, "no heading breaks within a word"
    assert table.evaluate("table => table.scrollWidth > table.clientWidth"), "it is scrolled"
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
